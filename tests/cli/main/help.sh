# the overview; a command with its usual options; all of them; and every line within 80 columns
cippus --help
cippus cat --help
cippus help rm --all
echo "# the same in other words"
cippus help >a && cippus --help >b && cippus -h >c && cmp a b && cmp a c
cippus help ls >a && cippus ls --help >b && cippus ls -h x y >c && cmp a b && cmp a c
cippus help nothing 2>&1 || echo "exit $?"
cippus ls --all "$SAMPLES/tide.blp" 2>&1 || echo "exit $?"
echo "# options of one format"
cippus convert --help --all --format npy | grep -c ': .*=\.\.\.' || true
cippus convert --help --all --format bloscpack | grep -o '^ *[a-z0-9]*: [a-z_]*='
echo "# lines that are too long, help that is, and commands without examples"
verbs=$(cippus --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p')
for verb in $verbs; do
    cippus help "$verb" >short
    cippus help "$verb" --all >long
    { [ "$(wc -l <short)" -le 28 ] && grep -q "^  .*cippus $verb " short; } || echo "$verb"
    awk -v verb="$verb" 'length > 80 { print verb ": " $0 }' long
done
cippus --help | awk 'length > 80'
echo "# as wide as the terminal"
python3 "$ROOT/tests/support/on_terminal.py" 40 cippus help rm
