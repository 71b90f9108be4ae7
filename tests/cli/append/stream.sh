cp "$SAMPLES/stream.asdf" x.asdf
cippus cat x.asdf '[0:3]' --to raw >rows.raw
cippus append x.asdf rows.raw
cat rows.raw rows.raw | cippus append x.asdf events - --from raw
cippus append x.asdf events - --from raw --durability process <rows.raw
cippus cat x.asdf '[0:2]' --to npy >rows.npy
cippus append x.asdf rows.npy
cippus ls x.asdf
cippus cat x.asdf '[-5:-2]' --to raw | cmp - rows.raw
cippus cat x.asdf '[:20]' --to raw >a
cippus cat "$SAMPLES/stream.asdf" --to raw | cmp - a
cippus verify --deep x.asdf
cp x.asdf before.asdf
cippus append x.asdf rows.raw --dry-run >plan
test -s plan
cmp x.asdf before.asdf
# rows before a torn one are kept
{ cat rows.raw; printf 'torn'; } | cippus append x.asdf - --from raw 2>&1 || echo "status $?"
cippus ls x.asdf
