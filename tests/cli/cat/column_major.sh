cippus cat --column-major "$SAMPLES/complex.ra" "[:, 0]"
cippus cat "$SAMPLES/complex.ra" "[0]"
