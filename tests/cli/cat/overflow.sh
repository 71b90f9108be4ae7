cippus cat --dtype int8 "$SAMPLES/phantom.ra" 2>&1 >/dev/null | sed "s|$SAMPLES/||"
