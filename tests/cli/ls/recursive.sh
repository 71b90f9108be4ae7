# Folders, and what lies in them: known formats, folders of known formats as one, nothing else.
mkdir -p d/b/c d/empty d/.hidden
cp "$SAMPLES/complex.ra" d/b/c/z.ra
cp -r "$SAMPLES/wells.blz" d/b/wells.blz
cp "$SAMPLES/roman.asdf" d/a.asdf
cp "$SAMPLES/complex.ra" d/.hidden/x.ra
echo text >d/notes.txt
ln -s . d/loop
mkfifo d/pipe
cippus ls -r d
echo "# two"
cippus ls --recursive d/b/ d/a.asdf
echo "# json"
cippus ls -r --json d | sed -n 's/.*"file": "\([^"]*\)", "path": "\([^"]*\)".*/\1 \2/p'
echo "# damage is said, and the rest listed"
head -c 3000 "$SAMPLES/roman.asdf" | head -c 700 >d/b/broken.asdf
printf '\x88' | dd of=d/b/c/z.ra bs=1 seek=9 conv=notrunc status=none
cippus ls -r d/b 2>&1 || echo "exit $?"
cippus ls -r missing 2>&1 || echo "exit $?"
cippus tree -r d/a.asdf 2>&1 || echo "exit $?"
