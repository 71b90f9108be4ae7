cippus info --query "$SAMPLES/complex.ra"
