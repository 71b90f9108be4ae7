# records in superchunks: a field in place, rows, a shape, attributes
cp -r "$SAMPLES/wells.blz" x
cippus put x site/x '[3:6]' -7
cippus put x depth '[40:]' 2.5 --dry-run
cippus put x depth '[40:]' 2.5
cippus cat x . '[2:6]'
cippus cat x . '[58:]'
cippus append x x --dry-run
cippus append x "$SAMPLES/wells.blz"
cippus resize x 125
cippus cat x . '[118:122]'
cippus info --blocks x | head -4
cippus verify --deep x
cippus resize x 45
cippus set x attributes/unit m
cippus info x
cippus verify --deep x
find x -type f | sort
cippus resize x 45,2 2>&1 || echo $?
