# Chunks of a Blosc2 frame in a block of ASDF lie in the ASDF file, or in the one beside it.
cippus convert "$SAMPLES/roman.asdf" x.asdf --codec bls2 2> /dev/null
cippus info x.asdf --chunks > table
place() { awk -v a="$1:" '$0 == a { here = 1; next } here && $1 == "0" { print $2, $3; exit }' table; }
set -- $(place roman/data)
tail -c +$(($1 + 1)) x.asdf | head -c "$2" > bytes
cippus cat x.asdf roman/data --chunk 0 --stored | cmp - bytes && echo the same bytes
cippus zarr-refs x.asdf > refs.json
grep "roman/data/0.0" refs.json | grep -c "x.asdf\", $1, $2\]"
cippus explode x.asdf y.asdf
cippus info y.asdf --chunks | grep y0000.asdf | wc -l
