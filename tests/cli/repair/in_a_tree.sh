# An array of a tree that does not match its checksum: no file is made that says it were there.
cp "$SAMPLES/roman.asdf" x.asdf
printf "\377" | dd of=x.asdf bs=1 seek=20000 conv=notrunc status=none
cippus repair x.asdf y.asdf || test $? = 3
cippus repair x.asdf y.asdf --fill 0 2>&1 | tail -n 1
test ! -e y.asdf
cp "$SAMPLES/roman.asdf" x.asdf
cippus repair x.asdf y.asdf
cippus cat y.asdf roman/dq --to npy >a
cippus cat "$SAMPLES/roman.asdf" roman/dq --to npy | cmp - a
