# -o: a file that appears complete, of the kind that its name tells
exec 2>&1
cp "$SAMPLES/night.asdf" .
cippus cat night.asdf stars -o o.csv && cat o.csv
cippus cat night.asdf stars --output=o.tsv && cat o.tsv && cippus cat o.tsv 'flux[:2]'
cippus cat night.asdf 'counts[0, :3]' -o o.npy && cippus ls o.npy
cippus cat night.asdf 'counts[0, :3]' -o o.json && cat o.json && echo
cippus cat night.asdf 'counts[0, :3]' -o o.raw && wc -c <o.raw
cippus cat night.asdf 'counts[0, :3]' -o o.txt && cat o.txt
cippus cat night.asdf 'counts[0, :3]' -o o.dat --to csv --overwrite && cat o.dat
cippus cat night.asdf --block 3 -o o.block && wc -c <o.block
umask 027 && cippus cat night.asdf 'counts[0, :3]' -o m.txt && ls -l m.txt | cut -c1-10
cippus cat night.asdf 'counts[0, :3]' -o -
cippus cat night.asdf 'counts[0, :3]' -o /dev/null && echo "a device"
echo "# cells with tabs and quotes"
printf 'a,b\n"x\ty","say ""hi"", you"\nz,w\n' >t.csv
cippus cat t.csv -o t.tsv && cat t.tsv && cippus cat t.csv -o e.csv && cippus cat t.tsv --to csv | cmp - e.csv
cippus cat t.tsv -o u.tsv && cmp t.tsv u.tsv
echo "# nothing is left of what fails"
mkdir d
cippus cat night.asdf counts -o o.csv || echo "exit $?"
cippus cat night.asdf imge -o d/x.csv || echo "exit $?"
cippus cat night.asdf image --dtype int8 -o d/x.csv || echo "exit $?"
cippus cat night.asdf counts -o nothing/x.csv || echo "exit $?"
cippus cat night.asdf counts --follow -o d/x.csv || echo "exit $?"
cippus cat night.asdf counts -o || echo "exit $?"
( (ulimit -f 8 && exec cippus cat night.asdf image -o d/x.npy) 2>/dev/null) || echo "ended"
ls -A d
ls -A | grep cippus- || true
echo "# no binary on a terminal"
for words in "night.asdf counts --to npy" "night.asdf counts --to raw" "night.asdf --block 0" "night.asdf counts --chunk 0"; do
    python3 "$ROOT/tests/support/on_terminal.py" 80 cippus cat $words || echo "exit $?"
done
python3 "$ROOT/tests/support/on_terminal.py" 80 cippus convert o.npy - --format asdf || echo "exit $?"
