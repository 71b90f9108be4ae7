cp "$SAMPLES/night.asdf" x.asdf
cippus cat x.asdf counts '[0:2]' --to raw >rows.raw
cippus append x.asdf counts rows.raw
cat rows.raw | cippus append x.asdf counts - --from raw --history 'two rows'
cippus append x.asdf counts rows.raw --dtype int16 --shape '*,96'
cippus ls x.asdf | grep counts
cippus cat x.asdf counts '[-2:]' --to raw | cmp - rows.raw
cippus verify --deep x.asdf
