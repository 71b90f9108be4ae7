# new arrays of one value: --fill with --dtype and --shape, in every format
exec 2>&1
cippus convert --fill 0 --dtype f4 --shape 1048576,1048576 huge.b2nd
cippus ls huge.b2nd; test "$(wc -c <huge.b2nd)" -lt 1000; cippus cat huge.b2nd '[-1, -3:]'
for value in nan 7 -1.5 uninit; do
    cippus convert --fill $value --dtype "<f4" --shape 3000,1001 a.b2nd --overwrite --chunks 1000,100 --blocks 100,100
    cippus info --chunks a.b2nd | sed -n '1p;$p'; cippus cat a.b2nd '[2999, 999:]'; cippus verify --deep a.b2nd
done
for ext in asdf npy ra blp bcolz blz; do
    cippus convert --fill 258 --dtype '>i2' --shape 5000 o.$ext && cippus cat o.$ext '[-2:]'; cippus verify --deep o.$ext
done
cippus convert --fill 1 --dtype bool --shape 2,2 --inline --name flags o.yaml; cippus cat o.yaml flags
cippus convert --fill uninit --dtype '{x: float32, name: ascii5}' --shape 2 r.asdf --codec zlib --name table; cippus cat r.asdf table
cippus convert --fill 1.5 --dtype i2 --shape 3 --accept-loss l.npy; cippus cat l.npy
cippus convert --fill 3 --dtype f8 --shape 0,4 e.npy; cippus ls e.npy; cippus convert --fill 3 --dtype f8 --shape '' s.npy || cippus convert --fill 3 --dtype f8 --shape '[]' s.npy || true
refused() { "$@" && echo written || echo $?; }
refused cippus convert --fill 1.5 --dtype i2 --shape 3 x.npy
refused cippus convert --fill 300 --dtype u1 --shape 3 x.npy
refused cippus convert --fill five --dtype i2 --shape 3 x.npy
refused cippus convert --fill 1 --dtype int2 --shape 3 x.npy
refused cippus convert --fill 1 --dtype i2 --shape 3,x x.npy
refused cippus convert --fill 1 --dtype i2 x.npy
refused cippus convert --fill 1 --dtype i2 --shape 3 l.npy x.npy
refused cippus convert --fill 1 --dtype i2 --shape 3 l.npy
refused cippus convert --fill 1 --dtype i2 --shape 3 -
refused cippus convert x.npy
ls
