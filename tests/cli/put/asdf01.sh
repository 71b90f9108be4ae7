# updates of ASDF 0.1 go through the block's own chain; a lossy one only where that is accepted
exec 2>&1
cippus cat --to npy "$SAMPLES/night.asdf" image >image.npy
cippus cat --to raw "$SAMPLES/night.asdf" image '[0:2]' >rows.raw
cippus convert --encode '[[tile, {shape: [32, 32]}], zlib]' image.npy x.asdf
cippus put x.asdf data '[5:7]' rows.raw
cippus append x.asdf data rows.raw
cippus verify --deep x.asdf
cippus ls x.asdf
grep -ao -e '--- \[.*' x.asdf
cippus convert --accept-loss --encode '[quantize]' image.npy q.asdf
cp q.asdf old.asdf
cippus put q.asdf data '[5:7]' rows.raw || echo $?
cmp q.asdf old.asdf
cippus put --accept-loss q.asdf data '[5:7]' rows.raw
cippus put --accept-loss --encode '[[quantize, {bits: 16}], zlib]' q.asdf data '[5:7]' rows.raw
cippus put --encode '[zlib]' q.asdf data '[5:7]' rows.raw
cippus ls q.asdf
cp "$SAMPLES/night.asdf" n.asdf
cippus put --encode '[zlib]' n.asdf image '[5:7]' rows.raw || echo $?
cippus convert --standard 0.1.0 image.npy p.asdf
cippus put --md5 current p.asdf data '[5:7]' rows.raw || echo $?
cippus set --history 'looked at again' p.asdf note 3
cippus tree p.asdf history
cippus convert --standard 0.1.0 --inline image.npy i.asdf
cippus put --encode '[zlib]' i.asdf data '[5:7]' rows.raw || echo $?
cippus append --encode '[zlib]' p.asdf data rows.raw
cippus ls p.asdf
