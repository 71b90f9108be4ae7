cippus info --yaml "$SAMPLES/complex.ra"
