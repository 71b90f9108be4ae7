# names of other files are relative to the file's folder: from another folder they lead elsewhere
exec 2>&1
make() { python3 "$ROOT/tests/support/asdf_of_text.py" "$@"; }
make x.asdf 1,2,3 <<'END'
a: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: little, shape: [3]}
e: !core/ndarray-1.0.0 {source: y.asdf, datatype: uint8, byteorder: little, shape: [2]}
here: {$ref: '#/a'}
END
make y.asdf 8,9 <<'END'
b: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: little, shape: [2]}
END
mkdir sub
cippus convert x.asdf sub/x.asdf && cippus cat sub/x.asdf e
echo explode: the source of e stays what it is
cippus explode x.asdf sub/e.asdf || echo $?
cippus explode x.asdf e.asdf && cippus cat e.asdf e
cippus explode x.asdf sub/e.asdf --accept-loss
cippus set x.asdf there '{$ref: "y.asdf#/b"}'
cippus set x.asdf far '{$ref: "http://example.org/y.asdf#/b"}'
for how in "--tree-slack 0" "--byteorder big" "--inline"; do
    echo "$how"
    cippus convert $how x.asdf sub/o.asdf --overwrite || echo $?
    cippus convert $how x.asdf o.asdf --overwrite && cippus cat o.asdf there
done
cippus implode x.asdf sub/i.asdf || echo $?
cippus convert x.asdf - --format asdf >/dev/null || echo $?
cippus convert --resolve-refs x.asdf sub/r.asdf && cippus cat sub/r.asdf there
(cd sub && cippus convert ../x.asdf ../o2.asdf && cippus cat ../o2.asdf there)
cippus convert - sub/s.asdf <x.asdf || echo $?
cippus convert - s.asdf <x.asdf || echo $?
echo a reference by the name of the file itself
make n.asdf 1,2,3 <<'END'
a: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: little, shape: [3]}
b: {$ref: 'n.asdf#/a'}
c: [{$ref: './n.asdf#/a'}, {$ref: '#/a'}]
END
for how in "--tree-slack 0" "--byteorder big"; do
    cippus convert $how n.asdf m.asdf --overwrite || echo $?
    cippus convert $how n.asdf sub/n.asdf --overwrite && cippus cat sub/n.asdf b
done
cippus explode n.asdf m.asdf || echo $?
cippus implode n.asdf m.asdf || echo $?
cippus convert n.asdf m.asdf --accept-loss 2>/dev/null && cippus cat m.asdf b
echo many of them
{
    echo 'own: {$ref: "m.asdf#/x"}'
    for i in 1 2 3 4 5 6 7 8 9 10; do
        echo "n$i: {\$ref: \"y$i.asdf#/b\"}"
    done
} | make m.asdf
for how in "--tree-slack 0" "--byteorder big"; do
    cippus convert $how m.asdf sub/o.asdf --overwrite || echo $?
done
cippus explode m.asdf sub/p.asdf || echo $?
cippus convert m.asdf sub/p.asdf --accept-loss
