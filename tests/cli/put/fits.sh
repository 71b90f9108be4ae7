# FITS: elements, rows and shapes in place, cards and checksums with them; what cannot change says so
exec 2>&1
IN="$ROOT/src/format/fits/corpus/fuzz_fits"
try() {
    status=0
    cippus "$@" || status=$?
    [ $status = 0 ] || echo "status $status"
}
cp "$IN/good-sums.fits" sums.fits
cp "$IN/good-table.fits" table.fits
cp "$IN/good-scaled.fits" scaled.fits
chmod +w *.fits
cippus put sums.fits PRIMARY/data '[0, 1]' 77
cippus cat sums.fits
cippus verify sums.fits
cp sums.fits in.fits
cippus append sums.fits in.fits
cippus ls sums.fits
cippus resize sums.fits . 1000,3
cippus ls sums.fits
cippus tree sums.fits PRIMARY/header/NAXIS2
cippus cat sums.fits '[:1]' --to npy >row.npy
cippus put --insert sums.fits . '[1]' row.npy
cippus rm sums.fits . '[4:]'
cippus cat sums.fits
cippus verify sums.fits
echo "# tables"
cippus put table.fits T/data/count '[0]' -- -5
cippus put table.fits T/data/flag '[2]' true
python3 - <<'END'
def npy(name, descr, data):
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': (1,), }}".ljust(117).encode() + b"\n"
    open(name, "wb").write(b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text + data)
npy("abc.npy", "|S4", b"abc\0")
npy("blanks.npy", "|S4", b"a   ")
END
cippus put table.fits T/data/name '[1:2]' abc.npy
cippus put table.fits T/data/unsigned '[:]' 65535
cippus cat table.fits
cp table.fits in.fits
cippus append table.fits in.fits
cippus ls table.fits
cippus verify table.fits
echo "# scaled"
cippus put scaled.fits . '[1, 1]' 5
cippus put scaled.fits . '[1, 0]' nan
cippus cat scaled.fits
echo "# with checksums"
cippus convert scaled.fits new.fits --accept-loss --checksum datasum
cippus tree new.fits PRIMARY/header
cippus verify new.fits
echo "# refused"
try put scaled.fits . '[1, 1]' 5.55
try put table.fits T/data/name '[1:2]' blanks.npy
cp "$IN/good-rice.fits" x.fits
chmod +w x.fits
try put x.fits . '[0, 0]' 1
for name in good-text-table good-heap good-asdf; do
    cp "$IN/$name.fits" x.fits
    chmod +w x.fits
    path=$(cippus ls --json x.fits | sed -n 's/.*"path": "\([^"]*\)".*/\1/p' | head -1)
    try resize x.fits "$path" 9
done
try put x.fits ASDF/tree/inner '[0]' 1
try set sums.fits PRIMARY/header/NEW 1
try convert scaled.fits y.fits --checksum sha256
