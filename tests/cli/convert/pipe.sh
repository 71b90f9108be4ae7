cippus convert --codec lz4 "$SAMPLES/phantom.ra" a.asdf
cippus convert --codec lz4 --format asdf "$SAMPLES/phantom.ra" - | cmp - a.asdf
cippus convert --codec lz4 --threads 1 "$SAMPLES/phantom.ra" b.asdf && cmp a.asdf b.asdf
cippus cat --to raw a.asdf data | md5sum; cippus cat --to raw "$SAMPLES/phantom.ra" | md5sum
