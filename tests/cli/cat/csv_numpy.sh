# What numpy.savetxt writes: cells aligned by blanks, complex numbers, names behind "# ".
exec 2>&1
try() {
    printf "$1" >t.csv
    shift
    cippus cat t.csv "$@" --to csv || echo "exit $?"
}
echo "# blanks"
try '    0     1     2\n   10    11    12\n'
try '    0     1     2\n   10    11    12\n' --sep blanks
try '    0     1     2\n   10    11    12\n' --sep ,
try '    0\n   10\n'
try '# a b\n 1.5   2 \n 3\t 4\n'
try '# a b\n 1.5   2 \n 3\t 4\n' --sep blanks
try 'name\n1 2\n'
try '"x  y"  " 1"\r\n  z\t\t2' --sep blanks
try '1 2\n3 4 5\n' --sep blanks
try '# 1 2\n3 4\n' --sep blanks --no-header
awk 'BEGIN { for (i = 0; i < 9000; i++) printf "%7d    %5d  \n", i, -i }' >long.csv
cippus stat long.csv --sep blanks
echo "# complex"
try ' (1.000e+00+2.500e-01j)\n (3.0e+00-4.0e+00j)\n'
try ' (1e+00+2e+00j), (3e+00-4e+00j)\n (5e+00+nanj), (-infj)\n'
try 'z,x\n1+2j,1\n2j,2\n3.5,\n,4\n'
try '1j\n9007199254740993\n'
try '(9007199254740993+1j)\n'
try '1e999j\n'
try '1+2j\ntrue\n'
try 'j\n1+j\n(1+2j\n1+2\n1j+2\n'
cippus cat "$SAMPLES/complex.ra" --to csv >c.csv
cippus cat c.csv --to csv | cmp - c.csv
cippus put "$SAMPLES/complex.ra" . 2-1j --dry-run | tail -1
echo "# names"
try '# a,b\n1,2\n'
try '# 1,2\n3,4\n'
try '#1,2\n3,4\n'
try '\357\273\277# a;b\n1;2\n'
try '# a,b\n1,2\n' --no-header
try '" a","b ", c ,a\n1,2,3,4\n'
try '"# a","#b"\n1,2\n'
