# What has no picture, and options that are none, with what was expected.
exec 2>&1
show() {
    cippus show "$@" 2>&1 | sed "s,$SAMPLES/,,"
}
show "$SAMPLES/night.asdf"
show "$SAMPLES/night.asdf" stars
show "$SAMPLES/night.asdf" stars/star
show "$SAMPLES/night.asdf" image '[0, 0]'
show "$SAMPLES/night.asdf" image '[0:0]'
show "$SAMPLES/night.asdf" imag
show "$SAMPLES/night.asdf" image --map jet
show "$SAMPLES/night.asdf" image --scale cubic
show "$SAMPLES/night.asdf" image --limits 1
show "$SAMPLES/night.asdf" image --limits 1e400,2
show "$SAMPLES/night.asdf" image --limits 0x1,2
show "$SAMPLES/night.asdf" image --limits nan,2
show "$SAMPLES/night.asdf" image --limits 1,2,
show "$SAMPLES/night.asdf" image --percentile 1,0x10
show "$SAMPLES/night.asdf" image --limits 2,1
show "$SAMPLES/night.asdf" image --limits 0,1 --scale log
show "$SAMPLES/night.asdf" image --limits 0,1 --percentile 1,99
show "$SAMPLES/night.asdf" image --percentile 0,0
show "$SAMPLES/night.asdf" image --percentile 1,101
show "$SAMPLES/night.asdf" image --bad red
show "$SAMPLES/night.asdf" image --width 20000 -o x.png
show "$SAMPLES/night.asdf" image --width 4294967297
show "$SAMPLES/night.asdf" image --height 0
show "$SAMPLES/night.asdf" image --zoom x
show "$SAMPLES/night.asdf" image --format sixel
show "$SAMPLES/night.asdf" image --reduce mean --max-nbytes 1000
show "$SAMPLES/night.asdf" image --json -o x.png
show "$SAMPLES/night.asdf" image -o x.jpg
touch there.png
show "$SAMPLES/night.asdf" image -o there.png
show "$SAMPLES/night.asdf" stars -o x.png
cippus show "$SAMPLES/night.asdf" image -o there.png --overwrite && head -c 4 there.png | cut -c2-
ls
