# metalayers of Blosc2 frames: values and parts of them come, change, move and go; what describes the data does not
exec 2>&1
try() {
    status=0
    cippus "$@" || status=$?
    [ $status = 0 ] || echo "status $status"
}
python3 -c 'import struct; open("x.raw", "wb").write(struct.pack("<60h", *range(60)))'
cippus convert x.raw --dtype int16 --shape 10,6 x.b2nd --codec blosclz --chunks 4,4 --blocks 2,2
cippus cat x.b2nd >want
cippus set x.b2nd vlmeta/unit K --dry-run
cippus set x.b2nd vlmeta/unit K
cippus set x.b2nd vlmeta/unit '10 K'
cippus set x.b2nd vlmeta/info/author me
cippus set x.b2nd vlmeta/info/scale '[1, 2.5]'
cippus set x.b2nd vlmeta/info/scale/- '!complex [1.0, -1.0]'
cippus set x.b2nd meta/version 1
cippus set x.b2nd meta/version 2 --dry-run
cippus set x.b2nd meta/version 2
cippus tree x.b2nd
cippus mv x.b2nd vlmeta/info/author vlmeta/author
cippus mv x.b2nd meta/version vlmeta/version
cippus mv x.b2nd vlmeta/unit meta/unit
cippus rm x.b2nd vlmeta/info/scale/0
cippus tree x.b2nd
cippus verify --deep x.b2nd
cippus cat x.b2nd | cmp want -
echo '--- a folder'
cippus convert x.b2nd s.b2nd --sparse
cippus set s.b2nd vlmeta/info/author you
cippus set s.b2nd meta/unit mm
cippus mv s.b2nd vlmeta/author vlmeta/by
cippus rm s.b2nd vlmeta/version
cippus tree s.b2nd
ls s.b2nd
cippus verify --deep s.b2nd
cippus cat s.b2nd | cmp want -
cippus rm s.b2nd vlmeta
cippus tree s.b2nd vlmeta || true
echo '--- refused'
cp x.b2nd was.b2nd
try set x.b2nd unit K
try set x.b2nd vlmeta '{}'
try set x.b2nd meta/b2nd/shape '[1, 2]'
try rm x.b2nd meta/b2nd
try rm x.b2nd meta
try mv x.b2nd meta/unit meta/b2o
try set x.b2nd vlmeta/12345678901234567890123456789012 1
try set x.b2nd vlmeta/day 2020-01-01
try set x.b2nd vlmeta/author/x 1
try mv x.b2nd vlmeta/info vlmeta/author
try rm x.b2nd vlmeta/none
cmp x.b2nd was.b2nd
cippus cat --stored --chunk 0 x.b2nd >c.b2chunk
try set c.b2chunk vlmeta/unit K
echo '--- more than python-blosc2 can change'
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do
    cippus set x.b2nd vlmeta/n$i $i 2>&1
done | grep python-blosc2
