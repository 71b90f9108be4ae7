cippus stat "$SAMPLES/night.asdf" masked "[1:]"
cippus stat --json "$SAMPLES/night.asdf" counts | sed "s,$SAMPLES/,,"
cippus stat "$SAMPLES/night.asdf" stars/flux
