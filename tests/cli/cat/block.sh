cippus cat --block 1 "$SAMPLES/night.asdf" | md5sum
cippus cat --to raw "$SAMPLES/night.asdf" counts | md5sum
cippus cat --block 1 --stored "$SAMPLES/night.asdf" | head -c 2 | od -An -t x1
