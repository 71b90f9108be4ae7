# The bytes of a fuzz target: a length, the index, two chunk files of 76 bytes; the second is left out.
from="$ROOT/src/format/blosc2/corpus/fuzz_blosc2_sparse/plain"
mkdir frame
tail -c +4 "$from" | head -c 180 >frame/chunks.b2frame
tail -c +184 "$from" | head -c 76 >frame/00000000.chunk
cippus info --chunks frame
cippus info --chunks --json frame
