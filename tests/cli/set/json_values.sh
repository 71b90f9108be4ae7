# JSON of bcolz, BLZ and bloscpack: integers of any size are exact, keys may have a NUL, and a value that cannot be read costs neither
# the data nor the other values
exec 2>&1
try() {
    status=0
    cippus "$@" || status=$?
    [ $status = 0 ] || echo "status $status"
}
python3 -c 'import struct; open("x.raw", "wb").write(struct.pack("<6q", *range(6)))'
for to in x.bcolz x.blz; do
    cippus convert x.raw --dtype int64 --shape 6 $to
    cippus set $to attributes/least -9223372036854775808
    cippus set $to attributes/most 18446744073709551615
    cippus set $to attributes/more -123456789012345678901234567890
    cippus tree $to
    try set $to attributes/deep "$(python3 -c 'print("[" * 201 + "]" * 201)')"
    cippus set $to attributes/deep "$(python3 -c 'print("[" * 199 + "]" * 199)')"
    try set $to attributes/long "$(python3 -c 'print("9" * 4301)')"
    try tree $to attributes/long
done
cippus tree x.bcolz attributes/more --json
echo '--- a default and keys that nobody knows'
python3 - <<'END'
import json
for name in ("x.bcolz", "x.blz"):
    storage = json.load(open(name + "/meta/storage"))
    storage.update(dflt=-2**63, big=2**64, list=[{"a\0b": "\ud800"}])
    json.dump(storage, open(name + "/meta/storage", "w"))
END
for of in x.bcolz x.blz; do
    cippus resize $of 8
    cippus cat $of
    cut -d, -f 4- $of/meta/storage | grep -o '"dflt.*'
done
echo '--- bloscpack'
cat >x.asdf <<'END'
#ASDF 1.0.0
%YAML 1.1
---
metadata: {least: -9223372036854775808, more: 123456789012345678901234567890, "a\0b": 1}
x: !<tag:stsci.edu:asdf/core/ndarray-1.0.0> [1, 2, 3]
...
END
cippus convert x.asdf x.blp
cippus tree x.blp --json
