# What fails never looks complete: no byte of a value goes out, of an npy the header at most.
for to in raw npy text csv json; do
    cippus cat --to $to --dtype int16 "$SAMPLES/night.asdf" image >part 2>err && exit 1
    test "$(wc -c <part)" -le 128
    echo "$to $(sed "s|$SAMPLES/||" err)"
done
cippus cat --dtype int16 --accept-loss "$SAMPLES/night.asdf" image '[0, :4]'
cippus cat "$SAMPLES/night.asdf" image '[0, :4]'
cippus cat --dtype uint8 --accept-loss "$SAMPLES/night.asdf" image '[0, :4]'
