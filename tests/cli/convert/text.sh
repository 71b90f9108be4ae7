# to csv, tsv and json: one array or a table
exec 2>&1
cp "$SAMPLES/night.asdf" "$SAMPLES/complex.ra" "$SAMPLES/phantom.ra" .
try() { echo "\$ $*"; cippus "$@" || echo "exit $?"; }
try convert --path stars night.asdf stars.csv
cat stars.csv
try convert stars.csv stars.tsv
cat stars.tsv
try convert stars.tsv back.npy
try convert stars.csv straight.npy
cmp back.npy straight.npy
try convert --path stars/flux night.asdf flux.json
cat flux.json && echo
try convert --path stars night.asdf stars.jsonl
cat stars.jsonl
try convert --path masked night.asdf masked.csv
head -1 masked.csv
try convert complex.ra c.any --format csv
try convert complex.ra - --format tsv
echo "# what does not go"
try convert night.asdf x.csv
try convert --path imge night.asdf x.csv
try convert phantom.ra x.csv
try convert phantom.ra x.csv --json
try convert phantom.ra x.csv --accept-loss
try convert complex.ra x.csv
try convert complex.ra x.csv --overwrite
try convert complex.ra y.json --codec zstd
try convert complex.ra y.json --chunks 2
try convert complex.ra phantom.ra y.json
try convert --fill 1 --dtype int8 --shape 3 y.json
try repair complex.ra y --format csv
ls -A
