# new Zarr stores: the tree as groups and attributes, shards, codecs, what is refused
all() {
cippus convert "$SAMPLES/roman.asdf" r.zarr
find r.zarr -type f | sort
cippus tree r.zarr roman/meta
cippus diff "$SAMPLES/roman.asdf" r.zarr && echo same
cippus convert "$SAMPLES/cube.b2nd" c.zarr --codec gzip --option chunks=2,8,16 --option shards=4,24,32
cippus ls c.zarr
cippus verify --deep c.zarr
cippus diff "$SAMPLES/cube.b2nd" c.zarr && echo same
cippus convert c.zarr d.zarr --codec lz4:9 --option shuffle=bit && cippus ls d.zarr
cippus convert r.zarr back.asdf && cippus diff r.zarr back.asdf && echo same
for bad in "--codec snappy" "--codec bzp2" "--codec lz4:10" "--option chunks=2,2" "--option shards=3,3,3 --option chunks=2,2,2" "--option shuffle=maybe --codec lz4" "--option chunks=1,1,1 --option shards=200,200,200"; do
    cippus convert "$SAMPLES/cube.b2nd" e.zarr $bad || echo "exit $?"
done
[ ! -e e.zarr ] && echo nothing
cippus convert "$SAMPLES/cube.b2nd" - --format zarr || echo "exit $?"
}
all 2>&1 | sed "s,$SAMPLES/,,"
