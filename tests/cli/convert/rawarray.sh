cippus convert "$SAMPLES/complex.ra" out.ra && cmp out.ra "$SAMPLES/complex.ra" && md5sum <out.ra
cippus convert --codec lz4 "$SAMPLES/phantom.ra" z.ra --accept-loss 2>/dev/null; cippus info z.ra
cippus cat z.ra --to raw | md5sum; cippus cat "$SAMPLES/phantom.ra" --to raw | md5sum
