cp "$SAMPLES/night.asdf" x.asdf
cippus convert "$SAMPLES/complex.ra" x.npy
try() {
    status=0
    cippus "$@" 2>&1 || status=$?
    echo "status $status"
}
try set x.asdf exposure/time
try set x.asdf exposure/time '{a: '
try set x.asdf exposure/time/x 1
try set x.asdf exposure/frames/7 1
try set x.asdf image/shape 1
try set x.asdf '' 1
try set x.asdf a 1 --durability sometimes
try set x.asdf a 1 --md5 none
try set missing.asdf a 1
try set x.npy a 1
try set - a 1
cmp x.asdf "$SAMPLES/night.asdf"
ln x.asdf y.asdf
try set x.asdf a 1
cippus set x.asdf a 1 --break-links
cmp y.asdf "$SAMPLES/night.asdf"
cippus tree x.asdf a
