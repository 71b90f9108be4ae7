cippus tree "$SAMPLES/roman.asdf" roman/meta
cippus tree --json "$SAMPLES/roman.asdf" roman/meta/instrument
cippus tree --depth 2 "$SAMPLES/roman.asdf"
cippus tree "$SAMPLES/roman.asdf" roman/data
# "." is the root, as ls and cat have it; such a key goes in quotes
cippus tree "$SAMPLES/roman.asdf" . --depth 1
printf '#ASDF 1.0.0\n%%YAML 1.1\n---\n.: 1\n...\n' >dot.asdf
cippus tree dot.asdf .
cippus tree dot.asdf '"."'
