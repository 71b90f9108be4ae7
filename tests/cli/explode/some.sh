exec 2>&1
cippus explode --path roman/data --bare "$SAMPLES/roman.asdf" m.asdf && ls && cippus ls m.asdf && cippus info m0000.asdf
cippus explode --path nowhere "$SAMPLES/roman.asdf" n.asdf 2>&1 | sed "s|$SAMPLES/||"
echo mine >n0000.asdf; cippus explode "$SAMPLES/roman.asdf" n.asdf || echo $?
cippus explode "$SAMPLES/complex.ra" r.asdf 2>&1 | sed "s|$SAMPLES/||"
ls; cat n0000.asdf
