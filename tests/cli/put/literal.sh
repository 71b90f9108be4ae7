# a value stands for an array of its own, and shapes broadcast as numpy's
exec 2>&1
cp "$SAMPLES/night.asdf" x.asdf
cippus put x.asdf counts '[:2, :3]' 42
cippus put x.asdf counts '[0, 0]' -7
printf '1\n2\n' >two.csv
cippus put x.asdf counts '[:2, 4:7]' 5 --history 'five'
cippus cat x.asdf counts '[:2, :7]'
printf '1,2,3\n' >row.csv
cippus put x.asdf counts '[4:8, :3]' row.csv
cippus cat x.asdf counts '[4:8, :3]'
cippus cat --to npy x.asdf counts '[4:8, 2:3]' >column.npy
cippus put x.asdf counts '[4:8, :3]' column.npy
cippus cat x.asdf counts '[4:8, :4]'
cippus cat --to npy x.asdf counts '[4:7, :4]' >wrong.npy
cippus put x.asdf counts '[4:8, :4]' wrong.npy || echo $?
cippus put x.asdf image '[0, :4]' nan
cippus put x.asdf image '[1, :4]' 1.1
cippus put x.asdf image '[2, :2]' -- -inf
cippus cat x.asdf image '[:3, :5]'
cippus put x.asdf counts '[0]' 1.5 || echo $?
cippus put x.asdf counts '[0]' 70000 || echo $?
cippus put x.asdf counts '[0]' true
cippus put x.asdf counts '[0]' 12,5 || echo $?
cippus put x.asdf counts '[0]' missing.npy || echo $?
cippus put x.asdf spectrum 0
cippus stat x.asdf spectrum
cippus put --new x.asdf answer 42
printf '9\n8\n' >3
cippus put x.asdf counts '[0, :2]' 3 --from csv
cippus cat x.asdf counts '[0, :3]'
cippus cat x.asdf answer
cippus verify --deep x.asdf
