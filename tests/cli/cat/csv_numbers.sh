# A number is read as it is written, or its line is refused.
show() {
    printf -- "$1" >x.csv
    cippus cat x.csv --to json 2>&1 || echo $?
}
for integers in 9223372036854775807 9223372036854775808 18446744073709551615 18446744073709551616 \
    -9223372036854775808 -9223372036854775809 9007199254740993 -0 007 +7 000000000000000000000000000001; do
    show "1\n$integers\n"
done
show '18446744073709551615\n-1\n'
# beside floats and empty cells
for integers in 9007199254740992 9007199254740993 -9007199254740993 100000000000000000000 \
    100000000000000000001 18446744073709551616 -0; do
    show "1.5\n$integers\n"
done
show '9007199254740993,\n'
for floats in 1e308 1e309 -1e309 1e-320 1e-400 0e-400 .5 5. +.5e+1 nan -inf Infinity -0.0; do
    show "$floats\n"
done
# no numbers
for texts in 0x10 1_000 1e 1e+ . - 1.2.3 'nan(1)' 'in' 1d5 0b1 '1 2' 12:30 2026-01-01 --1 NA; do
    show "1\n$texts\n"
done
