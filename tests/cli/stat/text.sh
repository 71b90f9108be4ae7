cippus stat "$SAMPLES/night.asdf" stars 2>&1 | sed "s|$SAMPLES/||"
