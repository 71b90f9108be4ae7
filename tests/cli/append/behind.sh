# bytes behind the last block are nobody's to drop
exec 2>&1
make() { python3 "$ROOT/tests/support/asdf_of_text.py" "$@"; }
make x.asdf 1,2,3 <<END
a: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: little, shape: [3]}
END
printf 'precious' >>x.asdf
cp x.asdf was.asdf
printf '\4' >row.raw
cippus append x.asdf a row.raw || echo $?
cmp x.asdf was.asdf
cippus set x.asdf long "$(yes 'a text ' | head -c 9000)" || echo $?
cmp x.asdf was.asdf
cippus put x.asdf a '[0]' row.raw && tail -c 8 x.asdf && echo
cippus defrag x.asdf
cippus append x.asdf a row.raw && cippus cat x.asdf a && cippus verify --deep x.asdf
