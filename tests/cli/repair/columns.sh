# A table of which one column is damaged: the other is copied, or the rows that are lost are filled.
cp -r "$SAMPLES/prices.bcolz" x.bcolz
printf 'XXXX' | dd of=x.bcolz/close/data/__1.blp bs=1 seek=40 conv=notrunc status=none
cippus repair x.bcolz y.bcolz || test $? = 1
cippus ls y.bcolz
cippus cat y.bcolz share --to csv >a
cippus cat "$SAMPLES/prices.bcolz" share --to csv | cmp - a
cippus repair x.bcolz z.bcolz --fill nan || test $? = 1
cippus verify --deep z.bcolz
cippus cat z.bcolz '[14:17]' --to csv
cippus stat z.bcolz close | grep -i nan
