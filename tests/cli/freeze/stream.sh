cp "$SAMPLES/stream.asdf" x.asdf
cippus freeze x.asdf --dry-run >plan
test -s plan
cmp x.asdf "$SAMPLES/stream.asdf"
cippus freeze x.asdf
cippus ls x.asdf
cippus verify --deep x.asdf
cippus cat x.asdf --to raw >a
cippus cat "$SAMPLES/stream.asdf" --to raw | cmp - a
cippus freeze x.asdf 2>&1 || echo "status $?"
