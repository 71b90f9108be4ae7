# images and tables of FITS to the other formats, headers to their tree; what is not read is a loss
exec 2>&1
IN="$ROOT/src/format/fits/corpus/fuzz_fits"
cippus convert "$IN/good-table.fits" t.asdf
cippus ls t.asdf
cippus tree t.asdf T/header/EXTNAME
cippus diff "$IN/good-table.fits" t.asdf && echo the same
cippus convert "$IN/good-tiles.fits" t.b2nd 2>/dev/null
cippus cat t.b2nd
cippus convert "$IN/good-blank.fits" blank.asdf
cippus cat blank.asdf
cippus convert "$IN/good-heap.fits" h.asdf 2>/dev/null || echo "exit $?"
cippus convert "$IN/good-heap.fits" h.asdf --accept-loss 2>&1 | sed "s,$IN/,,"
cippus ls h.asdf
echo "# to FITS"
cippus convert "$SAMPLES/night.asdf" night.fits --accept-loss 2>&1 | sed "s,$SAMPLES/,,"
cippus ls night.fits
cippus convert "$IN/good-cards.fits" cards.fits --accept-loss 2>&1 | sed "s,$IN/,,"
cippus diff "$IN/good-cards.fits" cards.fits || echo "exit $?"
cippus convert "$IN/good-table.fits" table.fits
cippus cat table.fits
cippus tree table.fits T/header
cippus convert t.b2nd image.fits --accept-loss
cippus ls image.fits
cippus verify cards.fits table.fits image.fits
cippus convert "$SAMPLES/night.asdf" a.fits --codec zlib 2>&1 | sed "s,$SAMPLES/,," || echo "exit $?"
cp image.fits rows.fits
cippus append rows.fits image.fits 2>&1 || echo "exit $?"
cippus ls rows.fits
