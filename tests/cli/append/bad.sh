cp "$SAMPLES/stream.asdf" x.asdf
printf 'abc' >torn.raw
printf '1,2\n' >two.csv
: >empty.raw
try() {
    status=0
    cippus "$@" 2>&1 || status=$?
    echo "status $status"
}
try append x.asdf
try append x.asdf nothing torn.raw
try append x.asdf torn.raw
try append x.asdf two.csv
try append x.asdf missing.raw
try append x.asdf empty.raw
try append missing.asdf torn.raw
try append x.asdf empty.raw --durability none
cmp x.asdf "$SAMPLES/stream.asdf"
ls
