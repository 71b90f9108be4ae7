# What the system says of standard output, whatever prints there; never "cancelled".
test -w /dev/full || { echo "no /dev/full" >&2; exit 77; }
for what in 'cat night.asdf image' 'cat night.asdf image --to csv' 'cat night.asdf image --to raw' 'cat night.asdf masked' 'ls night.asdf' \
    'info night.asdf' 'tree night.asdf' 'stat night.asdf' 'convert night.asdf - --format asdf' 'cat --block 0 night.asdf'; do
    cp "$SAMPLES/night.asdf" .
    rc=0
    cippus $what 2>&1 >/dev/full || rc=$?
    echo "$rc $what"
done
