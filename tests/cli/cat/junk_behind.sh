# ASDF: junk behind a payload that is whole is ignored, whatever the codec
exec 2>&1
python3 -c 'import struct; open("x.raw", "wb").write(struct.pack("<2000i", *(i // 100 for i in range(2000))))'
for codec in zlib bzp2 lz4f zstd; do
    cippus convert x.raw --dtype int32 --shape 2000 x.asdf --codec $codec --md5 none --overwrite
    python3 - <<'END'
import struct
b = open("x.asdf", "rb").read()
at = b.index(b"\xd3BLK")
head = at + 6 + struct.unpack(">H", b[at + 4:at + 6])[0]
used, size = struct.unpack(">QQ", b[at + 22:at + 38])
data = b[head:head + used] + b"junk behind"
open("y.asdf", "wb").write(b[:at + 14] + struct.pack(">QQQ", len(data), len(data), size) + b[at + 38:head] + data)
END
    echo "--- $codec"
    cippus cat y.asdf data '[99:102]'
    cippus cat --to raw y.asdf | cmp x.raw -
    cippus verify --deep y.asdf
done
