# The facts of a picture: limits, steps, what was read.
show() {
    cippus show --json "$@" | sed "s,$SAMPLES/,,"
}
show "$SAMPLES/night.asdf" image
show "$SAMPLES/night.asdf" image '[10:100:3, ::-1]' --width 32 --height 32 --scale log
show "$SAMPLES/night.asdf" masked
show "$SAMPLES/cube.b2nd" 2>/dev/null
show "$SAMPLES/night.asdf" stars/flux
show "$SAMPLES/cube.b2nd" --max-nbytes 2000 2>/dev/null
