# BLZ: shards in which no chunk lies yet have no data/ and are no fault
exec 2>&1
python3 -c 'import struct; open("x.raw", "wb").write(struct.pack("<14q", *range(14)))'
cippus convert x.raw --dtype int64 --shape 14 x.blz --option chunklen=7 --option superchunk=1 --option shards=a,b,c
find x.blz -name '*.bin' | sort
mkdir x.blz/c other named
cippus cat x.blz
echo '["a", "b", "../other"]' >x.blz/meta/shards
cippus cat x.blz --allow-external
cippus cat x.blz --allow-external --shards named
cippus cat x.blz --allow-external --shards nowhere || echo "status $?"
mkdir other/data
mv x.blz/b/data/__2__.bin other/data
cippus verify x.blz --allow-external
cippus cat x.blz --allow-external
