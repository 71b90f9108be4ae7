cippus cat --mask "$SAMPLES/night.asdf" masked
cippus cat --mask --to raw "$SAMPLES/night.asdf" masked "[1]" | od -An -t u1
cippus cat --mask --to json "$SAMPLES/roman.asdf" roman/dq "[0, :3]"
