# wrong options, and files that are none
try() {
    cippus diff "$@" || echo "status $?"
}
exec 2>&1
cp "$SAMPLES/night.asdf" a.asdf
try a.asdf
try a.asdf a.asdf --rtol x
try a.asdf a.asdf --atol -1
try a.asdf a.asdf --path a --path b --path c
try a.asdf a.asdf --path nothing
try a.asdf no.asdf
echo text >text
try text a.asdf
cippus put --new a.asdf b a.asdf --path counts
cp "$SAMPLES/night.asdf" b.asdf
try a.asdf b.asdf --path b
try a.asdf b.asdf --path counts --path none
