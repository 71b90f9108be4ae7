# to folders of the programs BLZ and bcolz and back: kinds, codecs, rows of a chunk, what is refused
exec 2>&1
python3 -c "import struct,sys; sys.stdout.buffer.write(struct.pack('<3000i', *range(3000)))" | cippus convert - a.npy --from raw --dtype int32 --shape 1000,3
for kind in bcolz blz-dir; do
    cippus convert a.npy "$kind.out" --format "$kind" && cippus info "$kind.out" | tail -n 4 && cat "$kind.out/meta/storage" && find "$kind.out" | sort
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
