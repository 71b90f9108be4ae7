# fields of records in superchunks go, with their folders
cp -r "$SAMPLES/wells.blz" x
cippus rm --dry-run x site/x
cippus rm x site/x
cippus cat x . '[2:5]'
cat x/meta/storage x/meta/sizes
find x/data | sort
cp -r x y; cippus append x y
cippus verify --deep x
cippus rm x site/x 2>&1 || echo $?
cippus rm x depth
cippus info x
cippus rm x site 2>&1 || echo $?
cippus verify --deep x
