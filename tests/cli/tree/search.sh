cippus tree --find "^(gain|time)\$" "$SAMPLES/night.asdf"
cippus tree --type array "$SAMPLES/roman.asdf"
cippus tree --type software --json "$SAMPLES/stream.asdf"
cippus tree --value "^WFI" "$SAMPLES/roman.asdf"
