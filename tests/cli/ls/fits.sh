# HDUs by name, what is refused, headers as a tree, windows, physical values, the mask
exec 2>&1
cd "$ROOT/src/format/fits/corpus/fuzz_fits"
cippus ls good-names.fits
cippus ls good-table.fits
cippus ls good-heap.fits
cippus ls unsupported-hcompress.fits
cippus ls bad-second.fits
echo "# headers"
cippus tree good-cards.fits
cippus tree good-table.fits T/header/TTYPE1
echo "# values"
cippus cat good-table.fits
cippus cat good-table.fits T/data/unsigned '[1:]'
cippus cat good-text-table.fits
cippus cat good-scaled.fits
cippus cat good-blank.fits
cippus cat good-tiles.fits 1/data '[1:, 2:]'
cippus cat good-dithered.fits
cippus cat bad-rice.fits || echo "exit $?"
cippus cat bad-long.fits || echo "exit $?"
cippus ls bad-huge.fits || echo "exit $?"
echo "# checks"
cippus verify good-*.fits || echo "exit $?"
cippus verify bad-sums.fits || echo "exit $?"
cippus verify bad-second.fits || echo "exit $?"
cippus info good-unsigned.fits
