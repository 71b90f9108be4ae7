# What separates cells is seen in the first lines, or said; a doubt, or blanks, are errors.
exec 2>&1
try() {
    printf "$1" >t.csv
    shift
    cippus cat t.csv "$@" --to csv || echo "exit $?"
}
try '1;2;3\n4;5;6\n'
try 'a;b\n1;"x;y,z"\n2;u\n'
try 'a\tb\n1\tx, y\n2\tz\n'
try '1|2\n3|4\n'
try '1,2\n3,4\n'
try '1\n2\n'
try 'one\ntwo words\n'
echo "# in doubt"
try '1,5;2,5\n3,5;4,5\n'
try '1,5;2,5\n3,5;4,5\n' --sep ';'
try '1,5;2,5\n3,5;4,5\n' --sep ,
echo "# uneven"
try 'a;b\nc\n'
try 'a;b\n1;2\n3;4;5\n'
try 'a;b\n1;2\n3;4;5\n' --sep ';'
try 'a;b\n1;2\n3;4;5\n' --sep ,
try 'a\tb\n1\t2\n3\n'
try 'a;b\r\n\r\n1;"2\n3"\r\n4\r\n'
try 'title\n1;2\n3;4\n'
try 'a,b;c\n1,2\n3\n'
try 'one\ntwo\nthree; and four\n'
try '1,2\n3,4,5,6\n'
echo "# blanks"
try '1 2 3\n4 5 6\n'
try '1 2 3\n4 5 6\n' --sep ' '
try '1 2 3\n4 5 6\n' --sep ,
echo "# said"
try '1:2\n3:4\n' --sep :
try '1\t2\n' --sep tab
try '1\t2\n' --sep '\t'
try '1;2\n' --sep ';;'
try '1;2\n' --sep ''
try '1;2\n' --sep '"'
cippus cat "$SAMPLES/complex.ra" --sep ';' || echo "exit $?"
echo "# of updates and conversions"
cp "$SAMPLES/night.asdf" x.asdf
printf '1;2\n3;4\n' >part.csv
cippus put x.asdf counts '[:2, :2]' part.csv
cippus cat x.asdf counts '[:2, :2]'
printf '1:2\n' >row.csv
cippus put x.asdf counts '[:1, :2]' row.csv --sep :
cippus cat x.asdf counts '[:1, :2]'
cippus convert part.csv part.npy && cippus ls part.npy
