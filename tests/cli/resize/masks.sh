# a mask of fewer axes stays with the array while these keep their lengths
exec 2>&1
python3 "$ROOT/tests/support/asdf_of_text.py" x.asdf 1,2,3,4,5,6 0,1,0 <<'END'
m: !core/ndarray-1.0.0
  source: 0
  datatype: uint8
  byteorder: little
  shape: [2, 3]
  mask: !core/ndarray-1.0.0 {source: 1, datatype: bool8, byteorder: little, shape: [3]}
END
cippus resize x.asdf m 2,4 || echo $?
cippus resize x.asdf m 3,3
cippus cat x.asdf m --mask
cippus verify --deep x.asdf
