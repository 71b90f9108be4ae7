# A shape is of just the bytes there are, whatever its lengths multiply to.
printf '\0\1\0\2\0\3' >r.raw
: >none.raw
for shape in 5 7 3,3 '*,4' '*,*' '*,0' 0 4294967296,4294967296 4294967296,4294967296,6 9223372036854775807,2,0 \
    9223372036854775808 -1 1.5 '2,-3' '6,' '[6' '6]' '' ' ' 0x6 ; do
    echo "'$shape'"
    cippus cat r.raw --shape "$shape" 2>&1 || echo $?
done
cippus cat none.raw --shape 0,3
cippus cat none.raw --shape '*,3'
cippus cat none.raw --shape 9223372036854775807,0 2>&1 || echo $?
cippus cat r.raw --dtype 'S99999999999' 2>&1 || echo $?
cippus cat r.raw --dtype '{x: uint8[4294967296,4294967296], y: int16}' 2>&1 || echo $?
# a pipe that is opened by its name is waited for
mkfifo pipe.raw && { sleep .2 && cat r.raw >pipe.raw & } && cippus cat pipe.raw
