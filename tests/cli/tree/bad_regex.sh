cippus tree --find "(" "$SAMPLES/night.asdf"
