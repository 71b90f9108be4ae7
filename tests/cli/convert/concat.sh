# inputs joined along an axis
exec 2>&1
try() { echo "\$ $*"; cippus "$@" || echo "exit $?"; }
for i in 1 2 3; do cippus convert --fill $i --dtype int16 --shape $i,4 a$i.npy; done
cippus convert --fill 9 --dtype int16 --shape 3,1 d.npy
try convert --concat 0 a1.npy a2.npy a3.npy x.b2nd
try cat x.b2nd
try convert --concat 1 a3.npy d.npy x.npy
try cat x.npy
try convert --concat -1 a3.npy d.npy x.asdf
try ls x.asdf
try convert --concat 1 a3.npy d.npy y.asdf --name sky --codec zlib
try ls y.asdf
try convert --concat 0 a1.npy y.blp
try ls y.blp
echo "# more rows than one piece, across chunks, in each axis and format"
seq 1 3000000 | awk '{ printf "%c%c%c%c", $1 % 251 + 1, $1 % 7 + 1, 3, 4 }' | LC_ALL=C head -c 12000000 >r.raw
cippus convert r.raw r.npy --dtype uint8 --shape 3000,4000
for out in r.b2nd r.blp r.ra r.asdf r.blz; do
    cippus convert --concat 0 r.npy r.npy "$out" && cippus cat "$out" --to raw | cmp - r.raw 2>&1 | grep -c EOF
    cippus cat "$out" '[3000:]' --to raw | cmp - r.raw
    cippus convert --concat 1 r.npy r.npy "$out" --overwrite
    cippus cat "$out" '[:, 4000:]' --to raw | cmp - r.raw
    cippus cat "$out" '[:, :4000]' --to raw | cmp - r.raw
done
echo "# what does not go"
cp "$SAMPLES/complex.ra" "$SAMPLES/phantom.ra" "$SAMPLES/night.asdf" .
try convert --concat 0 a3.npy d.npy z.npy
try convert --concat 2 a3.npy d.npy z.npy
try convert --concat x a3.npy d.npy z.npy
try convert --concat 0 a1.npy complex.ra z.npy
try convert --concat 0 phantom.ra phantom.ra z.npy
try convert --concat 0 a1.npy nothing.npy z.npy
try convert --concat 0 night.asdf night.asdf z.npy
try convert --concat 0 night.asdf night.asdf z.npy --path masked
try convert --concat 0 night.asdf night.asdf z.npy --path imge
try convert --concat 0 a1.npy a2.npy z.csv
try convert --concat 0 a1.npy a2.npy x.npy
try convert --concat 0 --fill 1 --dtype int8 --shape 3 z.npy
ls z.* 2>/dev/null || echo "nothing is left"
try convert --concat 0 night.asdf night.asdf z.npy --path counts
try ls z.npy
