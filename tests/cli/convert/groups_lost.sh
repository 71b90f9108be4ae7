# What groups of Zarr and HDF5 have no place for is told: tags, other items of a list, keys that differ by their type alone.
exec 2>&1
cat > k.asdf <<'END'
#ASDF 1.0.0
#ASDF_STANDARD 1.5.0
%YAML 1.1
%TAG ! tag:stsci.edu:asdf/
--- !core/asdf-1.1.0
m: !<tag:x.org:thing-1.0>
  a: !core/ndarray-1.0.0 {data: [1, 2], datatype: int32}
  n: 5
k:
  1: !core/ndarray-1.0.0 {data: [1, 2], datatype: int32}
  "1": hello
g:
  2: {a: !core/ndarray-1.0.0 {data: [1, 2], datatype: int32}}
  "2": {b: 7}
l: !<tag:x.org:list-1.0>
  - !core/ndarray-1.0.0 {data: [1, 2], datatype: int32}
  - 6
...
END
for out in k.zarr k.h5; do
    cippus convert k.asdf $out || cippus convert --accept-loss k.asdf $out
    cippus tree $out
done
