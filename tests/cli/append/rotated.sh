# A log that is rotated while rows are added: no row goes into a file without a name, or into another one.
exec 2>&1
cp "$SAMPLES/stream.asdf" log.asdf
cippus cat log.asdf '[0:2]' --to raw >rows.raw
wait_for_rows() {
    for i in $(seq 500); do
        test "$(stat -c %s "$1")" -gt "$2" && return
        sleep 0.02
    done
}
old=$(stat -c %s log.asdf)
{
    cat rows.raw
    wait_for_rows log.asdf "$old"
    mv log.asdf log.1
    cp "$SAMPLES/stream.asdf" log.asdf
    cat rows.raw
} | cippus append log.asdf - --from raw || echo "status $?"
cmp log.asdf "$SAMPLES/stream.asdf"
cippus cat log.1 '[-2:]' --to raw | cmp - rows.raw
{
    cat rows.raw
    wait_for_rows log.asdf "$old"
    rm log.asdf
    cat rows.raw
} | cippus append log.asdf - --from raw || echo "status $?"
ls -A
cippus verify --deep log.1
