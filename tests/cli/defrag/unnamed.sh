cp "$SAMPLES/night.asdf" x.asdf
cippus rm x.asdf counts
cippus info --blocks x.asdf | wc -l
cippus defrag x.asdf --dry-run >plan
test -s plan
cippus info --blocks x.asdf | wc -l
cippus defrag x.asdf
cippus info --blocks x.asdf | wc -l
cippus defrag x.asdf --json
cippus verify --deep x.asdf
for path in image spectrum stars; do
    cippus cat x.asdf $path --to raw >a
    cippus cat "$SAMPLES/night.asdf" $path --to raw | cmp - a
done
