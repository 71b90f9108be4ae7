# fields of records in superchunks get other names, with their folders
cp -r "$SAMPLES/wells.blz" x
cippus mv x site/x 'site/a/b' 2>&1 || echo $?
cippus mv x site/x 'site/é.%'
cippus mv x site place
cippus mv x depth place 2>&1 || echo $?
cippus mv x depth "$(printf '\344')" 2>&1 | cat -v
cat x/meta/storage x/meta/sizes
find x/data | sort
cippus cat x . '[2:5]'
cippus verify --deep x
