cp "$SAMPLES/night.asdf" x.asdf
export TMPDIR="$PWD/tmp"
mkdir tmp
try() {
    status=0
    EDITOR=$1 cippus edit "${2:-x.asdf}" 2>err || status=$?
    sed 's|kept in .*/tmp/cippus-edit-....../|kept in |' err
    echo "status $status, $(find tmp -type f | wc -l) kept"
    rm -rf tmp/*
    cmp x.asdf "$SAMPLES/night.asdf"
}
try false
try "sed -i 's/: /: [/'"
try "sed -i '/^\.\.\./d'"
try "sed -i '1,/^---/d'"
try "sed -i 's/float32/float64/'"
try "sed -i '\$a more'"
try true missing.asdf
cippus convert "$SAMPLES/complex.ra" x.npy
try true x.npy
