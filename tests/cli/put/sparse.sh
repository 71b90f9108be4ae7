# sparse frames of Blosc2: new chunk files have numbers that nothing has, those that nothing names any more go, what else lies there stays
exec 2>&1
python3 -c 'import struct; open("x.raw", "wb").write(struct.pack("<60h", *range(60)))'
python3 -c 'import struct; open("two.raw", "wb").write(struct.pack("<12h", *range(-12, 0)))'
try() {
    status=0
    cippus "$@" || status=$?
    [ $status = 0 ] || echo "status $status"
}
cippus convert x.raw --dtype int16 --shape 10,6 x.b2nd --codec blosclz --chunks 4,6 --blocks 2,2 --sparse
echo mine >x.b2nd/notes.txt
echo mine >x.b2nd/00000004.chunk
ls x.b2nd
cippus put x.b2nd . '[5]' -7
ls x.b2nd
cippus append x.b2nd two.raw
cippus put --insert x.b2nd . '[1]' two.raw
cippus cat x.b2nd '[:4]'
cippus verify --deep x.b2nd
ls x.b2nd
cippus rm x.b2nd . '[2:12]'
cippus resize x.b2nd 5,7
cippus cat x.b2nd
cippus put x.b2nd . '[:]' 0
ls x.b2nd
cippus resize x.b2nd 0,7
cippus verify x.b2nd
cippus resize x.b2nd 2,2
cippus put x.b2nd . '[1]' 5
cippus cat x.b2nd
cippus verify --deep x.b2nd
ls x.b2nd
cat x.b2nd/00000004.chunk
echo '--- refused'
try put x.b2nd/chunks.b2frame . '[0]' 1
cippus convert x.raw --dtype int16 --shape 10,6 y.b2nd --chunks 4,6 --sparse
mv y.b2nd/00000001.chunk y.b2nd/second
ln -s second y.b2nd/00000001.chunk
try put y.b2nd . '[0]' 1
ls y.b2nd
cippus cat y.b2nd '[0]'
printf more >>x.b2nd/chunks.b2frame
try put x.b2nd . '[0]' 1
