# The limit on file sizes kills the command when its journal is sealed and the file is to be changed.
head -c 80000 /dev/zero | cippus convert --from raw --dtype uint8 --shape '*' - x.asdf
md5sum <x.asdf >old
cp x.asdf y.asdf
head -c 2000 /dev/zero | tr '\0' x >bytes
cippus put --from raw --dtype uint8 --shape '*' y.asdf '[70000:72000]' bytes
md5sum <y.asdf >new
(ulimit -f 20; cippus put --from raw --dtype uint8 --shape '*' x.asdf '[70000:72000]' bytes) 2>/dev/null && exit 1
test -e .x.asdf.cip-journal
cippus cat x.asdf --to raw 2>/dev/null >a
cippus cat y.asdf --to raw | cmp - a
cippus recover x.asdf || test $? = 1
{ cippus recover --json x.asdf || test $? = 1; } | sed "s/$(stat -c %s x.asdf)/SIZE/g"
cp -p x.asdf keep
cippus recover --apply x.asdf
md5sum <x.asdf | cmp - new
test ! -e .x.asdf.cip-journal
cippus recover x.asdf
