# On a terminal a table with a header; to a pipe the lines that scripts know.
terminal() {
    python3 "$ROOT/tests/support/on_terminal.py" 120 "$@" | sed "s,$SAMPLES/,,"
}
terminal cippus ls "$SAMPLES/night.asdf"
terminal cippus ls "$SAMPLES/cube.b2nd" "$SAMPLES/prices.bcolz"
terminal cippus ls --json "$SAMPLES/cube.b2nd"
echo "# piped"
cippus ls "$SAMPLES/cube.b2nd"
