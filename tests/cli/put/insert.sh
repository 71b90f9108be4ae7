# rows into the midst: raw bytes, an array, a number; of raw bytes, a block, chunks, files, superchunks, records
exec 2>&1
python3 -c 'import struct; open("x.raw", "wb").write(struct.pack("<60h", *range(60)))'
python3 -c 'import struct; open("two.raw", "wb").write(struct.pack("<12h", *range(-12, 0)))'
python3 -c 'import struct; open("column.raw", "wb").write(struct.pack("<12h", *range(100, 112)))'
try() {
    status=0
    cippus "$@" || status=$?
    [ $status = 0 ] || echo "status $status"
}
while read -r x p options; do
    cippus convert x.raw --dtype int16 --shape 10,6 $x $options
    echo "--- $x $options"
    cippus put --insert $x $p '[3]' two.raw
    try put --insert $x $p '[:, -1]' column.raw
    cippus cat $x $p
    cippus put --insert $x $p '[12:]' two.raw --dtype int16 --shape 2,6 || :
    cippus rm $x $p '[1:3]'
    cippus ls $x
    cippus verify --deep $x
done <<'END'
x.asdf data
z.asdf data --codec zlib
i.asdf data --inline
x.ra .
x.npy .
x.blp . --option chunk_size=36
x.blz . --option chunklen=3 --option superchunk=2
x.bcolz . --option chunklen=3
END
echo "--- records"
cp -r "$SAMPLES/prices.bcolz" t
cp -r t more
cippus rm more . '[3:]'
cippus put --insert t . '[20]' more
cippus cat t . '[18:25]'
cippus ls t
cippus verify --deep t
echo "--- refused"
cp "$SAMPLES/night.asdf" y.asdf
cp y.asdf was.asdf
try put --insert y.asdf counts two.raw
try put --insert --new y.asdf new '[1]' two.raw
try put --insert y.asdf counts '[1:5]' two.raw
try put --insert y.asdf counts '[64]' two.raw
try put --insert y.asdf counts '[1]' two.raw
try put --insert y.asdf counts '[1, 1]' two.raw
try put --insert y.asdf counts '[1]' 5
try put --insert t close '[1]' 5
cmp y.asdf was.asdf
python3 -c 'import struct; open("row.raw", "wb").write(struct.pack("<96h", *range(96)))'
cippus put --insert y.asdf counts '[1]' row.raw --dry-run
cippus put --insert y.asdf counts '[1]' row.raw --history 'a row was lost'
cippus tree y.asdf history | grep lost
cippus cat y.asdf counts '[1, :5]'
cippus verify --deep y.asdf
