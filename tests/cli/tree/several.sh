# Several files under their names; in JSON a list.
cp "$SAMPLES/roman.asdf" a.asdf
cp "$SAMPLES/night.asdf" b.asdf
cippus tree --find 'gain|optical_element' a.asdf b.asdf
cippus tree --json a.asdf b.asdf >x.json
python3 -c '
import json
for entry in json.load(open("x.json")):
    print(entry["file"], sorted(entry["tree"]))'
cippus tree --json --find gain a.asdf b.asdf
cippus tree a.asdf b.asdf >both
sed -n 1,2p both
cippus tree a.asdf nothing 2>&1 || echo "exit $?"
cippus tree a.asdf roman b.asdf 2>&1 || echo "exit $?"
