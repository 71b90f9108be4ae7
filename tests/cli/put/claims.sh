# A block of 117 bytes that claims 9 PB, all of which would be decoded to change one element.
tail -c +2 "$ROOT/src/format/asdf/corpus/fuzz_asdf_update/claims-petabytes" >x.asdf
printf '\0\0\0\0' >z.raw
cp x.asdf old.asdf
cippus put x.asdf a '[0:1]' z.raw 2>&1 || echo "exit $?"
cmp x.asdf old.asdf
