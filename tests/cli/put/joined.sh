# file, path and slice in one word in commands that change a file
exec 2>&1
cp "$SAMPLES/night.asdf" x.asdf
cippus convert "$SAMPLES/complex.ra" c.npy
try() { echo "\$ $*"; cippus "$@" || echo "exit $?"; }
try put 'x.asdf/counts[0, :2]' 7
try put x.asdf 'counts[0, 2]' 8
try put x.asdf/counts '[0, 3]' 9
try cat x.asdf counts '0, :5'
try set x.asdf/exposure/time 5
try mv x.asdf/exposure/time exposure/seconds
try tree x.asdf exposure/seconds
try rm x.asdf/image
try resize x.asdf/counts 1,4
try append x.asdf/counts x.asdf --path counts
try cat x.asdf/counts
try put c.npy 0:1 1
try rm c.npy 1:3
try cat c.npy
try rm c.npy 0
