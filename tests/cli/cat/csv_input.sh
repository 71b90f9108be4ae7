printf '\357\273\277name,t,ok,v\r\n"a ""x"", y",1,true,1.5\r\n\303\251,2,false,\r\n' >t.csv
cippus cat t.csv
cippus cat t.csv t
cippus cat t.csv --to csv
printf '1,2,3\n4,5,6.5\n\n' >n.csv
cippus cat n.csv
cippus cat n.csv --dtype int64 '[:, :2]'
printf '1\n-9223372036854775808\n' | cippus cat - --from csv
printf "it's,b\\\\c\n1,\"2\n3\"\n" >odd.csv && cippus cat odd.csv --to csv
bad() {
    printf "$1" >bad.csv
    cippus cat bad.csv 2>&1 && exit 1
    return 0
}
bad ''
bad 'a,b\n\n'
bad '1,2\n3\n'
bad '1,2\n3,4,5\n'
bad '1\n"2\n'
bad 'a\n"2"x\n'
bad '1,"2"\n3, "4"\n'
bad 'a\n\377\n'
bad 'a\n\355\240\200\n'
bad 'a\nb\0c\n'
bad '\377\376a\0'
bad 'a,a\n1,2\n'
bad 'a,\n1,2\n'
bad '1\n\n2\n'
cippus cat n.csv --shape 6 2>&1 || echo $?
# nothing but blanks is not a missing number
for text in '  ' ' \n\t\n' '  \n\n' '\n'; do
    printf "$text" >blank.csv && cippus cat blank.csv 2>&1 || echo $?
done
printf '""\n' >empty.csv && cippus cat empty.csv
printf ' ,\n' >empty.csv && cippus cat empty.csv
