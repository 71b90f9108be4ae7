# a $ref that the tree would leave without its node is refused, one that never had any is not
exec 2>&1
make() { python3 "$ROOT/tests/support/asdf_of_text.py" "$@"; }
make x.asdf 1,2,3 <<'END'
a: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: little, shape: [3]}
m: {k 1: {n: [5, 6]}}
to:
  a: {$ref: '#/a'}
  name: {$ref: 'x.asdf#/m/k%201/n/1'}
  nowhere: {$ref: '#/no/such'}
  other: {$ref: 'y.asdf#/a'}
END
cp x.asdf was.asdf
try() { "$@" || echo $?; cmp x.asdf was.asdf; }
try cippus rm x.asdf a
try cippus rm x.asdf m
try cippus rm x.asdf 'm/k 1/n/0'
try cippus set x.asdf m 5
try cippus set x.asdf to/new '{$ref: "#/m/none"}'
cat >rename.sh <<'END'
sed -i 's/^m:/b:/' "$1"
END
(EDITOR="sh rename.sh" cippus edit x.asdf 2>&1 || echo $?) | sed '/kept in/d'; cmp x.asdf was.asdf
echo 'sed -i s,asdf#/m,asdf#/b, "$1"' >>rename.sh
EDITOR="sh rename.sh" cippus edit x.asdf
cippus rm x.asdf to/a && cippus rm x.asdf a && cippus rm x.asdf to/nowhere && cippus tree x.asdf
# keys are looked for as the reader does: quotes belong to a key, ~1 is its slash
make k.asdf 1,2,3 <<'END'
k: {'"q"': 5, q: 6, 'a/b': {'c~d': 7}}
to: [{$ref: '#/k/"q"'}, {$ref: '#/k/a~1b/c~0d'}, {$ref: './k.asdf#/k/a~1b'}]
END
cp k.asdf was.asdf
try() { "$@" || echo $?; cmp k.asdf was.asdf; }
try cippus rm k.asdf 'k/""q""'
try cippus rm k.asdf k/a~1b/c~0d
cippus rm k.asdf k/q && cippus tree k.asdf k
