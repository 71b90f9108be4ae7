# What is said of the usual slips: the thing by its name, and the way on.
try() {
    status=0
    cippus "$@" 2>&1 | sed "s,$SAMPLES/,," || status=$?
}
exits() {
    status=0
    cippus "$@" >/dev/null 2>&1 || status=$?
    echo "exit $status"
}
try cat "$SAMPLES/night.asdf" imge
cippus convert "$SAMPLES/complex.ra" out.asdf
try convert "$SAMPLES/complex.ra" out.asdf
exits convert "$SAMPLES/complex.ra" out.asdf

cippus convert "$SAMPLES/roman.asdf" x.asdf --codec none
at=$(cippus info --blocks --json x.asdf | sed -n 's/.*"block": 0,.*"data_offset": \([0-9]*\).*/\1/p')
printf '\377' | dd of=x.asdf bs=1 seek=$((at + 5)) conv=notrunc status=none
try verify x.asdf
try cat x.asdf roman/data '[0, :3]' --check
exits cat x.asdf roman/data '[0, :3]' --check

cp "$SAMPLES/night.asdf" y.asdf
# (an input of [1, 4] for [4] is broadcast)
cippus cat y.asdf counts '[:2, :3]' --to npy >part.npy
try put y.asdf spectrum '[0:4]' part.npy
exits put y.asdf spectrum '[0:4]' part.npy
try set y.asdf exposure/time '{a: '
exits set y.asdf exposure/time '{a: '
try cat y.asdf image '[0, :3]' --dtype float
try cat y.asdf image '[0, :3]' --dtype flaot32
try cat y.asdf image '[0, :3]' --dtype complex
exits cat y.asdf image '[0, :3]' --dtype flaot32
try set y.asdf instrument/gain 1.9 --dry-run
