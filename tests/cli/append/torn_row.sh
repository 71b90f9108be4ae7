# A row that a crash tore is left out by readers, stays where it is when something else changes, and goes with the next rows.
cp "$SAMPLES/stream.asdf" x.asdf
rows=$(cippus cat x.asdf | wc -l)
cippus cat x.asdf '[0:1]' --to raw >row.raw
cippus cat x.asdf >want
printf 'torn' >>x.asdf
cippus cat x.asdf | cmp - want
cippus set x.asdf a 1
cippus cat x.asdf | cmp - want
cippus set x.asdf long "$(printf '%06000d' 0)" --string
cippus cat x.asdf | cmp - want
cp x.asdf y.asdf
cippus append x.asdf row.raw
cippus cat x.asdf '[-1:]'
test "$(cippus cat x.asdf | wc -l)" = $((rows + 1))
cippus finish y.asdf
cippus cat y.asdf | cmp - want
cippus verify --deep y.asdf
