# A line that holds nothing but a missing element is "", not empty: readers pass over empty lines.
cat >m.asdf <<'EOF'
#ASDF 1.0.0
#ASDF_STANDARD 1.5.0
%YAML 1.1
%TAG ! tag:stsci.edu:asdf/
--- !core/asdf-1.1.0
row: !core/ndarray-1.0.0
  data: [1.5, null, 3.0]
column: !core/ndarray-1.0.0
  data: [[1.5], [null], [3.0]]
pairs: !core/ndarray-1.0.0
  data: [[1.5, null], [null, null]]
...
EOF
cippus cat m.asdf row --to csv | tee row.csv
cippus cat m.asdf column --to csv
cippus cat m.asdf pairs --to csv
cippus cat row.csv
