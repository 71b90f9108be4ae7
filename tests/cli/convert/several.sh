# several inputs become arrays of one file, called after the files or by --name
exec 2>&1
cippus cat --to npy "$SAMPLES/night.asdf" image '[:3, :4]' >a.npy
cippus cat --to npy "$SAMPLES/night.asdf" counts '[:2, :3]' >b.b.npy
printf 'x,y\n1,2.5\n3,4.5\n' >t.csv
printf '\1\2\3\4' >r.raw
cp "$SAMPLES/roman.asdf" "$SAMPLES/phantom.ra" "$SAMPLES/complex.ra" . && mkdir d && cp b.b.npy d/a.npy
cippus convert a.npy b.b.npy t.csv out.asdf --codec zlib
cippus ls out.asdf
cippus cat out.asdf b.b
cippus verify --deep out.asdf
cp out.asdf was.asdf
try() { "$@" || echo $?; cmp out.asdf was.asdf; }
try cippus convert a.npy b.b.npy out.asdf
try cippus convert --overwrite a.npy d/a.npy out.asdf
try cippus convert --overwrite a.npy roman.asdf out.asdf
try cippus convert --overwrite a.npy missing.npy out.asdf
try cippus convert --overwrite a.npy b.b.npy out.ra
try cippus convert --overwrite --name x a.npy b.b.npy out.asdf
try cippus convert --overwrite --path x a.npy b.b.npy out.asdf
try cippus convert --name x a.npy one.asdf
try cippus convert a.npy b.b.npy -
try cippus convert --overwrite --json --accept-loss a.npy phantom.ra new.asdf
ls
cippus convert --overwrite --name one --name dir/two a.npy d/a.npy out.asdf
cippus ls out.asdf
cippus convert --overwrite --accept-loss --inline a.npy roman.asdf --max-elements 100000 out.asdf
cippus ls out.asdf
cippus convert --overwrite --dtype '<u2' a.npy r.raw out.asdf || echo $?
cp r.raw s.raw
cippus convert --overwrite --dtype '>u2' r.raw s.raw --byteorder little out.asdf
cippus cat out.asdf s
cippus convert --overwrite complex.ra a.npy out.asdf && cippus ls out.asdf
