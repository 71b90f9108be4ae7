# The nearest name of what there is: another case, a unique end or start, few letters changed.
try() {
    cippus "$@" 2>&1 | sed "s,$SAMPLES/,,"
}
cp "$SAMPLES/night.asdf" x.asdf
echo '# commands'
for name in lss verfiy CAT conv xyz get apend; do
    try "$name"
done
echo '# words of other programs'
for name in view dump plot head check export compress Get list delete write; do
    try "$name"
done
for name in add concat split du mean formats; do
    try "$name"
done
try help codecs
echo '# options'
try convert --compression zlib x.asdf y.asdf
try convert -c zlib x.asdf y.asdf
try convert --level 9 x.asdf y.asdf
try set --level 9 x.asdf title a
try ls -c .
try ls --jsn x.asdf
try ls -json x.asdf
try convert --over x.asdf y.asdf
try convert --chunk=3 x.asdf y.asdf
try cat --column flux x.asdf
try ls --nothing x.asdf
try convert --format blsoc2 x.asdf y
try repair --format foo x.asdf y
echo '# paths'
try cat "$SAMPLES/roman.asdf" data
try cat "$SAMPLES/roman.asdf" ROMAN/DATA
try cat "$SAMPLES/roman.asdf" roman/dta
try cat "$SAMPLES/prices.bcolz" Close
try cat x.asdf stars/flx
try stat x.asdf stars/flx
try cat x.asdf spec
try cat x.asdf nothing
try tree x.asdf instrument/gian
try tree x.asdf gain
try tree x.asdf exposure/frames/7
try tree x.asdf exposure/time/7
try info --chunks x.asdf --path imge
echo '# of updates'
try rm x.asdf imge
try mv x.asdf exposure/tme t
try put x.asdf cuonts '[0]' 1
try resize x.asdf imge 3,3
try append x.asdf cuonts x.asdf --path counts
try rm missing.asdf imge
cmp x.asdf "$SAMPLES/night.asdf"
echo '# of new files, and of the file that lacks the path'
try convert --path imge x.asdf y.npy
try convert --path stars/flx x.asdf y.npy
try convert --path image x.asdf y.b2nd --codec gzip
try convert --path image x.asdf y.b2nd --codec zstandard:3
try convert --path image x.asdf y.b2nd --codec zlb
try convert --path image x.asdf y.asdf --codec gzip
try convert --path image x.asdf y.b2nd --option chnks=3
try convert x.asdf y.foo
try convert x.asdf x.asdf y
try explode x.asdf o.asdf --path imge
try zarr-refs x.asdf --path imge
cp x.asdf b.asdf
try diff --path imge x.asdf b.asdf
try diff --path imge --path image x.asdf b.asdf
try diff --path image --path imge x.asdf b.asdf
echo '# a name that is there'
cp -r "$SAMPLES/prices.bcolz" p.bcolz
rm p.bcolz/close/data/__1.blp
try cat p.bcolz close
