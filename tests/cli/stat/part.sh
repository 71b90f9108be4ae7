cippus stat "$SAMPLES/night.asdf" masked "[1:]"
cippus stat --json "$SAMPLES/night.asdf" counts
cippus stat "$SAMPLES/night.asdf" stars/flux
