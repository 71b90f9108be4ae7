# With a damaged magic the index still numbers the blocks for reading; nothing is written over them.
cp "$SAMPLES/night.asdf" x.asdf
cippus cat x.asdf spectrum > before
cippus cat x.asdf spectrum --to npy > spectrum.npy
printf 'X' | dd of=x.asdf bs=1 seek=84195 conv=notrunc status=none # block 1, of `counts`
cp x.asdf damaged.asdf
try() {
    status=0
    cippus "$@" > out 2>&1 || status=$?
    grep -v warning out || true
    echo "status $status"
}
try cat x.asdf counts
cippus cat x.asdf spectrum 2> warnings | cmp - before
try set x.asdf a 1
try put x.asdf spectrum spectrum.npy
try append x.asdf spectrum spectrum.npy
try defrag x.asdf
try convert x.asdf y.asdf
try convert x.asdf y.asdf --byteorder big
try explode x.asdf y.asdf
cippus convert x.asdf --path spectrum --accept-loss again.npy 2> warnings
cmp again.npy spectrum.npy
cmp x.asdf damaged.asdf
ls ./*.asdf
