# A record's field has its own label; infinities are numpy's, with the finite mean beside.
cippus stat "$SAMPLES/night.asdf" stars/flux
cippus stat --json "$SAMPLES/night.asdf" stars/position '[:2]' | sed "s,$SAMPLES/,,"
printf 'inf\n1\n3\n' >plus.csv
printf 'inf\n-inf\n1\n' >both.csv
cippus stat plus.csv
cippus stat both.csv
cippus stat --json both.csv
