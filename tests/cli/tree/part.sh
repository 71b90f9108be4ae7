cippus tree "$SAMPLES/roman.asdf" roman/meta
cippus tree --json "$SAMPLES/roman.asdf" roman/meta/instrument
cippus tree --depth 2 "$SAMPLES/roman.asdf"
cippus tree "$SAMPLES/roman.asdf" roman/data
