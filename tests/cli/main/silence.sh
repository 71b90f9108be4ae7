# what was done as asked, but perhaps not as meant, is told in one line
exec 2>&1
cp "$SAMPLES/night.asdf" "$SAMPLES/roman.asdf" "$SAMPLES/complex.ra" .
try() { echo "\$ $*"; cippus "$@" || echo "exit $?"; }
echo "# a codec"
cippus convert night.asdf lz4.npy --path image
try convert lz4.npy x.asdf --codec lz4
try convert lz4.npy x.b2nd --codec zlib:1
try convert night.asdf y.asdf --codec lz4 --json
try convert lz4.npy z.asdf --codec none
try convert complex.ra c.asdf --codec zlib
try put x.asdf --new flat lz4.npy --codec lz4
truncate -s 70M big.raw
try convert big.raw big.asdf --dtype uint8 --codec bzp2
rm big.raw big.asdf
echo "# what goes away"
try rm night.asdf image
try rm night.asdf exposure/time
try rm roman.asdf roman
try resize night.asdf counts 9,5
try resize night.asdf counts 10,5
try resize night.asdf counts 3,5 --dry-run
try rm night.asdf nothing
