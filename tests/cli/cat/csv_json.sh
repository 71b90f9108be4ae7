cippus cat --to csv "$SAMPLES/night.asdf" stars
cippus cat --to csv "$SAMPLES/night.asdf" masked "[:2, 3:]"
cippus cat --to csv "$SAMPLES/night.asdf" spectrum_again "[-2:]"
cippus cat --to json "$SAMPLES/night.asdf" stars "[:2]"
cippus cat --to json "$SAMPLES/complex.ra"
cippus cat --to json "$SAMPLES/night.asdf" masked "[:2, 5:5]"
cippus cat --to json "$SAMPLES/night.asdf" masked "[3, 3]"
cippus cat --to jsonl "$SAMPLES/night.asdf" stars "[:2]"
cippus cat --to jsonl "$SAMPLES/night.asdf" masked "[:2, 3:]"
cippus cat -o c.ndjson "$SAMPLES/complex.ra" && cat c.ndjson
