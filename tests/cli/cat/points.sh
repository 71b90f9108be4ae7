printf "0 0\n3 -1\n\n1,2\n" >points
cippus cat --points points "$SAMPLES/night.asdf" masked
cippus cat --points points --to raw "$SAMPLES/night.asdf" masked | od -An -t fD
