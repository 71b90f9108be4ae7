cp "$SAMPLES/night.asdf" x.asdf
cippus cat x.asdf image '[0:2, 0:3]' --to npy >in.npy
cippus put x.asdf image '[5:7, 10:13]' in.npy
cippus cat x.asdf image '[5:7, 10:13]' --to npy | cmp - in.npy
cippus cat x.asdf image '[0]' --to raw >row.raw
cippus put x.asdf image '[9]' row.raw --history 'row 9 copied'
cippus cat x.asdf image '[9]' --to raw | cmp - row.raw
printf '7,8\n9,10\n' >q.csv
cippus put x.asdf counts '[::2, -2:][:2]' q.csv 2>&1 || echo "status $?"
cippus put x.asdf counts '[0:4:2, -2:]' q.csv
cippus cat x.asdf counts '[0:4, -3:]'
printf '\0\1\0\2' >two.raw
cippus put x.asdf counts '[0, :2]' two.raw --dtype '>i2'
cat two.raw | cippus put x.asdf counts '[1, :2]' - --from raw --byteorder big --dtype int16
cippus cat x.asdf counts '[:2, :3]'
cippus verify --deep x.asdf
cp "$SAMPLES/roman.asdf" y.asdf
cippus put y.asdf roman/data "$SAMPLES/roman.asdf" --path roman/data
cippus cat y.asdf roman/data --to raw >a
cippus cat "$SAMPLES/roman.asdf" roman/data --to raw | cmp - a
