# strides of a single row mean nothing, so they say nothing of the rows that follow; masks keep their shape
exec 2>&1
make() { python3 "$ROOT/tests/support/asdf_of_text.py" "$@"; }
make x.asdf 1,2,3 4,5 0,1 7,8,9 <<'END'
a: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: little, shape: [1, 3], strides: [1000, 1]}
m: !core/ndarray-1.0.0
  source: 1
  datatype: uint8
  byteorder: little
  shape: [2]
  mask: &mask !core/ndarray-1.0.0 {source: 2, datatype: bool8, byteorder: little, shape: [2]}
bad: *mask
s: !core/ndarray-1.0.0 {source: 3, datatype: uint8, byteorder: little, shape: ['*', 3], strides: [1000, 1]}
END
printf '\4\5\6\7\10\11' >rows.raw
cippus append x.asdf a rows.raw && cippus cat x.asdf a
cippus append x.asdf s rows.raw && cippus cat x.asdf s
cippus tree x.asdf --find strides
cippus verify --deep x.asdf
cp x.asdf was.asdf
cippus append x.asdf bad rows.raw || echo $?
cippus resize x.asdf bad 1 || echo $?
cippus append x.asdf m rows.raw || echo $?
cmp x.asdf was.asdf
