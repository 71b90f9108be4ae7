# what fish offers behind a word
command -v fish >/dev/null || { echo "no fish" >&2; exit 77; }
cp "$SAMPLES/night.asdf" .
HOME=$PWD XDG_CONFIG_HOME=$PWD fish --no-config <<'END'
source $ROOT/tools/completion/cippus.fish
for line in 'cippus conv' 'cippus help fin' 'cippus cat night.asdf stars/' 'cippus cat --to t' 'cippus convert night.asdf x --codec b' \
    'cippus convert --over' 'cippus set night.asdf instrument/g' 'cippus nig' 'cippus convert --format b'
    echo "# $line"
    complete -C $line
end
END
