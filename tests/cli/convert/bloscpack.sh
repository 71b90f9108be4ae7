# to files of bloscpack and back: codecs, filters, digests, what cannot be held, updates
exec 2>&1
python3 -c "import struct,sys; sys.stdout.buffer.write(struct.pack('<3000i', *range(3000)))" | cippus convert - a.npy --from raw --dtype int32 --shape 3000
cippus convert a.npy a.blp && cippus info a.blp && cippus convert a.blp b.npy && cmp a.npy b.npy
cippus convert a.npy b.blp --codec zlib:9 --checksum sha256 --option chunk_size=4001 --option filter=bitshuffle --option spare=1
cippus info b.blp | tail -n 6; cippus info --chunks b.blp; cippus verify --deep b.blp
cippus convert a.npy c.blp --option offsets=no --checksum none --codec none && cippus verify --deep c.blp && cippus info c.blp | tail -n 5
cippus convert a.npy - --format bloscpack | cippus cat - '[7:9]'
cippus put b.blp '[5]' 77; cippus cat b.blp '[4:7]'
cippus append --dry-run b.blp a.npy
cippus append b.blp a.npy && cippus resize b.blp 5999 && cippus verify --deep b.blp && cippus info b.blp | tail -n 6
cippus cat b.blp '[2998:3003]'
set +e; for bad in chunk_size=x chunk_size=99999999999 filter=delta offsets=maybe; do cippus convert a.npy x.blp --option $bad; done
cippus convert a.npy x.blp --checksum crc64; cippus convert a.npy x.blp --codec bzip2
cippus convert "$SAMPLES/complex.ra" a.npy x.blp
ls
