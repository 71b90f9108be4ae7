# A sound file is copied, and never over itself.
cp "$SAMPLES/cube.b2nd" x.b2nd
cippus repair x.b2nd y.b2nd
cippus repair x.b2nd z.b2nd --json
cippus cat x.b2nd --to npy >a
cippus cat y.b2nd --to npy | cmp - a
ln x.b2nd same.b2nd
cippus repair x.b2nd same.b2nd --overwrite || test $? = 2
cippus repair x.b2nd - || test $? = 2
cippus repair x.b2nd y.b2nd --fill abc --overwrite || test $? = 2
cippus repair none.b2nd y.b2nd || test $? = 3
cmp x.b2nd "$SAMPLES/cube.b2nd"
