cippus info --query "$SAMPLES/night.asdf" 2>&1 | sed "s|$SAMPLES/||"
