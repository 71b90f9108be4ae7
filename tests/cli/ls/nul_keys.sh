# a key with a NUL is named by the number of its pair, never by what a C string would leave of it
exec 2>&1
cat >x.asdf <<'END'
#ASDF 1.0.0
%YAML 1.1
%TAG ! tag:stsci.edu:asdf/
--- !core/asdf-1.1.0
a: !core/ndarray-1.1.0 [1, 2]
"a\0b": !core/ndarray-1.1.0 [3, 4, 5]
m: {"x\0": 1, "x": 2, "x\0y": {k: !core/ndarray-1.1.0 [7, 8]}, [1]: z, "?3": q}
r: {$ref: '#/a%00b'}
t: !core/ndarray-1.1.0 {data: [[1, 2]], datatype: [{name: "f\0g", datatype: int8}, {name: f, datatype: int8}]}
...
END
cippus ls x.asdf
for path in a '?1' 'm/?2/k'; do cippus cat x.asdf "$path"; done
for path in 'm/?0' m/x 'm/?3' 'm/"?3"'; do cippus tree x.asdf "$path"; done
cippus zarr-refs x.asdf 2>&1 | grep '/0"'
cippus put x.asdf '?1' 0:1 9
cippus set x.asdf 'm/?0' 7
cippus set x.asdf 'm/?2/z' 8
cippus rm x.asdf 'm/"?3"'
cippus tree x.asdf
cippus cat x.asdf a
cippus cat x.asdf '?1'
cippus rm x.asdf t
cippus rm x.asdf r
cippus convert x.asdf y.asdf
cippus diff x.asdf y.asdf && echo same
