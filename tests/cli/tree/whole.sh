cippus tree "$SAMPLES/night.asdf"
