echo mine >out.ra
cippus convert "$SAMPLES/complex.ra" out.ra
