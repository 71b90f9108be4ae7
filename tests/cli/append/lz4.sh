cippus cat "$SAMPLES/night.asdf" counts --to npy >counts.npy
cippus cat counts.npy --to raw >all.raw
cippus convert counts.npy x.asdf --codec lz4
cippus cat x.asdf --block 0 --stored >before.raw
head -c 384 all.raw >rows.raw
# two rows become a chunk behind the others, which stay as they are
cippus append x.asdf data rows.raw
cippus cat x.asdf --block 0 --stored | head -c "$(wc -c <before.raw)" | cmp - before.raw
cippus cat x.asdf data --to raw >after.raw
cat all.raw rows.raw | cmp - after.raw
cippus ls x.asdf | sed "s| [0-9]*\$||" # liblz4 makes other bytes on big-endian machines
cippus verify --deep x.asdf
