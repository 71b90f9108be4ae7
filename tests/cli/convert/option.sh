# what only one format has: --option, of which --encode is a short form
exec 2>&1
cippus cat --to npy "$SAMPLES/night.asdf" counts >counts.npy
cippus convert --help --all | grep -A2 -e --option
cippus convert --encode '[zlib]' counts.npy a.asdf
cippus convert --option 'encode=[zlib]' counts.npy b.asdf
cippus convert --option='encode=[zlib, zlib]' --encode '[zlib]' counts.npy c.asdf
cmp a.asdf b.asdf && cmp a.asdf c.asdf && echo the same
refused() { "$@" && echo written || echo $?; }
refused cippus convert --option 'encod=[zlib]' counts.npy d.asdf
refused cippus convert --option encode counts.npy d.asdf
refused cippus convert --option 'encode=[zlib]' counts.npy d.npy
refused cippus append --option level=3 counts.npy counts.npy
refused cippus append --option level=3 b.asdf data counts.npy
cippus append --option 'encode=[[tile, {shape: [4, 4]}], zlib]' b.asdf data counts.npy
cippus info --chunks b.asdf | tail -1
ls
