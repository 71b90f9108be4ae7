# A message of the library that names a field of its options is told with the command's option.
exec 2>&1
cp "$SAMPLES/night.asdf" x.asdf
cippus put x.asdf counts '[0]' 1.5 || echo "exit $?"
cippus cat x.asdf || echo "exit $?"
cippus convert x.asdf y.npy || echo "exit $?"
cippus convert x.asdf y || echo "exit $?"
ln x.asdf z.asdf
cippus put x.asdf counts '[0]' 1 || echo "exit $?"
# a file's own text is not touched
printf '#ASDF 1.0.0\n%%YAML 1.1\n--- !core/asdf-1.1.0\na b: {x: 1}\n...\n' >t.asdf
cippus tree t.asdf 'q .force' || echo "exit $?"
