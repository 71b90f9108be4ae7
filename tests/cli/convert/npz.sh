# npz: listed, read, checked, written as numpy does, changed in place
exec 2>&1
try() { echo "\$ $*"; cippus "$@" || echo "exit $?"; }
cp "$SAMPLES/night.asdf" "$SAMPLES/complex.ra" .
try convert night.asdf night.npz
try convert night.asdf night.npz --accept-loss --overwrite
try ls night.npz
try cat night.npz stars '[:2]'
try diff night.npz night.asdf
try convert complex.ra one.npz
try ls one.npz
try convert complex.ra complex.ra two.npz --name a --name b/c --codec zlib
try ls two.npz
try info --blocks two.npz
try verify two.npz one.npz
try cat two.npz b/c '[1, ::2]'
python3 -m zipfile -t two.npz
cippus convert two.npz - --format npz | cmp - two.npz || true
cippus convert two.npz - --format npz --codec zlib | cmp - two.npz && echo same
echo "--- changes"
try put one.npz arr_0 '[0, 0]' 5
try cat one.npz '[0]'
try verify one.npz
try put one.npz arr_0 '[0, 0]' 7 --dry-run
try put two.npz a '[0, 0]' 5
try cat two.npz a '[0]'
cp one.npz rows.npz
try append rows.npz rows.npz
try append rows.npz one.npz
try resize rows.npz arr_0 2,1
try cat rows.npz
try rm one.npz arr_0
try put --new one.npz b complex.ra
try set one.npz a 1
echo "--- refused"
try convert complex.ra complex.ra x.npz --name a --name a.npy
try convert complex.ra complex.ra x.npz --name a --name 'b/../c'
try convert complex.ra x.npz --codec lz4
try convert complex.ra x.npz --codec zlib:77
try convert complex.ra x.npz --checksum md5
echo "--- damage"
python3 - <<'END'
b = bytearray(open("one.npz", "rb").read())
b[200] ^= 1
open("bad.npz", "wb").write(b)
open("cut.npz", "wb").write(b[:-1])
END
try verify bad.npz
try cat bad.npz --check
try convert bad.npz x.asdf
try ls cut.npz
ls -A
