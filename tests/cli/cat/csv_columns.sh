# An array without names has cells of one type and one width, however the columns differ.
show() {
    printf "$1" >x.csv && shift
    cippus cat x.csv "$@" --to npy >x.npy
    tr -d '\0\223' <x.npy | sed -n "s/.*'descr': \(.*\), 'fort.*'shape': \(.*\), }.*/\1 \2/p"
    cippus cat x.npy
}
show '1,2\nabc,defgh\nxx,yyyyyyyyyy\n'
show '\303\251\n123456\n' --no-header
show 'true,1\n'
show 'true,\n'
show ' true ,FALSE\n'
show '1,2\n\n3,\n'
show '1,2,\n3,4,\n'
show '1\r2\r\n"3"\n'
show '""\n1\n'
show ' 1,2 \n\t-3\t, +4\n'
show ' a , b\n x ,1\n'
show '"a\r\nb",1\nc,2\n' --no-header
