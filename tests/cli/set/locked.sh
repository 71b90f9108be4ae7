# another process has the file: it appends rows and waits for more
cp "$SAMPLES/stream.asdf" x.asdf
mkfifo rows
cippus append x.asdf - --from raw <rows &
exec 3>rows
cippus cat "$SAMPLES/stream.asdf" '[0]' --to raw >&3
n=0
while [ "$n" -lt 500 ] && ! cippus ls x.asdf | grep -q '\[21, 3\]'; do
    sleep 0.02
    n=$((n + 1))
done
cippus set x.asdf a 1 2>err && exit 1
grep -c 'cippus: x.asdf: busy' err
exec 3>&-
wait
cippus set x.asdf a 1
cippus ls x.asdf
cippus tree x.asdf a
