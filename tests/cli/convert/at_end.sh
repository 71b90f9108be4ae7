# Frames behind what another file has, and read where they begin.
printf 'somebody else' >box
cp "$SAMPLES/cube.b2nd" x.b2nd
cippus convert x.b2nd box --format blosc2 --at-end
cippus convert x.b2nd box --format blosc2 --at-end --codec none --json | sed 's/[0-9][0-9]*/N/'
head -c 13 box
echo
cippus ls box --offset 13
cippus cat x.b2nd --to npy >a
cippus cat box --offset 13 --to npy | cmp - a
cippus tree box vlmeta --offset 13
cippus convert box x.npy --offset 13 --accept-loss 2>/dev/null
cmp x.npy a
cippus ls box --offset 14 || test $? = 3
cippus ls box --offset 1M || test $? = 3
cippus cat --from raw --dtype uint8 --shape '*' box --offset 13 || test $? = 2
cippus set box a 1 --offset 13 || test $? = 2
md5sum <box >was
cippus convert x.b2nd none --format blosc2 --at-end || test $? = 3
cippus convert x.b2nd box --format blosc2 --at-end --sparse || test $? = 3
cippus convert x.b2nd box --format blosc2 --at-end --overwrite || test $? = 2
cippus convert x.b2nd - --format blosc2 --at-end || test $? = 2
md5sum <box | cmp - was
