# over a file with an unfinished update; where such a file was; while rows come in
exec 2>&1
cp "$SAMPLES/night.asdf" x.asdf
echo nonsense >.x.asdf.cip-journal
cippus convert "$SAMPLES/stream.asdf" x.asdf --overwrite || echo $?
cippus recover x.asdf --discard
cippus convert "$SAMPLES/stream.asdf" x.asdf --overwrite
cippus ls x.asdf
rm x.asdf
echo nonsense >.x.asdf.cip-journal
cippus convert "$SAMPLES/stream.asdf" x.asdf || echo $?
rm .x.asdf.cip-journal
cippus convert "$SAMPLES/stream.asdf" x.asdf
cippus cat x.asdf '[0:3]' --to raw >rows.raw
mkfifo rows
size=$(wc -c <x.asdf)
cippus append x.asdf events - --from raw <rows &
exec 3>rows
cat rows.raw >&3
i=0
until test "$(wc -c <x.asdf)" -gt "$size" || test $i = 100; do sleep 0.1; i=$((i + 1)); done
cippus convert "$SAMPLES/night.asdf" x.asdf --overwrite || echo $?
cat rows.raw >&3
exec 3>&-
wait
cippus ls x.asdf
ls -A | grep cip- || true
