# One flipped bit of a raw block: read as it is, refused with --check before a byte is given; convert
# refuses without being asked.
cippus convert "$SAMPLES/night.asdf" x.asdf --codec none
at=$(cippus info --blocks --json x.asdf | sed -n 's/.*"block": 0,.*"data_offset": \([0-9]*\).*/\1/p')
cippus cat --check x.asdf image '[0, :3]'
printf '\377' | dd of=x.asdf bs=1 seek=$((at + 5)) conv=notrunc status=none
path=$(cippus ls --json x.asdf | tr '{' '\n' | sed -n 's/.*"path": "\([^"]*\)".*"block": 0,.*/\1/p')
echo "damaged: $path"
cippus cat x.asdf "$path" '[0, :3]' >/dev/null
cippus cat --check x.asdf "$path" '[0, :3]' 2>&1 || echo "exit $?"
cippus cat --check x.asdf "$path" --to npy 2>&1 || echo "exit $?"
cippus cat --check - "$path" <x.asdf 2>&1 || echo "exit $?"
cippus stat --check x.asdf 2>&1 | grep -c 'check\|mismatch' || true
cippus convert x.asdf y.asdf 2>&1 || echo "exit $?"
cippus convert x.asdf y.asdf --codec zlib 2>&1 || echo "exit $?"
ls y.asdf 2>/dev/null || echo "no y.asdf"
cippus convert x.asdf y.asdf --no-check
cippus verify y.asdf || echo "exit $?"
# nothing to compare
cippus cat --check "$SAMPLES/cube.b2nd" '[0, 0, :3]' 2>&1 | sed "s,$SAMPLES/,,"
