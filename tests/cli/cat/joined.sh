# file, path and slice in one word, slices without brackets; what there is of the name comes first
exec 2>&1
cp "$SAMPLES/night.asdf" "$SAMPLES/complex.ra" .
cp -r "$SAMPLES/prices.bcolz" .
try() { echo "\$ $*"; cippus "$@" || echo "exit $?"; }
try cat night.asdf/image '[0, :3]'
try cat 'night.asdf/image[0, :3]'
try cat night.asdf 'image[0, :3]'
try cat night.asdf 'stars/flux[:2]'
try cat 'complex.ra[0]'
try cat complex.ra 0:2
try cat complex.ra 0,1
try cat complex.ra -1:
try cat prices.bcolz/close 0:3
try cat 'prices.bcolz/close[0:3]'
try stat 'night.asdf/image[:2, :2]'
try tree night.asdf/exposure/time
echo "# an index alone may be a path"
try cat complex.ra 0
echo "# a file, or a key, of that name"
cp complex.ra 'complex.ra[0]'
cp complex.ra 0:1
try cat 'complex.ra[0]' 3:
try stat complex.ra 0:1
cat >k.asdf <<'END'
#ASDF 1.0.0
%YAML 1.1
%TAG ! tag:stsci.edu:asdf/
--- !core/asdf-1.1.0
"a[0:1]": !core/ndarray-1.1.0 [1, 2]
a: !core/ndarray-1.1.0 [7, 8, 9]
"0:2": !core/ndarray-1.1.0 [5, 5]
...
END
try cat k.asdf 'a[0:1]'
try cat k.asdf 'a[1:3]'
try cat k.asdf 0:2
try cat k.asdf 0:3
printf 'a,0:2\n1,2\n3,4\n' >t.csv
try cat t.csv 0:2
try cat t.csv 0:1
echo "# nothing of that name"
try cat night.asdf/imge
try cat nothing.asdf/image
try cat nothing/image
try cat - 0:2 <complex.ra
try cat complex.ra 0:2 --header
echo "# commands that take files alone"
try diff complex.ra night.asdf/image
echo "# convert"
cippus convert night.asdf/stars/flux flux.npy && cippus cat flux.npy
cippus convert night.asdf/imge x.npy 2>&1 || echo "exit $?"
cippus convert night.asdf/image x.npy --path image 2>&1 || echo "exit $?"
cippus cat --path image night.asdf 2>&1 || echo "exit $?"
