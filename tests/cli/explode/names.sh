# A backslash cannot be in a reference to a part: refused before anything is written.
exec 2>&1
cp "$SAMPLES/roman.asdf" .
cippus explode roman.asdf 'a\b.asdf' || echo $?
ls
