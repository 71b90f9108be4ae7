# the differences, and how many there are
try() {
    cippus diff --json "$@" || echo "status $?"
}
cp "$SAMPLES/night.asdf" a.asdf
cp a.asdf b.asdf
cippus put b.asdf spectrum '[3]' nan
cippus set b.asdf exposure/time 107.6
try a.asdf b.asdf
try --limit 1 a.asdf b.asdf
try a.asdf a.asdf
