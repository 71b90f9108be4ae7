# ASDF 0.1: the document's layout and its three chains; from there to 1.x
exec 2>&1
cippus cat --to npy "$SAMPLES/night.asdf" image >image.npy
cippus convert --standard 0.1.0 --tree-slack 0 "$SAMPLES/night.asdf" plain.asdf
cippus verify --deep plain.asdf
cippus ls plain.asdf
head -c 150 plain.asdf
echo
grep -c "BLOCK INDEX" plain.asdf || true
for chain in '[zlib]' '[[tile, {shape: [32, 32]}], zlib]' '[[tile, {shape: [32, 32]}], [quantize, {quality: 4}], zlib]' \
    '[[quantize, {bits: 10}]]'; do
    cippus convert --accept-loss --overwrite --encode "$chain" image.npy x.asdf
    grep -ao -e '--- \[.*' x.asdf
    cippus verify --deep x.asdf
    cippus ls x.asdf
done
cippus convert --accept-loss --json --overwrite --encode '[quantize, zlib]' image.npy x.asdf
cippus convert x.asdf new.asdf
cippus ls new.asdf
head -n 3 new.asdf
cippus explode plain.asdf apart.asdf
cippus implode apart.asdf whole.asdf
cippus verify --deep whole.asdf
