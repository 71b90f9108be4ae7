# what zsh offers behind a word: the functions, with words as its line editor sets them
command -v zsh >/dev/null || { echo "no zsh" >&2; exit 77; }
cp "$SAMPLES/night.asdf" .
zsh -f <<'END'
compadd() { shift; print -l -- $@ }
_describe() { print -l -- ${(P)@[-1]} }
_files() { print files }
offer() { words=(cippus "$@"); CURRENT=$#words; _cippus_again }
functions[_cippus_file]=$(sed '$d' $ROOT/tools/completion/_cippus)
_cippus_file
_cippus_again() { _cippus }
echo "# commands"; offer '' | grep -c :
echo "# paths"; offer cat night.asdf ''
echo "# values"; offer convert night.asdf x --codec ''
offer cat --to ''
offer set night.asdf exposure/time 5 --durability ''
echo "# options"; offer convert --over | grep -e '--overwrite'
offer help '' | grep -e finish -e errors
echo "# values of more options"
offer convert a b --filter '' | grep bit
offer convert a b --checksum '' | grep crc
offer convert a b --standard '' | tail -2
offer zarr-refs --format ''
offer tree --type '' | tail -2
offer convert a b --option '' | grep ch
offer diff night.asdf b --ignore '' | grep name
offer convert night.asdf b --path '' | grep stars
END
