# Zarr stores in zip archives, changed: elements, rows, shapes, attributes, arrays that come and go
exec 2>&1
cp "$SAMPLES/roman.asdf" .
cippus convert roman.asdf s.zip --format zarr --codec none --option chunks=32,32
cippus convert s.zip s.zarr
same() {
    status=0
    verb=$1
    shift
    cippus "$verb" s.zarr "$@" >/dev/null 2>&1 || true
    cippus "$verb" s.zip "$@" || status=$?
    [ $status = 0 ] || echo "status $status"
    cippus diff s.zarr s.zip || echo different
    cippus verify --deep s.zip
    python3 -m zipfile -t s.zip
}
cippus cat "$SAMPLES/cube.b2nd" --to npy >cube.npy
same put roman/data '[0, 0]' 5
cippus put s.zip roman/data '[0, 0]' 6 --dry-run
same resize roman/dq 40,96
same set title 'a store'
same set roman/attrs/data/units DN/s
same rm roman/err
same put new/cube cube.npy --new
same put new cube.npy --new
same append new/cube cube.npy
same rm new
python3 - <<'END'
import zipfile
with zipfile.ZipFile("s.zip") as z:
    print(sum(i.file_size for i in z.infolist()), len(z.namelist()))
END
cippus tree s.zip roman/attrs
echo "--- refused, and left as they are"
python3 -W ignore - <<'END'
import shutil, zipfile
for name, member in {"twice.zip": "zarr.json", "climbs.zip": "../zarr.json", "absolute.zip": "/a"}.items():
    shutil.copy("s.zip", name)
    with zipfile.ZipFile(name, "a") as z:
        z.writestr(member, "{}")
with open("s.zip", "rb") as f:
    data = f.read()
open("before.zip", "wb").write(b"PK\3\4" + data)
open("after.zip", "wb").write(data + b"more")
open("cut.zip", "wb").write(data[:-1])
END
for bad in twice climbs absolute before after cut; do
    cp $bad.zip was
    cippus set $bad.zip title new || echo "status $?"
    cmp $bad.zip was
done
ls -A
