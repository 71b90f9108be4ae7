for words in "--points x --to json" "--points x --as float32" "--stored" "--block 0 --to raw" "--mask --dtype int8" "--to nonsense" "--dtype nonsense" "--json"; do
    status=0
    cippus cat $words "$SAMPLES/complex.ra" 2>&1 | sed "s,$SAMPLES/,," || status=$?
    cippus cat $words "$SAMPLES/complex.ra" >/dev/null 2>&1 || echo "status $?"
done
