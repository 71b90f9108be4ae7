head -c 80000 /dev/zero | cippus convert --from raw --dtype uint8 --shape '*' - x.asdf
md5sum <x.asdf >old
head -c 2000 /dev/zero | tr '\0' x >bytes # none is as it was
(ulimit -f 20; cippus put --from raw --dtype uint8 --shape '*' x.asdf '[70000:72000]' bytes) 2>/dev/null && exit 1
cippus recover x.asdf --discard
md5sum <x.asdf | cmp - old
test ! -e .x.asdf.cip-journal
test ! -e .x.asdf.cip-tmp
cippus recover x.asdf
