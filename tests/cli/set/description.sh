# what is within an ndarray's node, and what no block has, is not set
exec 2>&1
make() { python3 "$ROOT/tests/support/asdf_of_text.py" "$@"; }
make x.asdf 1,2,3 <<END
a: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: little, shape: [3]}
i: !core/ndarray-1.0.0 {data: [1, 2], datatype: uint8}
l: !core/ndarray-1.0.0 [1, 2]
END
cp x.asdf was.asdf
try() { "$@" || echo $?; cmp x.asdf was.asdf; }
try cippus set x.asdf a/note text
try cippus set x.asdf /a/deep/note text
try cippus set x.asdf i/data/0 5
try cippus set x.asdf l/0 5
try cippus rm x.asdf i/data
try cippus set x.asdf a/mask '[1]'
try cippus set x.asdf b '!core/ndarray-1.0.0 {source: 1, datatype: uint8, byteorder: little, shape: [3]}'
try cippus set x.asdf b '{c: [!core/ndarray-1.0.0 {source: -2, datatype: uint8, byteorder: little, shape: [3]}]}'
cippus set x.asdf b '!core/ndarray-1.0.0 {source: -1, datatype: uint8, byteorder: little, shape: [2]}'
cippus set x.asdf a/mask 2
cippus ls x.asdf
cippus rm x.asdf a/mask
cippus rm x.asdf b
cippus verify x.asdf
