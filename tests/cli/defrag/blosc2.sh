# frames of Blosc2: bytes that belong to no chunk go, chunks get their order; of a folder chunk files that the index does not name
exec 2>&1
python3 -c 'import struct; open("x.raw", "wb").write(struct.pack("<60h", *range(60)))'
cippus convert x.raw --dtype int16 --shape 10,6 x.b2nd --codec blosclz --chunks 4,4 --blocks 2,2
cippus put x.b2nd . '[0]' -7
cippus set x.b2nd vlmeta/unit K
cippus verify x.b2nd
cippus cat x.b2nd >want
cp x.b2nd was.b2nd
cippus defrag x.b2nd --dry-run
cmp x.b2nd was.b2nd
cippus defrag x.b2nd --json
cippus verify --deep x.b2nd
cippus cat x.b2nd | cmp want -
cippus tree x.b2nd vlmeta
cp x.b2nd was.b2nd
cippus defrag x.b2nd
cmp x.b2nd was.b2nd
echo '--- a folder'
cippus convert x.b2nd s.b2nd --sparse
for name in 000000AA 000000BB 000000bb 0000000AA notes; do
    echo left >s.b2nd/$name.chunk
done
mkdir s.b2nd/000000CC.chunk
cippus defrag s.b2nd --dry-run
cippus defrag s.b2nd
ls s.b2nd
cippus defrag s.b2nd
cippus verify --deep s.b2nd
cippus cat s.b2nd | cmp want -
echo '--- an index that names a chunk twice'
printf 'abcdefgh' | cippus convert - d.b2frame --from raw --dtype uint8 --shape 8 --codec none --chunks 4
python3 - <<'END'
import struct
d = bytearray(open("d.b2frame", "rb").read())
header, index = struct.unpack(">i", d[11:15])[0], d.find(struct.pack("<QQ", 0, 36))
d[index + 8:index + 16] = bytes(8)
open("d.b2frame", "wb").write(d)
END
cp d.b2frame was
cippus defrag d.b2frame || echo $?
cmp d.b2frame was
