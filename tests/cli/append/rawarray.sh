cp "$SAMPLES/complex.ra" x.ra
cippus cat x.ra '[1:2]' --to npy >row.npy
cippus cat x.ra '[1:2]' --to raw >row.raw
cippus append x.ra row.npy
cat row.raw row.raw | cippus append x.ra - --from raw
cippus ls x.ra
cippus cat x.ra '[4:]'
cippus cat x.ra '[:4]' --to raw >a
cippus cat "$SAMPLES/complex.ra" --to raw | cmp - a
cippus put x.ra '[0]' row.raw
cippus resize x.ra 2,3
cippus cat x.ra
cippus verify x.ra
try() {
    status=0
    cippus "$@" 2>&1 || status=$?
    echo "status $status"
}
try set x.ra a 1
try rm x.ra a
try finish x.ra
try edit x.ra
try append x.ra row.npy --history 'a row'
try append x.ra row.npy --md5 current
cippus ls x.ra
