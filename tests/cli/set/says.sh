# What is added is said, an array is not replaced by a slip, and a plan shows old and new.
cp "$SAMPLES/night.asdf" x.asdf
echo "# added"
cippus set x.asdf expsure/time 5 2>&1
cippus set x.asdf observer Jane 2>&1
cippus set x.asdf observer Jim 2>&1
cippus set x.asdf exposure/frames/- 4 2>&1
echo "# arrays"
cp x.asdf before.asdf
cippus set x.asdf image 5 2>&1 || echo "exit $?"
cippus set "$SAMPLES/roman.asdf" roman 5 2>&1 | sed "s,$SAMPLES/,,"
cmp x.asdf before.asdf
cippus set x.asdf masked 5 --force
cippus tree x.asdf masked
echo "# plans"
cippus set x.asdf instrument/gain 2.5 --dry-run | head -1
cippus set x.asdf exposure/frames '[1]' --dry-run | head -1
cippus set x.asdf exposure/new 1 --dry-run 2>&1 | head -1
cippus set x.asdf instrument/gain 2.5 --dry-run --json | python3 -c '
import json, sys
print(json.load(sys.stdin)["plan"][0])'
echo "# elements of an array are no node"
cp "$SAMPLES/night.asdf" e.asdf
cippus set e.asdf 'image[0, 0]' 7 2>&1 || echo "exit $?"
cippus set e.asdf 'instrument[0]' 7 2>&1
cippus set e.asdf 'image[0, 0]' 7 --force 2>&1
cippus cat e.asdf 'image[0, 0]' 2>&1 || echo "exit $?"
