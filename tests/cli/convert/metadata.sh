# trailing metadata of a RawArray come back on the way through ASDF
exec 2>&1
for tail in 'a text, with "quotes"' 'two
lines
' '\000\377 bytes'; do
    cp "$SAMPLES/complex.ra" in.ra
    printf "$tail" >>in.ra
    cippus convert in.ra x.asdf --overwrite && cippus convert x.asdf back.ra --overwrite && cmp in.ra back.ra
    cippus convert --byteorder big x.asdf y.asdf --overwrite && cippus tree y.asdf metadata
done
