# A value that the array's type does not hold exactly is refused, and nothing is written.
cp "$SAMPLES/night.asdf" x.asdf
printf '1.9\n2.0\n' >fraction.csv
printf '7\n99999\n' >large.csv
printf '9007199254740993\n' >digits.csv
for input in fraction large; do
    cippus put x.asdf counts '[:2, 0]' $input.csv 2>&1 || echo "status $?"
    cmp x.asdf "$SAMPLES/night.asdf"
done
cippus put x.asdf spectrum '[:1]' digits.csv 2>&1 || echo "status $?"
cmp x.asdf "$SAMPLES/night.asdf"
cippus put x.asdf counts '[:2, 0]' fraction.csv --accept-loss
cippus put x.asdf counts '[:2, 1]' large.csv --accept-loss
cippus cat x.asdf counts '[:2, :2]'
