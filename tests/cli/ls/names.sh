# Columns of tables by name, a quantity once.
cat >x.asdf <<'END'
#ASDF 1.0.0
#ASDF_STANDARD 1.6.0
%YAML 1.1
%TAG ! tag:stsci.edu:asdf/
--- !core/asdf-1.1.0
exposure: !unit/quantity-1.3.0
  unit: !unit/unit-1.0.0 s
  value: !core/ndarray-1.1.0 [1.5, 2.5]
table: !<tag:astropy.org:astropy/table/table-1.3.0>
  colnames: [id, flux]
  columns:
  - !table/column-1.2.0
    data: !core/ndarray-1.1.0 [1, 2, 3]
    name: id
  - !table/column-1.2.0
    data: !core/ndarray-1.1.0 [1.0, 2.0, 3.0]
    name: "fl\x1bux"
value: !core/ndarray-1.1.0 [7]
...
END
cippus ls x.asdf
cippus ls --json x.asdf
cippus stat x.asdf
cippus cat x.asdf exposure
cippus cat x.asdf exposure/value
cippus cat x.asdf table/columns/1/data
