# A change that is cut off is seen and completed under every name of the file; elsewhere it is refused.
python3 -c "import os; open('p', 'w').close(); os.setxattr('p', 'user.t', b'1')" 2>/dev/null || { echo "no extended attributes here" >&2; exit 77; }
rm p
head -c 80000 /dev/zero | cippus convert --from raw --dtype uint8 --shape '*' - x.asdf
head -c 2000 /dev/zero | tr '\0' x >bytes
cp x.asdf y.asdf
cippus put --from raw --dtype uint8 --shape '*' y.asdf '[70000:72000]' bytes
(ulimit -f 20; cippus put --from raw --dtype uint8 --shape '*' x.asdf '[70000:72000]' bytes) 2>/dev/null && exit 1
test -e .x.asdf.cip-journal
ln x.asdf second.asdf
cippus cat second.asdf --to raw 2>/dev/null >a
cippus cat y.asdf --to raw | cmp - a
mkdir sub
mv x.asdf sub/moved.asdf
cippus cat sub/moved.asdf 2>&1 || test $? = 3
cippus cat - <sub/moved.asdf 2>&1 || test $? = 3
cippus set sub/moved.asdf a 1 2>&1 || test $? = 3
cippus recover --json sub/moved.asdf || test $? = 1
cippus recover second.asdf --apply
cippus recover sub/moved.asdf
cmp second.asdf y.asdf
ls -A | grep -v "^\.bin$"
cippus set second.asdf a 1 2>&1 || test $? = 3
