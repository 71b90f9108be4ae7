# raw input without --dtype is little-endian, as cat writes it, whatever the array and the machine; or as --byteorder says
cp "$SAMPLES/night.asdf" x.asdf
cp "$SAMPLES/stream.asdf" s.asdf
cippus convert --path counts --byteorder big x.asdf big.asdf
printf '\1\0\2\0' >little.raw
printf '\0\1\0\2' >big.raw
for file in x.asdf big.asdf; do
    cippus put $file counts '[0, :2]' little.raw
    cippus put $file counts '[1, :2]' --byteorder little little.raw
    cippus put $file counts '[2, :2]' --byteorder big big.raw
    cippus put $file counts '[3, :2]' --dtype '<i2' little.raw
    cippus cat $file counts '[:4, :2]'
done
cippus ls s.asdf
cippus cat s.asdf '[:1]' --to npy >row.npy
cippus cat s.asdf '[:1]' --to raw >row.raw
cippus append s.asdf row.raw
cat row.raw | cippus append s.asdf - --from raw
cippus append s.asdf row.npy
cippus cat s.asdf '[0]' >first
for i in -1 -2 -3; do cippus cat s.asdf "[$i]" | cmp - first && echo the same; done
printf '1,2\n3,4\n' >n.csv
printf '\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\6' >five.raw
cippus convert --no-header n.csv n.asdf
cippus append n.asdf five.raw --byteorder big
cippus cat n.asdf
