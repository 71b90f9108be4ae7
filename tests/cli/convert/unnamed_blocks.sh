# blocks that no ndarray names, but another object may, keep their numbers and bytes
exec 2>&1
make() { python3 "$ROOT/tests/support/asdf_of_text.py" "$@" 10,11,12,13 20,21 30,31,32,33 40,41 50:5; }
make x.asdf <<END
b: !core/ndarray-1.0.0 {source: 3, datatype: uint8, byteorder: little, shape: [2]}
chunks: !<asdf://example.org/tags/chunked-1.0.0> {map: 4, at: [0, 2]}
a: !core/ndarray-1.0.0 {source: 1, datatype: uint8, byteorder: little, shape: [2]}
END
blocks() { # the bytes of each, and the arrays
    for i in $(seq 0 $(($(cippus info --blocks "$1" | wc -l) - 2))); do
        echo $i: $(cippus cat "$1" --block $i | od -An -tu1)
    done
    echo a: $(cippus cat "$1" a) b: $(cippus cat "$1" b)
}
blocks x.asdf >want; cat want
for how in "--byteorder big" "--standard 1.6.0" --resolve-refs "--codec zlib --byteorder big"; do
    echo "$how"
    cippus convert $how x.asdf y.asdf --overwrite && blocks y.asdf | cmp - want && cippus verify --deep y.asdf
done
echo inline: where numbers change it is a loss; cippus convert --inline x.asdf z.asdf || echo $?
cippus convert --inline x.asdf z.asdf --accept-loss && blocks z.asdf && cippus verify --deep z.asdf
echo as YAML; cippus convert x.asdf x.yaml || echo $?
echo exploded; cippus explode x.asdf e.asdf || echo $?; ls
cippus explode x.asdf e.asdf --accept-loss && blocks e.asdf
cippus explode --path b x.asdf f.asdf || echo $?
echo imploded; python3 "$ROOT/tests/support/asdf_of_text.py" g.asdf 10,11 <<END
chunks: !<asdf://example.org/tags/chunked-1.0.0> {map: 0}
a: !core/ndarray-1.0.0 {source: h.asdf, datatype: uint8, byteorder: little, shape: [2]}
END
cp x.asdf h.asdf; cippus implode g.asdf i.asdf && echo 0: $(cippus cat i.asdf --block 0 | od -An -tu1) a: $(cippus cat i.asdf a)
echo defrag; cippus defrag x.asdf || echo $?
blocks x.asdf | cmp - want; cippus defrag x.asdf --accept-loss; blocks x.asdf
echo by the name of the only array; make one.asdf <<END
chunks: !<asdf://example.org/tags/chunked-1.0.0> {map: 4}
a: !core/ndarray-1.0.0 {source: 1, datatype: uint8, byteorder: little, shape: [2]}
END
cippus convert --path "" one.asdf o.asdf && cippus info o.asdf | grep blocks: && echo 4: $(cippus cat o.asdf --block 4 | od -An -tu1)
echo a mask beside nulls names its block; python3 "$ROOT/tests/support/asdf_of_text.py" n.asdf 1,0,0 <<END
a: !core/ndarray-1.0.0
  data: [1, null, 3]
  datatype: int16
  mask: !core/ndarray-1.0.0 {source: 0, datatype: bool8, byteorder: little, shape: [3]}
END
cippus convert --inline n.asdf p.asdf && cippus info p.asdf | grep blocks: && cippus cat p.asdf a
