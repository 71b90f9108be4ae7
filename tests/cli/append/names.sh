# arrays whose path is not their node's: integer keys, a quantity's value, references, odd keys
block() {
    printf '\323BLK\000\060\0\0\0\0\0\0\0\0'
    for i in 1 2 3; do printf '\0\0\0\0\0\0\0\020'; done
    printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
    printf "\\00$1\\0\\0\\0\\0\\0\\0\\0\\00$2\\0\\0\\0\\0\\0\\0\\0"
}
array='!core/ndarray-1.1.0 {datatype: int64, byteorder: little, shape: [2], offset: 0, source:'
{
    cat <<END
#ASDF 1.0.0
#ASDF_STANDARD 1.6.0
%YAML 1.1
%TAG ! tag:stsci.edu:asdf/
---
0x10: $array 0}
w: !unit/quantity-1.1.0
  value: $array 1}
  unit: m
v: !unit/quantity-1.1.0
  value: !core/ndarray-1.1.0 [3.5, 4]
  unit: m
r: {\$ref: "#w/value"}
? [k]
: !core/ndarray-1.1.0 [5]
...
END
    block 1 2
    block 3 4
} >x.asdf
printf '5\n' >v.csv
for path in 16 w w/value v r '?4'; do
    cippus append x.asdf "$path" v.csv 2>&1 || echo "status $?"
done
cippus ls x.asdf
for path in 16 w v '?4'; do
    cippus cat x.asdf "$path"
done
cippus resize x.asdf w 1
cippus tree x.asdf w
cippus verify --deep x.asdf
tr -d '\0' <x.asdf | sed -n '/^---/,/^\.\.\./p'
