exec 2>&1
cp "$SAMPLES/phantom.ra" in.ra
cippus convert --tree-slack 0 --align 4096 --md5 none in.ra a.asdf && cippus info --blocks a.asdf
cippus convert --standard 9 in.ra b.asdf || echo $?
cippus convert --codec blosc in.ra b.asdf || echo $?
cippus convert --align 65536 in.ra b.asdf || echo $?
cippus convert --md5 sha in.ra b.asdf || echo $?
ls
