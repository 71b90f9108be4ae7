# npy: rows and shapes change the header as numpy writes it, in its room; what cannot be is refused
exec 2>&1
try() {
    status=0
    cippus "$@" || status=$?
    [ $status = 0 ] || echo "status $status"
}
same() { cippus convert --overwrite "$1" y.npy && cmp "$1" y.npy; } # a new file has the same bytes
cippus convert "$SAMPLES/complex.ra" x.npy
cippus cat x.npy '[1:2]' --to npy >row.npy
cippus cat x.npy '[1:2]' --to raw >row.raw
cippus append x.npy row.npy
cat row.raw row.raw | cippus append x.npy - --from raw
cippus ls x.npy
cippus cat x.npy '[4:]'
same x.npy
cippus put x.npy '[0]' row.raw
cippus resize x.npy 100000,2
cippus ls x.npy
same x.npy
cippus rm x.npy . '[2:]'
cippus cat x.npy
same x.npy
echo "--- records, big-endian"
python3 - <<'END'
def npy(name, text, data, pad=0):
    text = text.encode().ljust(pad) + b"\n"
    open(name, "wb").write(b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text + data)
npy("r.npy", "{'descr': [('x', '>f4'), ('n', '>i2')], 'fortran_order': False, 'shape': (9,), }", bytes(range(54)) + b"behind")
npy("f.npy", "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }", bytes(range(12)), 117)
npy("o.npy", "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", b"a pickle", 117)
open("z.npz", "wb").write(b"PK\3\4" + bytes(60))
END
cippus cat r.npy '[:2]' --to npy >two.npy
cippus append r.npy two.npy --dry-run
cippus append r.npy two.npy
cippus cat r.npy '[7:]'
tail -c 6 r.npy && echo
cippus verify r.npy
echo "--- refused"
try put f.npy . '[1]' 7
try cat f.npy
try append f.npy row.raw
try resize f.npy 3,3
try rm f.npy . '[1:]'
try put o.npy . '[0]' 1
try resize o.npy 2
try put z.npz . '[0]' 1
cat x.npy | try append - row.npy
try set x.npy a 1
try rm x.npy a
try put x.npy '[0]' 5 --history 'fives'
try append x.npy row.npy --md5 current
try put x.npy '[0]' 5 --option level=3
cippus ls x.npy
