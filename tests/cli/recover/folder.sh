# What killed processes left in a folder is listed; new files that nobody writes are removed.
mkdir d
cippus recover d
cippus recover d --apply
echo half >d/.cip-new-0123456789abcdef
echo half >d/.x.npy.cip-new
cp "$SAMPLES/night.asdf" d/x.asdf
echo nonsense >d/.x.asdf.cip-journal
echo nonsense >d/.y.asdf.cip-tmp
echo mine >d/cip-new-notes
{ cippus recover d || test $? = 1; } | sort
{ cippus recover --json d || test $? = 1; } | grep -c '"folder": "d", "left": \[{"name": '
cippus recover d --apply 2>&1 || test $? = 2
{ cippus recover d --discard || test $? = 1; } | sort
ls -A d
cippus recover none 2>&1 || test $? = 3
