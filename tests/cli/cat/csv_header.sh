# A first line names the columns where it has no number; --header and --no-header decide otherwise,
# and on a terminal the decision is said.
printf '1, 2\n3,4\n' >n.csv
cippus cat n.csv
cippus cat n.csv --header --to csv
cippus cat n.csv --header ' 2' 2>&1 || cippus cat n.csv --header 2
printf ' a , "b c"\n' >q.csv && cippus cat q.csv 2>&1 || printf ' a ,"b c" \n' >q.csv
printf ' a ,"b c"\nx,y\n' >t.csv
cippus cat t.csv
cippus cat t.csv --no-header
printf 'name,2024\nx,1\n' >y.csv
cippus cat y.csv
cippus cat y.csv --header
cippus cat t.csv --header --no-header 2>&1 || echo $?
cippus cat - --from raw --header <n.csv 2>&1 || echo $?
on_terminal() {
    python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' cippus cat "$@" '[:0]' | tr -d '\r'
}
on_terminal n.csv
on_terminal t.csv
# names are any text
printf '\303\251,"\360\235\204\236 ""x""",it'"'"'s,b\\c,"d\r\ne"\n1,2,3,4,5\n' >u.csv
cippus cat u.csv --to csv | cmp u.csv -
cippus cat u.csv é
printf '\1\2' >r.raw && cippus cat r.raw --dtype "{'é': uint8, o: uint8}" --to csv
# one name for two columns
printf 'a,b, a\n1,2,3\n' | cippus cat - --from csv 2>&1 || echo $?
printf 'a, \n1,2\n' | cippus cat - --from csv 2>&1 || echo $?
