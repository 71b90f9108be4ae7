cippus tree "$SAMPLES/night.asdf" instrument/nothing 2>&1 | sed "s|$SAMPLES/||"
