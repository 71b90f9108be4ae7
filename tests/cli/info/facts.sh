cippus info "$SAMPLES/stream.asdf" | sed "s|^file: .*/|file: |"
cippus info --json "$SAMPLES/complex.ra" | sed "s|\"file\": \"[^\"]*/|\"file\": \"|"
