printf "0 0\n7\n" >points
cippus cat --points points "$SAMPLES/night.asdf" masked
