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
