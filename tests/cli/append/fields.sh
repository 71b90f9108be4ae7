# Fields go by their names, whatever their order; other names are refused unless --by-position asks for it.
cat >x.asdf <<'EOF'
#ASDF 1.0.0
#ASDF_STANDARD 1.5.0
%YAML 1.1
%TAG ! tag:stsci.edu:asdf/
--- !core/asdf-1.1.0
t: !core/ndarray-1.0.0
  data: [[1, 10], [2, 20]]
  datatype:
  - {name: a, datatype: int16, byteorder: little}
  - {name: b, datatype: int32, byteorder: little}
...
EOF
printf 'b,a\n30,3\n40,4\n' >turned.csv
printf 'c,a\n30,3\n40,4\n' >other.csv
cippus append x.asdf t turned.csv
cippus cat x.asdf t
cippus put x.asdf t '[:2]' turned.csv
cippus cat x.asdf t
cippus append x.asdf t other.csv 2>&1 || echo "status $?"
cippus put x.asdf t '[:2]' other.csv 2>&1 || echo "status $?"
cippus cat x.asdf t --to csv
cippus put x.asdf t '[:2]' other.csv --by-position
cippus append x.asdf t turned.csv --by-position
cippus cat x.asdf t
