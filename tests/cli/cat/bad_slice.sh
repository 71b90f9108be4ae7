cippus cat "$SAMPLES/night.asdf" image "[500]" 2>&1 | sed "s|$SAMPLES/||"
cippus cat "$SAMPLES/night.asdf" image "[1:2:0]" 2>&1 | sed "s|$SAMPLES/||"
cippus cat "$SAMPLES/night.asdf" image/nothing 2>&1 | sed "s|$SAMPLES/||"
cippus cat "$SAMPLES/night.asdf" 2>&1 | sed "s|$SAMPLES/||"
