# a file of bloscpack: every command that reads
exec 2>&1
cp "$SAMPLES/tide.blp" tide.blp
cippus info tide.blp
cippus ls tide.blp
cippus tree tide.blp
cippus info --chunks tide.blp
cippus cat tide.blp '[48:51, ::4]'
cippus cat --chunk 3 --stored tide.blp | wc -c
cippus stat tide.blp
cippus verify --deep tide.blp
cippus convert tide.blp tide.npy && cippus ls tide.npy
printf '\377' | dd of=tide.blp bs=1 seek=2100 conv=notrunc status=none
cippus cat tide.blp '[0, :3]'
cippus cat tide.blp '[:, 0]' || echo "status $?"
cippus verify tide.blp || echo "status $?"
