# An array that cannot be read is said, and the others are gone on with.
cat >x.asdf <<'EOF'
#ASDF 1.0.0
#ASDF_STANDARD 1.5.0
%YAML 1.1
%TAG ! tag:stsci.edu:asdf/
--- !core/asdf-1.1.0
a: !core/ndarray-1.0.0
  data: [300]
  datatype: int8
b: !core/ndarray-1.0.0
  data: [1, 2]
c: !core/ndarray-1.0.0
  source: 7
  datatype: int16
  byteorder: little
  shape: [2]
d: !core/ndarray-1.0.0
  data: [1.5, 2.5]
...
EOF
cippus stat x.asdf 2>&1 || echo "status $?"
cippus stat --json x.asdf 2>/dev/null || echo "status $?"
