printf '\0\1\0\2\0\3' >r.raw
cippus cat r.raw --dtype int16 --byteorder big
cippus cat r.raw --dtype int16
cippus cat r.raw --dtype '>i2'
cippus cat r.raw --shape '*,2' '[1:]'
cippus cat r.raw --shape 1x6
cippus cat r.raw --dtype '{x: uint8, y: int16[1]}' --to csv
cippus cat - --from raw --dtype uint16 <r.raw
cat r.raw | cippus cat - --from raw --shape '[2, 3]' --to raw | cmp - r.raw
cippus stat r.raw --dtype int16 --byteorder big
cp r.raw named && cippus cat named --shape 6 --to json
: >none.raw && cippus cat none.raw
for wrong in "--shape *,4" "--shape a" "--shape 7" "--dtype nothing" "--byteorder up" "--from xml"; do
    cippus cat r.raw $wrong 2>&1 && exit 1
done
cippus cat / --from raw 2>&1 || echo $?
cp "$SAMPLES/complex.ra" known.raw && cippus cat known.raw '[0, 0]'
cippus cat missing.raw 2>&1 || echo $?
# names of fields may hold what Python's literals escape
cippus cat r.raw --dtype '{"it'"'"'s": uint8, "a\\b": uint8, "c\nd": uint8, e: uint8[3]}' --to npy >names.npy
cippus info names.npy | grep descr
cippus cat names.npy --to csv
