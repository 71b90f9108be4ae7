# frames of Blosc2 change in place: elements, rows at the end and in the midst, shapes; by a switch, the old header's bytes stay
exec 2>&1
python3 -c 'import struct; open("x.raw", "wb").write(struct.pack("<60h", *range(60)))'
python3 -c 'import struct; open("two.raw", "wb").write(struct.pack("<12h", *range(-12, 0)))'
python3 -c 'import struct; open("row.raw", "wb").write(struct.pack("<6h", *range(100, 106)))'
try() {
    status=0
    cippus "$@" || status=$?
    [ $status = 0 ] || echo "status $status"
}
cippus convert x.raw --dtype int16 --shape 10,6 x.b2nd --codec blosclz --chunks 4,4 --blocks 2,2
cp x.b2nd was.b2nd
cippus put x.b2nd . '[3:5, 1:3]' -7 --dry-run
cmp x.b2nd was.b2nd
cippus put x.b2nd . '[3:5, 1:3]' -7
cippus append x.b2nd two.raw
cippus put --insert x.b2nd . '[1]' row.raw
cippus rm x.b2nd . '[6:9]'
cippus cat x.b2nd
cippus verify --deep x.b2nd
cippus resize x.b2nd 11,9
cippus resize x.b2nd 5,5
cippus resize x.b2nd 7,7
cippus cat x.b2nd '[3:]'
cippus put x.b2nd . '[:]' 0
cippus info x.b2nd | sed 1d
cippus verify --deep x.b2nd
echo '--- nothing, and more again'
cippus resize x.b2nd 0,3 --dry-run
cippus resize x.b2nd 0,3
cippus verify x.b2nd
cippus put x.b2nd . '[0:0]' 1
cippus resize x.b2nd 2,3
cippus put x.b2nd . '[1]' 5 --option filter=bitshuffle
cippus cat x.b2nd
cippus verify --deep x.b2nd
echo '--- a list of items'
printf 'a list of bytes' | cippus convert - l.b2frame --from raw --dtype uint8 --shape 15 --codec blosclz --chunks 4
printf 'long ' | cippus put --insert l.b2frame . '[2]' - --from raw
printf ', and more' | cippus append l.b2frame - --from raw
cippus rm l.b2frame . '[7:9]'
cippus cat l.b2frame --to raw && echo
cippus resize l.b2frame 6
cippus cat l.b2frame --to raw && echo
cippus verify --deep l.b2frame
echo '--- refused'
cp x.b2nd was.b2nd
try put x.b2nd . '[0]' 1 --option chunks=2,2
try put x.b2nd . '[0]' 1 --option sparse=yes
try put x.b2nd . '[5]' 1
try resize x.b2nd 3
cmp x.b2nd was.b2nd
printf 'foreign' >>x.b2nd
try put x.b2nd . '[0]' 1
cippus cat --stored --chunk 0 was.b2nd >c.b2chunk
try put c.b2chunk . '[0]' 1
