# Of every kind of storage; a path that is none, options that do not go together.
cippus info --chunks "$SAMPLES/night.asdf" "$SAMPLES/early.asdf" "$SAMPLES/complex.ra" | sed "s,$SAMPLES/,,"
cd "$SAMPLES"
cippus info --chunks --json --path counts night.asdf
cippus info --chunks --path none night.asdf 2>&1 || echo "exit $?"
cippus info --path counts night.asdf 2>&1 || echo "exit $?"
cippus info --chunks --blocks night.asdf 2>&1 || echo "exit $?"
cd - >/dev/null
cippus explode "$SAMPLES/roman.asdf" apart.asdf
cippus info --chunks apart.asdf
