cippus convert "$SAMPLES/complex.ra" nowhere/out.ra
