# What is missing among inline data: nulls and an explicit mask together, values compared as numbers.
mask() {
    printf '#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%%YAML 1.1\n%%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\na: !core/ndarray-1.1.0 %s\n...\n' "$1" > x.asdf
    echo "$1"
    cippus cat x.asdf a --mask 2>&1 || echo "status $?"
}
mask '{data: [1, null, 3], mask: [true, false, false]}'
mask '{data: [1, null, 3], mask: 3}'
mask '{data: [1.5, null, .nan], mask: .nan}'
mask '{data: [[1, null], [3, 4]], mask: [[true], [false]]}'
mask '{data: [[1, null], [3, 4]], mask: [false, true]}'
mask '{data: [a, null, c]}'
mask '{data: [true, null]}'
mask '{data: [!core/complex-1.0.0 1+2j, null]}'
mask '{data: [!core/complex-1.0.0 1+2j, !core/complex-1.0.0 nan+0j, !core/complex-1.0.0 0+nanj], datatype: complex128, mask: .nan}'
mask '{data: [!core/complex-1.0.0 1+2j, !core/complex-1.0.0 3+0j], datatype: complex128, mask: !core/complex-1.0.0 1+2j}'
mask '{data: [!core/complex-1.0.0 1+2j, !core/complex-1.0.0 3+0j], datatype: complex64, mask: 3}'
mask '{data: [true, false], datatype: bool8, mask: -999}'
mask '{data: [true, false], datatype: bool8, mask: 1}'
mask '{data: [true, false], datatype: bool8, mask: false}'
mask '{data: [1, 0, 5], datatype: int8, mask: true}'
mask '{data: [1, 0, 5], datatype: int8, mask: 300}'
mask '{data: [null, [1, 2.5]], datatype: [int32, float64]}'
cat_record() {
    mask "$1" > /dev/null
    echo "$1"
    cippus cat x.asdf a 2>&1 || echo "status $?"
}
cat_record '{data: [[1, null], [2, 3.0]], datatype: [int32, float64]}'
cat_record '{data: [[1, null], [null, 3.0]], datatype: [int32, float64]}'
cat_record '{data: [[1, [2.0, null]]], datatype: [int32, {name: v, datatype: float32, shape: [2]}]}'
cat_record '{data: [[1, [a, null]]], datatype: [int32, {name: v, datatype: [ucs4, 2], shape: [2]}]}'
cat_record '{data: [[1, [2, null]]], datatype: [int32, {name: in, datatype: [int8, bool8]}]}'
