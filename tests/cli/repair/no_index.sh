# A frame cut off behind its index, and before it.
cippus convert "$SAMPLES/cube.b2nd" x.b2nd --codec none
n=$(stat -c %s x.b2nd)
head -c $((n - 9)) x.b2nd >cut.b2nd
cippus cat cut.b2nd 2>&1 | head -n 1 | sed 's/[0-9][0-9]*/N/g'
cippus repair cut.b2nd y.b2nd || test $? = 1
cippus cat x.b2nd --to npy >a
cippus cat y.b2nd --to npy | cmp - a
cippus tree y.b2nd
head -c $((n / 2)) x.b2nd >cut.b2nd
cippus repair cut.b2nd z.b2nd 2>&1 || test $? = 3
cippus repair cut.b2nd z.b2nd --in-order >report 2>&1 || test $? = 3
tail -n 1 report
cippus repair cut.b2nd z.b2nd --in-order --fill -1 >report || test $? = 1
sed 's/ bytes, found it at [0-9]*//' report
cippus cat x.b2nd '[:4, :16, :16]' --to npy >a
cippus cat z.b2nd '[:4, :16, :16]' --to npy | cmp - a
cippus cat z.b2nd '[5, 23, 29]'
cippus verify --deep z.b2nd
