# A folder without one of its chunk files: refused, or the range that is lost is filled.
cippus convert "$SAMPLES/cube.b2nd" x.b2nd --sparse
cippus cat x.b2nd --to npy >whole.npy
rm x.b2nd/00000001.chunk
find x.b2nd -type f | sort | xargs md5sum >was
cippus repair x.b2nd y.b2nd || test $? = 3
test ! -e y.b2nd
cippus repair x.b2nd y.b2nd --fill 7 || test $? = 1
find x.b2nd -type f | sort | xargs md5sum | cmp - was # the input is as it was
cippus verify --deep y.b2nd
cippus cat y.b2nd '[:4, :16, 16:]' | tr -d '7, []\n' | wc -c
for window in '[:, :, :16]' '[:, 16:, :]' '[4:]'; do
    cippus cat whole.npy "$window" --to npy >a
    cippus cat y.b2nd "$window" --to npy | cmp - a
done
cippus tree y.b2nd vlmeta
cippus repair x.b2nd y.b2nd --fill 7 2>&1 | tail -n 1
cippus repair x.b2nd y.b2nd --fill 8 --overwrite --json | tail -n 1
cippus cat y.b2nd '[0, 0, 16]'
cippus repair x.b2nd z.b2nd --fill 1.5 2>&1 | tail -n 1
cippus repair x.b2nd z.npy --fill 1 2>&1 | tail -n 1 # the tree is no part of npy
test ! -e z.npy
