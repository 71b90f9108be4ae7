# blocks of Blosc chunks and frames in ASDF: codecs, filters, levels; updates; windows
exec 2>&1
python3 -c "import struct,sys; sys.stdout.buffer.write(struct.pack('<300000f', *(i // 9 for i in range(300000))))" >a.raw
cippus convert a.raw a.npy --dtype f4 --shape 3000,100
for how in "blsc" "blsc:blosclz:5 --filter bitshuffle" "bls2:blosclz" "bls2:blosclz:9 --filter delta,shuffle"; do
    echo "$how"
    cippus convert a.npy a.asdf --overwrite --codec $how
    cippus ls a.asdf; cippus verify --deep a.asdf
    cippus convert a.asdf b.npy --overwrite && cmp a.npy b.npy
    cippus put a.asdf data '[7, :3]' 1
    cippus append a.asdf data a.npy; cippus put --new --codec ${how%% *} --option filter=bitshuffle a.asdf more a.npy
    cippus ls a.asdf; cippus verify --deep a.asdf; cippus cat a.asdf data '[7, :4]' ; cippus cat a.asdf data '[5999, 98:]'
done
cippus convert a.asdf b.asdf --codec blsc:zlib && cippus ls b.asdf && cippus verify --deep b.asdf
cippus convert b.asdf - --codec bls2:lz4 --format asdf | cippus cat - more '[2999, 99]'
set +e
for bad in "blsc:snappy" "blsc:zlib:10" "bls2:zfp:prec=3" "blsc --filter delta" "bls2 --filter trunc_prec:3" "zlib --filter shuffle" "zlib:fast"; do
    cippus convert a.npy x.asdf --codec $bad
done
ls
