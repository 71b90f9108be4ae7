# a codec beyond the standard is announced once, in the text as it stands
make() { python3 "$ROOT/tests/support/asdf_of_text.py" x.asdf 7:5000; }
convert() { cippus convert "$@" y.asdf --overwrite; cippus verify --deep y.asdf; sed -n '/^%YAML/,/^\.\.\./p' y.asdf | grep -a -v '^%'; }
make <<END
a: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: little, shape: [5000]} # mine
history:
  entries: []
END
convert --codec zstd x.asdf
mv y.asdf z.asdf; convert --codec zstd:9 z.asdf
convert --codec zlib x.asdf
convert --codec lz4f --byteorder big x.asdf
echo "a list of entries, as before 1.2.0, has no place for it"
make <<END
a: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: little, shape: [5000]}
history: []
END
convert --codec zstd x.asdf
