cippus cat --to raw "$SAMPLES/complex.ra" | cmp - "$SAMPLES/complex.ra" -i 0:64
cippus cat --to raw "$SAMPLES/night.asdf" masked "[0, 1:3]" | od -An -t fD
