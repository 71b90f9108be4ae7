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
