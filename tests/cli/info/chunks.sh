cippus info "$SAMPLES/cube.b2nd" | sed "s,$SAMPLES/,,g"
cippus info --chunks "$SAMPLES/cube.b2nd"
