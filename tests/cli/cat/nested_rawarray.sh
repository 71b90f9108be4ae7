for i in 1 2 3 4 5; do
    printf "rawarray\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\6\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0" >part$i
    printf "\\$i\0\0\0\0\0" >>part$i
done
size=$(wc -c <part1 | tr -d " ")
{
    printf "rawarray\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    printf "\\$(printf %o "$size")\0\0\0\0\0\0\0\\$(printf %o $((size * 5 % 256)))\\$(printf %o $((size * 5 / 256)))\0\0\0\0\0\0"
    printf "\1\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0"
    cat part1 part2 part3 part4 part5
} >nest.ra
cippus ls nest.ra
cippus cat nest.ra "[3]" --to raw >fourth.ra
cmp fourth.ra part4
cippus cat fourth.ra
