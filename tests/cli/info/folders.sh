# Folders of BLZ and bcolz through every command that reads.
cd "$SAMPLES"
for file in wells.blz prices.bcolz; do
    cippus info $file
    cippus ls $file
    cippus tree $file
    cippus verify --deep $file
done
cippus cat wells.blz . '[38:42]'
cippus cat wells.blz site/y '[::20]'
cippus cat prices.bcolz share '[14:18]'
cippus cat prices.bcolz . '[15:17]' --to csv
cippus stat prices.bcolz close
cippus info --chunks prices.bcolz --path close
cippus info --blocks wells.blz | head -n 4
cippus convert "$SAMPLES/prices.bcolz" "$OLDPWD/prices.asdf"
cippus convert --accept-loss "$SAMPLES/prices.bcolz" "$OLDPWD/prices.npy" 2>/dev/null
cd "$OLDPWD"
cippus ls prices.asdf prices.npy
cippus cat prices.npy '[39]'
