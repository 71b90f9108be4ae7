# what bash offers behind a word: commands, options, keys of --option, arrays
cp "$SAMPLES/night.asdf" .
bash <<'EOF'
. "$ROOT/tools/completion/cippus.bash"
offer() { COMP_WORDS=(cippus "$@"); COMP_CWORD=$#; COMPREPLY=(); _cippus; echo "${COMPREPLY[@]}"; }
offer con
offer convert a.npy a.blp --over
offer convert a.npy a.blp --option ch
offer convert a.npy a.x --format bloscpack --option ""
offer convert a.npy a.x --format asdf --option ""
offer cat night.asdf im
offer cat ni
EOF
echo "# every verb"
bash <<'EOF'
. "$ROOT/tools/completion/cippus.bash"
offer() { COMP_WORDS=(cippus "$@"); COMP_CWORD=$#; COMPREPLY=(); _cippus; echo "${COMPREPLY[@]}"; }
offer "" | tr ' ' '\n' | grep -vE "^(--.*|help)$" >offered
cippus --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' | diff - offered && echo all
for verb in $(cat offered); do
    [ -n "$(offer "$verb" --n)" ] || echo "no options of $verb"
done
echo "# values of options"
offer cat night.asdf image --to ""
offer convert a.npy b.x --format blo
offer convert a.npy b.x --codec zs
offer convert a.npy b.x --codec b
offer convert a.npy b.x --codec m
echo "# formats without an extension, of those that are written: none"
cippus --version | grep -o '[a-z0-9]* (read verify write)' | while read -r name _; do
    grep -q "echo $name ;;" "$ROOT/tools/completion/cippus.bash" || echo "$name"
done
echo "# codecs of the format that is written"
offer convert a.npy b.asdf --codec ""
offer convert a.npy b.b2nd --codec ""
offer convert a.npy b.npy --codec ""
offer convert a.npy b --format rawarray --codec ""
offer put night.asdf --new x a.npy --codec bl
offer convert a.npy b.x --format c
echo "# values again"
offer cat night.asdf --dtype float
offer set night.asdf exposure/time 5 --durability ""
offer convert night.asdf b.ra --path st
offer cat --points ni
echo "# paths, behind options too"
offer cat --to csv night.asdf st
offer cat --to=csv --all night.asdf cou
offer stat night.asdf mas
offer stat night.asdf ni
offer tree --depth 2 night.asdf exposure/
offer set night.asdf instrument/g
offer rm night.asdf exposure/f
offer mv night.asdf instrument/na
offer put night.asdf sp
offer verify night.asdf ni
offer cat night.asdf stars/
offer help con
offer help er
offer convert a.npy b.b2nd --filter b
offer convert a.npy b.blp --checksum sha2
offer convert a.npy b.asdf --standard 0
offer diff night.asdf b.asdf --ignore instrument/na
offer ni
offer ls -r ni
EOF
