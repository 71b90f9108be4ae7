# options that only an update heeds are heeded for raw rows as well
exec 2>&1
cp "$SAMPLES/stream.asdf" x.asdf
cippus cat x.asdf '[0:3]' --to raw >rows.raw
cippus append x.asdf events rows.raw --md5 nonsense || echo $?
cippus append x.asdf events rows.raw --md5 current || echo $?
cippus ls x.asdf
cippus append x.asdf events rows.raw --tree-slack 8K || echo $?
cippus ls x.asdf && cippus verify --deep x.asdf
cippus append x.asdf events - --from raw --tree-slack 8K --dry-run <rows.raw
ln x.asdf y.asdf
cippus append x.asdf events rows.raw --break-links || echo $?
cippus ls x.asdf
cippus verify --deep x.asdf
printf '1,2\n' >rows.csv
for wrong in "--dtype int8" "--byteorder big" "--shape 1,2"; do
    cippus append x.asdf rows.csv $wrong 2>&1 || echo $?
    cippus put x.asdf rows.csv $wrong 2>&1 || echo $?
done
