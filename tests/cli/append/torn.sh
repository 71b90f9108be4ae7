# A pipe that ends in a row: how many rows were kept is said.
cp "$SAMPLES/stream.asdf" x.asdf
cippus ls x.asdf
head -c 100 /dev/zero | cippus append x.asdf - --from raw 2>&1 || echo "status $?"
head -c 30 /dev/zero | cippus append x.asdf - --from raw 2>&1 || echo "status $?"
head -c 10 /dev/zero | cippus append x.asdf - --from raw 2>&1 || echo "status $?"
cippus ls x.asdf
cippus cat x.asdf '[-2:]'
