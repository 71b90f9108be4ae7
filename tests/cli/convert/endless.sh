# of a pipe that is longer than --shape no more is read than shows it
status=0
timeout 20 cippus convert - x.npy --from raw --dtype int32 --shape 10,3 </dev/zero 2>&1 || status=$?
echo "status $status"
mkfifo rows.raw
tr '\0' x </dev/zero 2>/dev/null >rows.raw &
status=0
timeout 20 cippus put "$SAMPLES/stream.asdf" . '[0]' rows.raw --dtype float64 --shape 3 --dry-run 2>&1 || status=$?
echo "status $status"
printf 'abc' | cippus convert - x.npy --from raw --shape 4 2>&1 || echo $?
printf 'abcd' | cippus convert - x.npy --from raw --shape '*,2' 2>&1 && cippus ls x.npy
printf 'abc' | cippus convert - y.npy --from raw --shape '*,2' 2>&1 || echo $?
wait
