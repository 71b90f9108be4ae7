# A file without an array of numbers is said to be one.
exec 2>&1
printf 'name\nx\ny\n' >t.csv
cippus stat t.csv
cippus stat --json t.csv
