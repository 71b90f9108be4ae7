# formats by their extensions, types by numpy's names
exec 2>&1
cp "$SAMPLES/complex.ra" .
for format in b2nd b2 ra blp numpy; do
    cippus convert complex.ra "out.$format" --format "$format" --overwrite && cippus info "out.$format" | sed -n 2p
done
for type in float double single half int uint short ushort byte ubyte bool complex; do
    cippus convert --fill 1 --dtype "$type" --shape 2 "$type.npy" && cippus ls "$type.npy"
done
cippus cat complex.ra '[0, 1]' --dtype complex
cippus convert complex.ra x --format foo || echo "exit $?"
cippus cat complex.ra --dtype real || echo "exit $?"
