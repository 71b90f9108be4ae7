# On a terminal a table with a header; to a pipe the lines that scripts know.
unset NO_COLOR
export TERM=dumb
terminal() {
    python3 "$ROOT/tests/support/on_terminal.py" "${WIDTH-120}" "$@" | sed "s,$SAMPLES/,,"
}
terminal cippus ls "$SAMPLES/night.asdf"
terminal cippus ls "$SAMPLES/cube.b2nd" "$SAMPLES/prices.bcolz"
terminal cippus ls --json "$SAMPLES/cube.b2nd"
echo "# wider than its column"
printf 'a_long_name,b_long_name,c_long_name,d_long_name,e_long_name\n1,2,3,4,5\n' >t.csv && cippus convert t.csv t.asdf
terminal cippus ls t.asdf
echo "# narrower than the table, wide enough for all, and too narrow for all columns"
WIDTH=90 terminal cippus ls "$SAMPLES/early.asdf"
WIDTH=200 terminal cippus ls "$SAMPLES/early.asdf"
WIDTH=60 terminal cippus ls "$SAMPLES/night.asdf"
echo "# colours: where the terminal has them, and nobody said no"
TERM=xterm terminal cippus ls "$SAMPLES/early.asdf" | sed 's/\x1b/ESC/g'
NO_COLOR=1 TERM=xterm terminal cippus ls "$SAMPLES/early.asdf" | grep -c "$(printf '\033')" || true
TERM=xterm cippus ls "$SAMPLES/early.asdf" | grep -c "$(printf '\033')" || true
echo "# with tabs"
cippus ls --tsv "$SAMPLES/night.asdf" "$SAMPLES/cube.b2nd" | sed "s,$SAMPLES/,,"
echo "# piped"
cippus ls "$SAMPLES/cube.b2nd"
