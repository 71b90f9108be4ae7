cippus stat "$SAMPLES/night.asdf"
