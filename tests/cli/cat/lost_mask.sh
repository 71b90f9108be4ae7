cippus cat --to npy "$SAMPLES/night.asdf" masked 2>&1 >/dev/null | sed "s,$SAMPLES/,,"
