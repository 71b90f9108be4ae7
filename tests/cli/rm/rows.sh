# rows out of the midst: of an array in raw bytes, a block, chunks, files, superchunks; an axis, all of it, nothing
exec 2>&1
python3 -c 'import struct; open("x.raw", "wb").write(struct.pack("<60h", *range(60)))'
try() {
    status=0
    cippus "$@" || status=$?
    [ $status = 0 ] || echo "status $status"
}
while read -r x p options; do
    cippus convert x.raw --dtype int16 --shape 10,6 $x $options
    echo "--- $x $options"
    cippus rm $x $p '[2:8]'
    cippus cat $x $p
    cippus rm $x $p '[-1]'
    cippus rm $x $p '[1:1]'
    try rm $x $p '[:, 1:4]'
    cippus cat $x $p
    cippus rm $x $p '[:100]'
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
cippus ls t
cippus rm t '[2:4]'
cippus cat t . '[:4]'
cippus ls t
cippus verify --deep t
try rm t day '[2:4]'
try rm t . '[::2]'
echo "--- refused"
cp "$SAMPLES/night.asdf" y.asdf
cp y.asdf was.asdf
try rm y.asdf counts '[1, 2]'
try rm y.asdf counts '[...]'
try rm y.asdf counts '[:, :]'
try rm y.asdf counts '[None, 2:3]'
try rm y.asdf counts '[::-1]'
try rm y.asdf counts '[1000]'
try rm y.asdf counts '[:, :, 3:4]'
try rm y.asdf instrument '[1:2]'
try rm y.asdf instrument --md5 none
cippus rm y.asdf counts '[..., 5:90]' --dry-run
cmp y.asdf was.asdf
cippus rm y.asdf counts '[..., 5:90]' --history 'columns 5 to 90 were dark'
cippus tree y.asdf history | grep dark
cippus verify --deep y.asdf
