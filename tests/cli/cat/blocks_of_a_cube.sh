cippus ls "$SAMPLES/cube.b2nd"
cippus cat "$SAMPLES/cube.b2nd" '[3, 10:14, 12:18]'
cippus cat --block 1 "$SAMPLES/cube.b2nd" | wc -c
