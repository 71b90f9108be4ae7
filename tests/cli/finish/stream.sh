cp "$SAMPLES/stream.asdf" x.asdf
cippus finish x.asdf --dry-run >plan
test -s plan
cmp x.asdf "$SAMPLES/stream.asdf"
cippus finish x.asdf
cippus ls x.asdf
cippus verify --deep x.asdf
cippus cat x.asdf --to raw >a
cippus cat "$SAMPLES/stream.asdf" --to raw | cmp - a
cippus finish x.asdf 2>&1 || echo "status $?"
