# On a terminal a table with a header; to a pipe the lines that scripts know.
terminal() {
    python3 "$ROOT/tests/support/on_terminal.py" 120 "$@" | sed "s,$SAMPLES/,,"
}
terminal cippus ls "$SAMPLES/night.asdf"
terminal cippus ls "$SAMPLES/cube.b2nd" "$SAMPLES/prices.bcolz"
terminal cippus ls --json "$SAMPLES/cube.b2nd"
echo "# wider than its column"
printf 'a_long_name,b_long_name,c_long_name,d_long_name,e_long_name\n1,2,3,4,5\n' >t.csv && cippus convert t.csv t.asdf
terminal cippus ls t.asdf
echo "# piped"
cippus ls "$SAMPLES/cube.b2nd"
