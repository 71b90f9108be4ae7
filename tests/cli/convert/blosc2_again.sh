# from frame to frame: what an array of nothing has of chunks and blocks stays; codecs that know shapes stay where they change no values
exec 2>&1
python3 -c 'open("x.raw", "wb").write(bytes(i // 7 % 5 for i in range(4096)))'
cippus convert x.raw --dtype uint8 --shape 64,64 x.b2nd --codec blosclz --chunks 30,20 --blocks 16,10
for shape in 0,64 64,0; do
    cp x.b2nd none.b2nd
    cippus resize none.b2nd $shape
    cippus convert none.b2nd again.b2nd --overwrite
    cippus tree again.b2nd meta/b2nd
    cippus resize again.b2nd 1,1
    cippus verify --deep again.b2nd
done
echo '--- ndlz'
cippus convert x.raw --dtype uint8 --shape 64,64 n.b2nd --codec ndlz:4 --chunks 32,32 --blocks 16,16
cippus convert n.b2nd again.b2nd --overwrite --chunks 20,33
cippus info again.b2nd | grep codec
cippus cat again.b2nd --to raw | cmp - x.raw
cippus put again.b2nd . '[0:20]' 3
cippus info --chunks again.b2nd | sed -n '2p;7p' | awk '{print $6}'
cippus verify --deep again.b2nd
cippus convert n.b2nd again.b2nd --overwrite --filter bitshuffle --codec lz4
cippus info again.b2nd | grep codec
echo '--- zfp'
cippus convert x.raw --dtype float32 --shape 32,32 z.b2nd --codec zfp:prec=16 --accept-loss 2>/dev/null
cippus convert z.b2nd again.b2nd --overwrite --chunks 16,16
cippus cat z.b2nd --to raw >want
cippus cat again.b2nd --to raw | cmp - want
