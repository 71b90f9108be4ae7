cp "$SAMPLES/night.asdf" x.asdf
cippus set x.asdf exposure/time 5 --history 'time corrected'
cippus tree x.asdf history/entries
cippus verify --deep x.asdf
