# Different texts never look the same, and none of them reaches a terminal as control.
printf 'a\351\0\0a\352\0\0\303\251\0\0a\1b\0\\x41\\\\\1\0C:\\d' >t.raw
cippus cat t.raw --dtype '|S4' --shape 7 --to csv
cippus cat t.raw --dtype '|S4' --shape 7 --to json
printf '\0\330\0\0\0\0\21\0\375\377\0\0\205\0\0\0\351\0\0\0' >u.raw
cippus cat u.raw --dtype '<U1' --shape 5 --to csv
cippus cat u.raw --dtype '<U1' --shape 5 --to json
