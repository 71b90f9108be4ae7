cp "$SAMPLES/night.asdf" x.asdf
cippus set x.asdf exposure/time 5 --dry-run >plan
test -s plan
cippus set x.asdf exposure/time 5 --dry-run --json >plan.json
python3 -c 'import json; assert json.load(open("plan.json"))["plan"]'
cmp x.asdf "$SAMPLES/night.asdf"
ls
