cippus info --blocks "$SAMPLES/night.asdf"
cippus info --blocks --json "$SAMPLES/stream.asdf" | sed "s,$SAMPLES/,,g"
