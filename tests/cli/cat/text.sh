cippus cat "$SAMPLES/complex.ra"
cippus cat "$SAMPLES/night.asdf" masked
cippus cat "$SAMPLES/night.asdf" stars
cippus cat "$SAMPLES/night.asdf" spectrum "[:3]"
cippus cat "$SAMPLES/night.asdf" masked "[1, 2]"
