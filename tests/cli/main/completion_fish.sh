# what fish offers behind a word
command -v fish >/dev/null || { echo "no fish" >&2; exit 77; }
cp "$SAMPLES/night.asdf" .
HOME=$PWD XDG_CONFIG_HOME=$PWD fish --no-config <<'END'
source $ROOT/tools/completion/cippus.fish
for line in 'cippus conv' 'cippus help fin' 'cippus cat night.asdf stars/' 'cippus cat --to t' 'cippus convert night.asdf x --codec b' \
    'cippus convert --over' 'cippus set night.asdf instrument/g' 'cippus nig' 'cippus convert --format b' \
    'cippus help err' 'cippus ls --t' 'cippus cat --to t' 'cippus tree --type ' 'cippus convert a b --filter bi' 'cippus convert a b --checksum crc' 'cippus zarr-refs --format ' 'cippus tree --type m' \
    'cippus convert a b --standard 0' 'cippus convert a b --option ch' 'cippus diff night.asdf b --ignore instrument/na' 'cippus convert night.asdf b --path sta'
    echo "# $line"
    complete -C $line
end
END
