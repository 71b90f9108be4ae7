cippus convert "$SAMPLES/roman.asdf" out.npy 2>&1 | sed "s|$SAMPLES/||"
cippus convert --path roman/data "$SAMPLES/roman.asdf" out.npy 2>&1 | sed "s|$SAMPLES/||"
ls
