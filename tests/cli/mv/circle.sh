# a $ref does not come to lead to itself; one that was in a circle stays
exec 2>&1
make() { python3 "$ROOT/tests/support/asdf_of_text.py" "$@"; }
make x.asdf 1,2,3 <<'END'
a: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: little, shape: [3]}
r: {$ref: '#/a'}
s: {$ref: '#/r'}
END
cp x.asdf same.asdf
cippus mv --force x.asdf r a || echo $?
cippus mv --force x.asdf s a || echo $?
cippus set --force x.asdf a '{$ref: "#/s"}' || echo $?
cmp x.asdf same.asdf
cippus set x.asdf t '{$ref: "#/s"}'
cippus cat x.asdf t
make y.asdf 1,2,3 <<'END'
a: {$ref: '#/b'}
b: {$ref: '#/a'}
END
cippus set y.asdf c 1
cippus tree y.asdf | tail -4
