# bytes between the tree and the first block are named when they go, and are never half overwritten
exec 2>&1
python3 "$ROOT/tests/support/asdf_of_text.py" y.asdf 1,2,3 <<END
a: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: little, shape: [3]}
END
python3 - <<END
data = open("y.asdf", "rb").read()
at = data.index(b"\xd3BLK")
open("x.asdf", "wb").write(data[:at] + b"precious" + b" " * 20 + data[at:])
END
printf '\4' >row.raw
cippus put x.asdf a '[0]' row.raw
grep -ac precious x.asdf || true
cippus set x.asdf b 1
grep -ac precious x.asdf || true
cippus cat x.asdf a && cippus cat y.asdf a && cippus verify x.asdf
