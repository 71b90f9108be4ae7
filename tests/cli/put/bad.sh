cp "$SAMPLES/night.asdf" x.asdf
printf '\0\1\0\2' >two.raw
printf 'a,b\nx,1\n' >t.csv
printf '1.5\n' >f.csv
try() {
    status=0
    cippus "$@" 2>&1 || status=$?
    echo "status $status"
}
try put x.asdf
try put x.asdf nothing two.raw
try put x.asdf counts two.raw
try put x.asdf counts '[0, 0:3]' two.raw
try put x.asdf counts '[0, 0:' two.raw
try put x.asdf counts '[0, 0:1]' t.csv
try put x.asdf counts '[0, 0:3]' f.csv
try put x.asdf counts missing.npy
try put x.asdf counts missing.raw
try put x.asdf counts two.raw --from nothing
try put x.asdf counts two.raw --md5 maybe
try put x.asdf counts x.asdf
cmp x.asdf "$SAMPLES/night.asdf"
ls
