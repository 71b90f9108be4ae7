# rows that are there, then those that are appended, until it is stopped
until_lines() {
    for i in $(seq 300); do
        [ "$(wc -l <"$1")" -ge "$2" ] && return
        sleep 0.1
    done
    echo "no $2 lines in $1" && cat "$1"
}
# a writer is told BUSY while the file is just being looked at
append() {
    for i in $(seq 300); do
        cippus append "$@" 2>why && return
        grep -q ': busy: ' why || break
        sleep 0.1
    done
    cat why
}
cp "$SAMPLES/stream.asdf" x.asdf
printf '' >text
cippus cat x.asdf --follow >text 2>err &
one=$!
rows=$(cippus cat x.asdf | wc -l)
until_lines text "$rows"
cippus cat x.asdf '[0:2]' --to raw >two.raw
append x.asdf two.raw
until_lines text $((rows + 2))
append x.asdf two.raw
until_lines text $((rows + 4))
cippus cat x.asdf | cmp - text
kill $one
wait $one || echo "stopped"
cat err
# a csv's names stand once
printf 'a,b\n1,2\n3,4\n' >t.csv
cippus convert t.csv t.asdf --inline
cippus ls t.asdf
cippus cat t.asdf --follow --to csv >csv 2>err &
two=$!
until_lines csv 3
append t.asdf t.csv
until_lines csv 5
cat csv
rm t.asdf # another may come
sleep 0.5
cippus convert t.csv t.asdf --inline
sleep 0.5
until_lines err 1
kill $two
wait $two || echo "stopped"
cat err
for options in "[0:1] --follow" "--follow --points t.csv" "--follow --to npy" "--follow --block 0"; do
    # shellcheck disable=SC2086 # words
    cippus cat x.asdf $options 2>&1 || echo "status $?"
done
cippus cat - --follow <x.asdf 2>&1 || echo "status $?"
cippus cat missing.asdf --follow 2>&1 || echo "status $?"
