# The output is there when all of it is, under the rights that new files get; one that is there stays.
cp "$SAMPLES/cube.b2nd" .
umask 027
cippus zarr-refs cube.b2nd out.json && ls -l out.json | cut -c1-10
cippus zarr-refs --url - cube.b2nd out.json || echo "exit $?"
grep -c '"-"' out.json || true
cippus zarr-refs --url - --overwrite cube.b2nd out.json && grep -c '"-", ' out.json
chmod 600 out.json
cippus zarr-refs --overwrite cube.b2nd out.json && ls -l out.json | cut -c1-10
cippus zarr-refs cube.b2nd none/out.json || echo "exit $?"
cippus zarr-refs cube.b2nd | grep -c "\"$(pwd -P)/cube.b2nd\", "
cippus zarr-refs - < cube.b2nd || echo "exit $?"
ls
