# Texts that look like escapes are what they look like; --unescape undoes those of cat --to csv.
printf 'dir\nC:\\x41\nC:\\d\n' >dir.csv
cippus cat dir.csv --to json
cippus cat dir.csv --unescape --to json
again() {
    cippus cat "$@" --to csv >t.csv
    cippus cat t.csv --no-header --unescape --to raw | cmp - "$1"
    cippus cat t.csv --no-header --unescape --to csv | diff - t.csv
}
# surrogates, what is beyond Unicode, controls, U+FFFD, backslashes
printf '\0\330\0\0\0\0\21\0\1\0\0\0\375\377\0\0\205\0\0\0\134\0\0\0\134\0\0\0\170\0\0\0\64\0\0\0\61\0\0\0' >u.raw
again u.raw --dtype '<U2' --shape 5
cat t.csv
printf '\134\0\0\0\134\0\0\0\0\0\0\0\1\0\0\0\134\0\0\0\144\0\0\0' >v.raw
again v.raw --dtype '<U2' --shape 3
cat t.csv
# names too
printf '\1\2' >n.raw
printf 'a\\x41\1\303\251,\342\200\256'"'"'\n1,2\n' >plain.csv
cippus cat plain.csv --to csv >n.csv && cat n.csv
cippus cat n.csv --header --unescape --to csv | diff - n.csv
cippus cat n.csv --header --unescape "a\\x41$(printf '\1')é"
# what no escape is, or no text
for bad in 'a\xe9' 'a\x4' 'a\u00g0' 'a\U0011' 'a\x00'; do
    printf 'name\nx\n%s\n' "$bad" | cippus cat - --from csv --unescape 2>&1 || echo $?
done
printf 'a\\ud800\n1\n' | cippus cat - --from csv --header --unescape 2>&1 || echo $?
cippus cat n.raw --from raw --unescape 2>&1 || echo $?
# put takes it as well
printf 'C:\\\\x41\n' >one.csv
printf %032d 0 >w.raw && cippus convert w.raw t.asdf --dtype '<U8' --shape 1
cippus put t.asdf data one.csv --no-header --unescape && cippus cat t.asdf
