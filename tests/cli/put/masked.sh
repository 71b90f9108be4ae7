# Missing elements of an input stay missing, or are refused: their fill values are no data.
head='#ASDF 1.0.0
#ASDF_STANDARD 1.5.0
%YAML 1.1
%TAG ! tag:stsci.edu:asdf/
--- !core/asdf-1.1.0'
cat >in.asdf <<EOF
$head
m: !core/ndarray-1.0.0
  data: [1.0, 77.0, 3.0]
  mask: [false, true, false]
  datatype: float64
  shape: [3]
n: !core/ndarray-1.0.0
  data: [1.0, -999.0, 3.0]
  mask: [false, false, true]
  datatype: float64
  shape: [3]
bare: !core/ndarray-1.0.0
  data: [9.0, -999.0, 3.0]
  datatype: float64
  shape: [3]
none: !core/ndarray-1.0.0
  data: [5.0, 6.0, 7.0]
  mask: [false, false, false]
  datatype: float64
  shape: [3]
...
EOF
cat >x.asdf <<EOF
$head
plain: !core/ndarray-1.0.0
  data: [0.0, 0.0, 0.0]
value: !core/ndarray-1.0.0
  data: [0.0, 0.0, 0.0]
  datatype: float32
  mask: -999
  shape: [3]
...
EOF
cp x.asdf old.asdf
for verb in put append; do
    cippus $verb x.asdf plain in.asdf --path m 2>&1 || echo "$verb $?"
    cippus $verb x.asdf value in.asdf --path n 2>&1 || echo "$verb $?"
    cippus $verb x.asdf value in.asdf --path bare 2>&1 || echo "$verb $?"
    cmp x.asdf old.asdf
done
cippus put x.asdf value in.asdf --path m
cippus put x.asdf plain in.asdf --path none
cippus cat x.asdf value
cippus cat x.asdf plain
cippus append x.asdf value in.asdf --path m
cippus cat x.asdf value
cippus put x.asdf plain in.asdf --path m --accept-loss
cippus cat x.asdf plain
cippus put x.asdf value "[3:]" in.asdf --path bare --accept-loss
cippus cat x.asdf value
