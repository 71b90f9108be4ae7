# every input as a file of its own in a folder
exec 2>&1
try() { echo "\$ $*"; cippus "$@" || echo "exit $?"; }
mkdir in
for i in 1 2; do cippus convert --fill $i --dtype int16 --shape $i,4 in/a$i.npy; done
cp "$SAMPLES/complex.ra" in/c.d.ra
cp -r "$SAMPLES/wells.blz" in
try convert --each in/a1.npy in/c.d.ra out --format b2nd --codec zlib
try ls out
try convert --each in/a1.npy in/wells.blz/ out/ --format csv --accept-loss
try convert --each in/a1.npy nothing.npy in/a2.npy out --format asdf
ls out
try convert --each in/a1.npy in/a2.npy out --format asdf
try convert --each in/a1.npy in/a2.npy out --format asdf --overwrite
try convert --each in/a1.npy a1.ra out --format npy
try convert --each in/a1.npy in/a2.npy out
try convert --each in/a1.npy --format npy
try convert --each in/a1.npy in/a2.npy in/c.d.ra --format npy
try convert --each - out --format npy
try convert --each in/a1.npy out --format npy --name x
echo "# what was lost, as one list"
mkdir json
try convert --each "$SAMPLES/phantom.ra" nothing.npy in/a1.npy json --format npy --json --accept-loss 2>&1 | sed "s,$SAMPLES/,,"
