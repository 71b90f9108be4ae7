# processes that change different rows of one file one after the other, none of them lost
zeros() {
    head -c "$1" /dev/zero
}
zeros 800 >x.raw
cippus convert x.raw x.ra --dtype int64 --shape 100
for i in 0 1 2 3; do
    for k in 0 1 2 3 4; do
        cippus put x.ra "[$((25 * i + 5 * k)):$((25 * i + 5 * k + 5))]" "$((i + 1))" --wait 100 --durability process || touch lost
    done &
done
wait
test ! -e lost
cippus stat x.ra | grep -E 'min|max|mean'
cippus cat x.ra '[::25]'
cippus put x.ra '[0]' 1 --wait soon 2>&1 || echo $?
