cippus ls - <"$SAMPLES/roman.asdf"
