# a Zarr store: groups, an array of fill values with one chunk, one that is refused
exec 2>&1
mkdir -p s.zarr/g/x/c/1 s.zarr/g/y
printf '{"zarr_format": 3, "node_type": "group", "attributes": {"title": "tides"}}' >s.zarr/zarr.json
printf '{"zarr_format": 3, "node_type": "group"}' >s.zarr/g/zarr.json
array='{"zarr_format": 3, "node_type": "array", "shape": [3, 3], "data_type": "uint8", "fill_value": 7,
"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 2]}},
"chunk_key_encoding": {"name": "default"}, "dimension_names": ["t", null], "attributes": {"unit": "m"}, "codecs": ['
printf '%s{"name": "bytes"}]}' "$array" >s.zarr/g/x/zarr.json
printf '%s{"name": "bytes"}, {"name": "lzma"}]}' "$array" >s.zarr/g/y/zarr.json
printf 'ABCD' >s.zarr/g/x/c/1/0
cippus ls s.zarr
cippus tree s.zarr
cippus info s.zarr
cippus cat s.zarr g/x
cippus cat s.zarr/g/x '[2]'
cippus cat s.zarr g/y || echo "exit $?"
cippus verify --deep s.zarr || echo "exit $?"
printf 'ABC' >s.zarr/g/x/c/1/0
printf 'ABCD' >s.zarr/g/x/c/7
cippus verify s.zarr || echo "exit $?"
printf 'ABCD' >s.zarr/g/x/c/1/0
cippus convert --accept-loss s.zarr/g/x x.npy && cippus cat x.npy
