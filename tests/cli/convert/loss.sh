cippus convert "$SAMPLES/roman.asdf" out.npy 2>&1 | sed "s|$SAMPLES/||"
echo one array: the rest was not asked for, its name is told
cippus convert --path roman/data "$SAMPLES/roman.asdf" out.npy 2>&1 | sed "s|$SAMPLES/||"
ls
make() { python3 "$ROOT/tests/support/asdf_of_text.py" "$@"; }
make one.asdf 1,2,3 <<'END'
asdf_library: !core/software-1.0.0 {name: x, version: 1.0.0}
history: {entries: [!core/history_entry-1.0.0 {description: made}]}
a: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: little, shape: [3]}
END
cippus convert one.asdf one.npy 2>&1 && cippus cat one.npy
cippus set one.asdf note text
cippus convert one.asdf two.npy 2>&1 || echo $?
