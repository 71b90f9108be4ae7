# Stored bytes are those of the file; decoded ones of a whole array are its elements.
HERE=$PWD
cd "$SAMPLES"
cippus cat cube.b2nd --chunk 3 --stored >"$HERE/a"; tail -c +3277 cube.b2nd | head -c 666 >"$HERE/b"; cmp "$HERE/a" "$HERE/b" && echo same
cippus cat night.asdf spectrum --chunk 0 >"$HERE/a"; cippus cat night.asdf spectrum --to raw >"$HERE/b"; cmp "$HERE/a" "$HERE/b" && echo same
cippus cat cube.b2nd --chunk 3 | wc -c
for words in "cube.b2nd --chunk 8" "cube.b2nd [0] --chunk 0" "night.asdf stars/flux --chunk 0" "cube.b2nd --chunk 0 --to raw" "cube.b2nd --chunk 0 --max-memory 4K"; do
    { cippus cat $words || echo "exit $?"; } 2>&1 | sed "s|needs [0-9]* bytes more than the [0-9]* in use|needs N bytes more than those in use|"
done
# Of a sparse frame: a chunk is a file, and the second is not there.
cd "$HERE"
from="$ROOT/src/format/blosc2/corpus/fuzz_blosc2_sparse/plain"
mkdir frame
tail -c +4 "$from" | head -c 180 >frame/chunks.b2frame
tail -c +184 "$from" | head -c 76 >frame/00000000.chunk
cippus cat frame --chunk 0 --stored | cmp - frame/00000000.chunk && echo same
cippus cat frame --chunk 1 2>&1 || echo "exit $?"
