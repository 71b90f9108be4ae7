# Cut off while the new end was written: readers leave it out, the next writer cuts it.
head -c 80000 /dev/zero | cippus convert --from raw --dtype uint8 --shape '*' - x.asdf
md5sum <x.asdf >old
cippus cat x.asdf --to raw >data
head -c 100000 /dev/urandom >rows
(ulimit -f 200; cippus append --from raw x.asdf rows) 2>/dev/null && exit 1
test -e .x.asdf.cip-tmp
test ! -e .x.asdf.cip-journal
md5sum <x.asdf | cmp -s - old && exit 1
cippus cat x.asdf --to raw 2>warning | cmp - data
cat warning
cippus verify x.asdf || test $? = 1
{ cippus recover x.asdf || test $? = 1; } | sed "s/[0-9]* bytes/N bytes/"
cippus recover x.asdf --apply | sed "s/[0-9]* bytes/N bytes/"
cippus recover x.asdf
md5sum <x.asdf | cmp - old
