cp "$SAMPLES/roman.asdf" "$SAMPLES/complex.ra" .
cippus ls roman.asdf complex.ra
