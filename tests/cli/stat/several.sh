# Several files; what is a PATH of the first one is a PATH, whatever files there are.
cp "$SAMPLES/roman.asdf" a.asdf
cp "$SAMPLES/complex.ra" b.ra
cippus stat a.asdf b.ra
echo "# json"
cippus stat --json a.asdf b.ra | sed -n 's/.*"file": "\([^"]*\)", "path": "\([^"]*\)".*/\1 \2/p'
echo "# a path, and a file of its name"
mkdir roman
cp b.ra roman/data
cippus stat a.asdf roman/data
cippus stat a.asdf ./roman/data
cippus stat a.asdf roman/data '[0]'
echo "# neither"
cippus stat a.asdf dta 2>&1 || echo "exit $?"
cippus stat a.asdf b.ra nothing 2>&1 || echo "exit $?"
cippus stat a.asdf b.ra nothing more 2>&1 || echo "exit $?"
echo "# one that is broken"
echo text >t
cippus stat t b.ra 2>&1 || echo "exit $?"
