cippus convert --path masked --accept-loss "$SAMPLES/night.asdf" out.npy 2>&1 | sed "s|$SAMPLES/||"
cippus ls out.npy
cippus convert --path masked --accept-loss "$SAMPLES/night.asdf" - --format npy 2>/dev/null | cmp - out.npy
