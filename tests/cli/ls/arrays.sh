cippus ls "$SAMPLES/night.asdf"
cippus ls --json "$SAMPLES/roman.asdf" | sed "s,$SAMPLES/,,g"
