cippus tree "$SAMPLES/cube.b2nd"
cippus tree --json "$SAMPLES/cube.b2nd" vlmeta
