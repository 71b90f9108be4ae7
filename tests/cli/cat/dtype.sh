cippus cat --dtype int8 "$SAMPLES/night.asdf" masked "[0]"
cippus cat --as ">i8" "$SAMPLES/night.asdf" masked "[0, :2]"
cippus cat --dtype float32 "$SAMPLES/night.asdf" stars/position "[0]"
