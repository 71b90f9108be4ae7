# to folders of BLZ in its three forms and back: codecs, rows of a chunk, columns, superchunks, what is refused
exec 2>&1
python3 -c "import struct,sys; sys.stdout.buffer.write(struct.pack('<3000i', *range(3000)))" | cippus convert - a.npy --from raw --dtype int32 --shape 1000,3
for kind in bcolz blz-dir; do
    cippus convert a.npy "$kind.out" --format "$kind" && cippus info "$kind.out" | tail -n 5 && cat "$kind.out/meta/storage" && find "$kind.out" | sort
    cippus verify --deep "$kind.out" && cippus convert "$kind.out" b.npy --overwrite && cmp a.npy b.npy
done
cippus convert a.npy c.bcolz --codec zstd:9 --option chunklen=300 --option filter=bitshuffle && cat c.bcolz/meta/storage && ls c.bcolz/data && cippus verify --deep c.bcolz
set +e
cippus convert a.npy x.out --format blz-dir --codec zstd; cippus convert a.npy x.bcolz --option chunklen=0; cippus convert a.npy x.bcolz --checksum crc32
cippus convert a.npy - --format bcolz
cippus convert a.npy c.bcolz
cp "$SAMPLES/roman.asdf" . && cippus convert roman.asdf x.bcolz --path roman/data && cat x.bcolz/__attrs__
ls
# chunks of Blosc1 move as they are stored, into folders of bcolz
cippus convert a.npy a.blp --codec zlib --option chunk_size=1200 && cippus convert a.blp m.bcolz && cat m.bcolz/meta/storage && ls m.bcolz/data | wc -l
cippus cat --stored --chunk 2 a.blp >1; cippus cat --stored --chunk 2 m.bcolz >2; cmp 1 2 && cippus verify --deep m.bcolz
# superchunks: digests, spare space, shards; records and several inputs as columns
cippus convert a.npy s.blz --checksum sha256 --option chunklen=70 --option superchunk=4 --option spare=20 --option metadata=yes && cippus verify --deep s.blz
cat s.blz/meta/storage && find s.blz -type f | sort && cippus info --chunks s.blz | head -n 4 && head -c 83 s.blz/data/__1__.bin | tail -c 51 && echo
cippus convert s.blz b.npy --overwrite && cmp a.npy b.npy
cippus convert a.npy d.blz --option shards=disk1,disk2/x --option superchunk=1 --option chunklen=300 && cat d.blz/meta/shards && find d.blz -name '*.bin' | sort && cippus verify d.blz
cippus convert a.npy s.blz t.bcolz && cippus ls t.bcolz && cippus convert t.bcolz r.npy && cippus convert r.npy r.blz && cippus ls r.blz && find r.blz -type f | sort
cippus convert r.npy u.out --format blz-dir --option table=yes && cat u.out/__rootdirs__ && cippus convert u.out q.npy && cmp r.npy q.npy && cippus convert t.bcolz w.blz && cippus cat w.blz s '[999]'
cippus convert a.npy x.blz --option table=yes; cippus convert a.npy x.blz --option shards=meta; cippus convert a.npy y.bcolz --option spare=4; cippus convert a.npy r.npy r.npy x.blz
cippus convert a.npy x.blz --checksum crc64; cippus convert a.npy b.npy y.bcolz --name a --name _b; ls
