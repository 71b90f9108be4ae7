# an array comes where PATH names nothing; nothing else of the file moves
exec 2>&1
cp "$SAMPLES/night.asdf" x.asdf
cippus cat --to npy x.asdf image '[0:4, 0:3]' >in.npy
cippus put x.asdf cut/out in.npy || echo $?
cippus put --new x.asdf in.npy || echo $?
cippus put --new x.asdf cut/out '[0]' in.npy || echo $?
cippus put --new x.asdf image in.npy || echo $?
cippus put --codec zlib x.asdf image '[0:4, 0:3]' in.npy || echo $?
cippus put --new x.asdf image/shape in.npy || echo $?
cippus put --new --codec nothing x.asdf cut/out in.npy || echo $?
cmp x.asdf "$SAMPLES/night.asdf"
cippus put --new --dry-run x.asdf cut/out in.npy
cmp x.asdf "$SAMPLES/night.asdf"
cippus put --new x.asdf cut/out in.npy
cippus put --new --codec zlib:9 --md5 none --history 'ones' x.asdf cut/ones "$SAMPLES/night.asdf" --path image
printf '\1\2\3\4' | cippus put --new --inline x.asdf cut/few - --from raw --dtype uint16 --byteorder big
cippus put --new x.asdf cut/bytes in.npy --from raw --shape '*,4'
printf 'a,b\n1,x\n2,y\n' >t.csv
cippus put --new x.asdf table t.csv
cippus ls x.asdf
cippus cat x.asdf cut/few
cippus cat x.asdf table
cippus cat --to npy x.asdf cut/out | cmp - in.npy
cippus verify --deep x.asdf
cippus convert --standard 0.1.0 in.npy old.asdf
cippus put --new old.asdf b in.npy || echo $?
cippus convert in.npy one.ra
cippus put --new one.ra b in.npy || echo $?
