cp "$SAMPLES/roman.asdf" x.asdf
printf "\377" | dd of=x.asdf bs=1 seek=20000 conv=notrunc status=none
cippus verify x.asdf
