# a line for each difference, exit 1 where there is one; which files and tolerances are compared
try() {
    cippus diff "$@" || echo "status $?"
}
cp "$SAMPLES/night.asdf" a.asdf
cp a.asdf b.asdf
try a.asdf b.asdf
cippus put b.asdf image '[5:7, 1:3]' 3
cippus set b.asdf exposure/time 107.6 --history changed
cippus set b.asdf instrument/name "a
b"
cippus rm b.asdf instrument/gain
try a.asdf b.asdf
try a.asdf b.asdf --rtol 1e-2 --ignore image --ignore 'instrument/*'
try a.asdf b.asdf --path instrument
try a.asdf b.asdf --path counts --path image
try a.asdf b.asdf --limit 1
try a.asdf b.asdf --bookkeeping --path history
echo "# two formats"
for x in b2nd ra npy blp blz; do
    cippus convert --path image a.asdf a.$x 2>/dev/null
    try a.$x a.asdf --path image
    try a.$x b.asdf --path image
done
try a.npy a.b2nd
try a.npy b.asdf
