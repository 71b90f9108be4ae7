cp "$SAMPLES/night.asdf" x.asdf
echo nonsense >.x.asdf.cip-journal
cippus cat x.asdf image '[0,0]' || test $? = 3
cippus set x.asdf a 1 || test $? = 3
cippus recover x.asdf || test $? = 1
cippus recover x.asdf --apply || test $? = 3
cippus recover x.asdf --discard
cippus recover x.asdf
cippus cat x.asdf image '[0,0]'
