# A column's own attributes go along, from table to table
printf 'a,b\n1,2\n3,4\n' >t.csv
cippus convert t.csv x.bcolz
printf '{"unit": "m"}' >x.bcolz/a/__attrs__
cippus convert x.bcolz y.bcolz
cippus convert --format blz-dir x.bcolz z.blz
for to in y.bcolz z.blz; do
    cat $to/a/__attrs__
    echo
    cat $to/b/__attrs__
    echo
    cippus diff --bookkeeping x.bcolz $to && echo the same
done
