# to frames of Blosc2 and back: types, chunks and blocks, codecs, filters, lists of items, what is refused
exec 2>&1
python3 -c "import struct,sys; sys.stdout.buffer.write(struct.pack('<30000i', *(i // 7 for i in range(30000))))" | cippus convert - a.npy --from raw --dtype int32 --shape 100,300
cippus convert a.npy a.b2nd --codec blosclz && cippus ls a.b2nd && cippus info a.b2nd | sed 1d && cippus verify --deep a.b2nd && cippus convert a.b2nd b.npy && cmp a.npy b.npy
cippus convert a.npy c.b2nd --codec blosclz:9 --option chunks=40,70 --option blocks=16,32 --option filter=delta+bitshuffle --option split=never
cippus tree c.b2nd && cippus info c.b2nd | tail -n 7 && cippus cat c.b2nd '[99, 298:]' && cippus verify --deep c.b2nd
cippus convert a.npy - --format blosc2 --codec blosclz:9 --option chunks=40,70 --option blocks=16,32 --option filter=delta+bitshuffle --option split=never | cmp - c.b2nd
head -c 4000000 /dev/zero | cippus convert - z.b2nd --from raw --dtype float64 --shape 500,1000 --option chunks=10,100 && wc -c <z.b2nd && cippus info --chunks z.b2nd | tail -n 1
printf 'a list of bytes' | cippus convert - l.b2frame --from raw --dtype uint8 --shape 15 && cippus ls l.b2frame && cippus cat l.b2frame --to raw && echo
cippus convert a.npy n.b2nd --codec ndlz:8 --filter shuffle,delta && cippus info n.b2nd | tail -n 6 && cippus verify --deep n.b2nd && cippus convert n.b2nd n.npy && cmp a.npy n.npy
set +e
cippus convert a.npy x.b2nd --codec zfp:acc=-3; cippus convert a.npy x.b2nd --codec zfp:acc=-3 --accept-loss; cippus convert a.npy x.b2nd --codec zfp:pr=3; cippus convert a.npy x.b2nd --codec ndlz:9
cippus convert a.npy x.b2nd --codec bzp2; cippus convert a.npy x.b2nd --option chunks=10; cippus convert a.npy x.b2nd --option chunks=10,10 --option blocks=20,1
cippus convert a.npy x.b2nd --option filter=trunc_prec:9 --accept-loss; cippus convert a.npy x.b2nd --option filter=int_trunc:9
cippus convert a.npy x.b2frame; cippus convert a.npy x.b2nd --checksum crc32; cippus convert a.npy a.b2nd
cippus convert --path masked "$SAMPLES/night.asdf" x.b2nd 2>&1 | sed "s|$SAMPLES/||"
ls
# metadata and chunks as they are stored go along
cippus convert "$SAMPLES/cube.b2nd" d.b2nd && cippus tree d.b2nd && cippus cat --stored --chunk 1 d.b2nd >1; cippus cat --stored --chunk 1 "$SAMPLES/cube.b2nd" >2; cmp 1 2 && cippus verify --deep d.b2nd
cippus convert "$SAMPLES/cube.b2nd" d.asdf && cippus convert d.asdf e.b2nd --codec blosclz && cippus tree e.b2nd vlmeta
cippus convert "$SAMPLES/phantom.ra" f.b2nd --codec blosclz 2>&1 | sed "s|$SAMPLES/||"; cippus tree f.b2nd vlmeta
printf '%s\n' '#ASDF 1.0.0' '#ASDF_STANDARD 1.5.0' '%YAML 1.1' '%TAG ! tag:stsci.edu:asdf/' '--- !core/asdf-1.1.0' 'data: !core/ndarray-1.0.0 {data: [1, 2, 3], datatype: int64, shape: [3]}' \
    'deep: {more: [1, {x: null}], when: 2026-11-22T10:00:00}' 'unit: !unit/unit-1.0.0 K' '7: 3' ... >t.asdf
cippus convert t.asdf x.b2nd; cippus convert t.asdf g.b2nd --accept-loss 2>/dev/null && cippus tree g.b2nd vlmeta
# sparse frames, and options of the command for what --option says too
cippus convert a.npy s.b2nd --sparse --chunks 50,150 --blocks 25,50 --filter delta,shuffle --codec blosclz && ls s.b2nd && cippus info s.b2nd | tail -n 8 && cippus verify --deep s.b2nd
cippus convert s.b2nd t.b2nd && cippus info t.b2nd | tail -n 8 && cippus convert t.b2nd b.npy --overwrite && cmp a.npy b.npy
cippus convert a.npy - --format blosc2 --sparse; cippus convert a.npy x.asdf --sparse; cippus convert a.npy x.b2nd --sparse=no; cippus convert a.npy x.b2nd --option sparse=maybe
cippus convert a.npy x.b2nd --chunks; cippus info --chunks=3 a.b2nd; cippus convert a.npy s.b2nd --sparse; cippus convert a.npy s.b2nd --sparse --overwrite --codec none && ls s.b2nd
cippus convert a.npy s.b2nd --overwrite; ls -d s.b2nd
