# Each fault is said once; a codec that is not known is no damage.
try() {
    cippus verify "$@" || echo "status $?"
}
cp "$SAMPLES/night.asdf" x.asdf
printf 'X' | dd of=x.asdf bs=1 seek=84195 conv=notrunc status=none
try x.asdf
try --deep x.asdf
cp "$SAMPLES/night.asdf" x.asdf
printf 'xxxx' | dd of=x.asdf bs=1 seek=84205 conv=notrunc status=none
try --deep x.asdf
printf '#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%%YAML 1.1\n%%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\na: !core/ndarray-1.1.0 {source: no.asdf, datatype: uint8, byteorder: little, shape: [3]}\nb: !core/ndarray-1.1.0 {source: 7, datatype: uint8, byteorder: little, shape: [3]}\n...\n' > x.asdf
try x.asdf
try --deep x.asdf
printf '#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%%YAML 1.1\n%%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\na: !core/ndarray-1.1.0 {data: [1, 2, 3], mask: !core/ndarray-1.1.0 {source: 7, datatype: bool8, byteorder: little, shape: [3]}}\n...\n' > m.asdf
try m.asdf
