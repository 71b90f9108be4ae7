cp "$SAMPLES/night.asdf" x.asdf
cippus resize x.asdf counts 66,96
cippus ls x.asdf | grep counts
cippus cat x.asdf counts '[:64]' --to raw >a
cippus cat "$SAMPLES/night.asdf" counts --to raw | cmp - a
cippus stat x.asdf counts '[64:]'
cippus resize x.asdf counts '[3, 2]'
cippus cat x.asdf counts
cippus verify --deep x.asdf
try() {
    status=0
    cippus "$@" 2>&1 || status=$?
    echo "status $status"
}
try resize x.asdf counts 6
try resize x.asdf counts -- -1,2
try resize x.asdf counts '*,2'
try resize x.asdf counts 3,2,
try resize x.asdf nothing 3
try resize x.asdf 3,2
