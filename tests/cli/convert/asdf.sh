cippus convert "$SAMPLES/roman.asdf" same.asdf && cippus verify same.asdf && cippus ls same.asdf
cippus convert --codec zlib:9 --standard 1.5.0 "$SAMPLES/night.asdf" new.asdf && cippus verify --deep new.asdf && cippus ls new.asdf
head -c 34 new.asdf
cippus convert --path masked "$SAMPLES/night.asdf" one.asdf && cippus tree one.asdf masked && cippus cat one.asdf masked '[0]' --mask
