# the files of known formats in a folder that is no array store; their folders with -R
exec 2>&1
mkdir -p d/sub d/.hidden nothing/sub
cp "$SAMPLES/tide.blp" "$SAMPLES/complex.ra" d
cp -r "$SAMPLES/prices.bcolz" d
cp "$SAMPLES/cube.b2nd" d/sub
cp "$SAMPLES/cube.b2nd" nothing/sub
echo text >d/notes.txt
cippus ls d
echo "# the same as cippus d; a store is one file"
cippus d >a && cippus ls d/ | sed 's,d//,d/,' >b && cippus ls d >c && cmp a c
cippus ls d/prices.bcolz | head -1
cippus ls -R --json d | sed -n 's/.*"file": "\([^"]*\)", "path": "\([^"]*\)".*/\1 \2/p'
cippus ls nothing || echo "exit $?"
cippus ls -R nothing
echo "# verify"
cippus verify d
cippus verify -R d --quiet && cippus verify -q d && echo quiet
cippus verify nothing || echo "exit $?"
printf 'x' | dd of=d/tide.blp bs=1 seek=3000 conv=notrunc status=none
head -c 300 d/sub/cube.b2nd >d/sub/short.b2nd
cippus verify -R -q d | cut -c1-40 || echo "exit $?"
cippus verify -R --json d | grep -c '"file"'
cippus verify -R d >/dev/null || echo "exit $?"
cippus verify d/notes.txt || echo "exit $?"
cippus ls --quiet d || echo "exit $?"
echo "# a file that was not fetched is no file of another kind"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n' >nothing/far.asdf
cippus ls nothing || echo "exit $?"
