# The next command that writes completes what was cut off.
head -c 80000 /dev/zero | cippus convert --from raw --dtype uint8 --shape '*' - x.asdf
head -c 2000 /dev/urandom >bytes
(ulimit -f 20; cippus put --from raw --dtype uint8 --shape '*' x.asdf '[70000:72000]' bytes) 2>/dev/null && exit 1
printf a >one
cippus put --from raw --dtype uint8 --shape '*' x.asdf '[0:1]' one
test ! -e .x.asdf.cip-journal
cippus cat x.asdf data '[70000:72000]' --to raw | cmp - bytes
cippus cat x.asdf data '[0:1]' --to raw
