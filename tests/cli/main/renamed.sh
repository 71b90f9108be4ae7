# names of earlier versions work for one more, and are told
exec 2>&1
cp "$SAMPLES/stream.asdf" "$SAMPLES/complex.ra" "$SAMPLES/cube.b2nd" .
cippus freeze stream.asdf --level process && cippus ls stream.asdf
cippus diff stream.asdf complex.ra --most 1 || echo "exit $?"
cippus info --yaml complex.ra >a && cippus info --query complex.ra >b && cmp a b
cippus refs --url u cube.b2nd >a && cippus zarr-refs --url u cube.b2nd >b && cmp a b
cippus help refs >a && cippus zarr-refs --help >b && cmp a b
cippus ls --level power complex.ra || echo "exit $?"
