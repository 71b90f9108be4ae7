# `ls` shows the array of a file that has but one as ".", and that is taken wherever a path is.
cippus ls "$SAMPLES/cube.b2nd"
cippus cat "$SAMPLES/cube.b2nd" . '[0, 0, :3]'
cippus cat "$SAMPLES/night.asdf" . 2>&1 | sed "s,$SAMPLES/,,"
cp "$SAMPLES/complex.ra" x.ra
cippus cat x.ra '[3, 2]' --to npy >one.npy
cippus put x.ra . '[0, 0]' one.npy
cippus cat x.ra . '[0, 0]'
cippus cat x.ra '[3, 2]'
