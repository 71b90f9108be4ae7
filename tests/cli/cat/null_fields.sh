# Nulls among inline records: each field has a mask of its own; what cannot show it is refused.
inline() {
    printf '#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%%YAML 1.1\n%%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\nrec: !core/ndarray-1.1.0 %s\n...\n' "$1" > x.asdf
    echo "$1"
}
run() {
    echo "\$ $*"
    cippus "$@" 2>&1 || echo "status $?"
}
fields='[{name: a, datatype: int32}, {name: b, datatype: float64}, {name: c, datatype: [ascii, 1]}]'
inline "{data: [[1, null, x], [null, 3.0, y]], datatype: $fields}"
cp x.asdf before.asdf
for field in a b c; do
    for to in text json csv; do
        run cat x.asdf rec/$field --to $to
    done
done
run cat x.asdf rec/a --mask
run cat x.asdf rec/a '[::-1]'
run stat x.asdf rec/a
run stat x.asdf rec/b
run ls x.asdf
run tree x.asdf
run verify --deep x.asdf

echo "whole records"
run cat x.asdf rec
run cat x.asdf rec '[:1]' --to json
run convert x.asdf y.npy --path rec
run convert x.asdf y.npy --path rec --accept-loss
run convert x.asdf y.npy --path rec/a
run convert x.asdf y.asdf --byteorder big
run convert x.asdf y.asdf --inline
ls y.* 2>/dev/null || true
printf '\001\000\000\000' > one.bin
head -c 13 /dev/zero > record.bin
run put x.asdf rec/a '[0]' one.bin --from raw
run put x.asdf rec '[0]' record.bin --from raw
run append x.asdf rec record.bin --from raw
run resize x.asdf rec 1
run set x.asdf name value
run convert x.asdf z.asdf
run explode x.asdf e.asdf
for f in x z e; do
    grep rec: $f.asdf > kept
    grep rec: before.asdf | cmp - kept
done

echo "records in records, lists in them"
inline '{data: [[1, [2, null], [[1, null], [3, 4]]], null, [5, [6, true], [[null, 7], [8, 9]]]], datatype: [int32, {name: in, datatype: [int8, bool8]}, {name: v, datatype: int16, shape: [2, 2]}]}'
for field in f0 in in/f0 in/f1 v; do
    run cat x.asdf rec/$field --to json
done
run cat x.asdf rec/v '[::-1, 1, :]' --to json
inline '{data: [[1, [[2, null], [3, 4.5]]], [6, [[null, 7], [8, 9]]]], datatype: [int32, {name: s, datatype: [int8, float32], shape: [2]}]}'
for field in f0 s s/f0 s/f1; do
    run cat x.asdf rec/$field --to json
done

echo "floats alone"
inline '{data: [[1, null], [2, 3.0]], datatype: [int32, float64]}'
run cat x.asdf rec
run convert x.asdf f.npy --path rec
run convert x.asdf f.asdf --byteorder big
run convert x.asdf f.npy --path rec/f0
run convert x.asdf g.npy --path rec --accept-loss
run cat g.npy

echo "a mask besides"
inline '{data: [[null, a], [3, b], [4, null]], datatype: [int32, [ascii, 1]], mask: [false, true, false]}'
run cat x.asdf rec/f0 --to json
run cat x.asdf rec/f1 --to json
