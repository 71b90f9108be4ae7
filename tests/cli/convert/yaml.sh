cippus convert "$SAMPLES/complex.ra" c.yaml && sed 's/version: [0-9.]*}/version: X}/' c.yaml
cippus convert c.yaml back.ra --accept-loss 2>/dev/null && cippus cat --to raw back.ra | md5sum; cippus cat --to raw "$SAMPLES/complex.ra" | md5sum
