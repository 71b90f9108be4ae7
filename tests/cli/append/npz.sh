# npz: rows and shapes of one member, the others stay; compressed members; what cannot change says so
exec 2>&1
IN="$ROOT/src/format/npz/corpus/fuzz_npz"
try() {
    status=0
    cippus "$@" || status=$?
    [ $status = 0 ] || echo "status $status"
}
for name in same-two good-deflated good-piped; do
    echo "# $name"
    cp "$IN/$name.npz" x.npz
    chmod +w x.npz
    cippus cat x.npz six '[:1]' --to npy >row.npy
    cippus append x.npz six row.npy
    cippus put x.npz six '[0, 0]' 42
    cippus ls x.npz
    cippus cat x.npz six
    cippus resize x.npz ids 2
    cippus put --insert x.npz ids '[1]' 7
    cippus rm x.npz six '[1:]'
    cippus cat x.npz six
    cippus cat x.npz ids
    cippus verify x.npz
done
echo "# dry run"
cippus append x.npz six row.npy --dry-run
echo "# refused"
cp "$IN/good-fortran.npz" f.npz
cp "$IN/good-bytes.npz" b.npz
chmod +w *.npz
try append f.npz f row.npy
try put f.npz f '[0, 0]' 5
cippus cat f.npz
try resize b.npz README.txt 4
try put x.npz six '[0]' 1 --codec zlib
try rm x.npz six
