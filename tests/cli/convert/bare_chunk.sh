# one chunk of Blosc2 or Blosc1 as a file: what it can hold, what it cannot, special ones, pipes
exec 2>&1
python3 -c "import sys; sys.stdout.buffer.write(bytes(i // 7 % 250 for i in range(70000)))" >a.raw
cippus convert a.raw a.npy --dtype u1
for out in a.b2chunk a.blosc; do
    cippus convert a.npy $out --codec lz4:9 --filter bitshuffle --blocks 8192 && cippus info $out && cippus verify --deep $out
    cippus convert $out b.npy --overwrite && cmp a.npy b.npy
done
cippus convert a.npy - --format b2chunk --codec blosclz | cippus cat - '[69998:]'
cippus convert a.npy - --format blosc | cippus cat - '[69998:]'
echo "a chunk moves as it is stored"
cippus convert a.blosc b.blp --option chunk_size=70000; cippus convert b.blp c.blosc; cmp a.blosc c.blosc
cippus convert a.b2chunk d.b2frame; cippus convert d.b2frame d.b2chunk; cmp a.b2chunk d.b2chunk
for v in 0 7 uninit; do
    cippus convert --fill $v --dtype u1 --shape 1000000 v.b2chunk --overwrite; cippus ls v.b2chunk; cippus cat v.b2chunk '[-2:]'
done
cippus convert --fill 3 --dtype u1 --shape 0 e.b2chunk; cippus ls e.b2chunk; cippus verify --deep e.b2chunk
cippus convert --fill 3 --dtype u1 --shape 0 e.blosc; cippus ls e.blosc
cippus convert --fill 3 --dtype "<f4" --shape 10 --accept-loss f.blosc; cippus cat f.blosc '[:4]'
refused() { "$@" && echo written || echo $?; }
refused cippus convert --fill 3 --dtype f4 --shape 10 x.b2chunk
refused cippus convert --fill 3 --dtype u1 --shape 10,10 x.b2chunk
refused cippus convert --fill 3 --dtype u1 --shape 2147483647 x.b2chunk
refused cippus convert --fill 3 --dtype u1 --shape 2147483647 x.blosc
refused cippus convert a.npy x.blosc --filter delta
refused cippus convert a.npy x.blosc --option dict=yes --codec zlib
refused cippus convert a.npy x.b2chunk --chunks 100
refused cippus convert a.npy x.b2chunk --sparse
refused cippus convert a.npy x.b2chunk --blocks 70001
refused cippus put a.b2chunk '[0]' 1
ls
