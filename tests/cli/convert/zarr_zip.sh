# Zarr stores in zip archives: written by name, by format and to a pipe, always the same bytes; what is refused
all() {
cippus convert "$SAMPLES/roman.asdf" r.zarr
cippus convert "$SAMPLES/roman.asdf" r.zarr.zip
cippus diff r.zarr r.zarr.zip && echo same
python3 - r.zarr r.zarr.zip <<'END'
import pathlib, sys, zipfile
folder, archive = pathlib.Path(sys.argv[1]), zipfile.ZipFile(sys.argv[2])
for entry in archive.infolist():
    print(entry.filename, entry.compress_type, entry.date_time[0], (folder / entry.filename).read_bytes() == archive.read(entry))
print(sorted(archive.namelist()) == sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()))
END
cippus verify --deep r.zarr.zip
cippus convert "$SAMPLES/roman.asdf" - --format zarr.zip --threads 1 2>&- | cmp - r.zarr.zip && echo same
cippus convert "$SAMPLES/roman.asdf" s.zip --format zarr --threads 4 2>&- && cmp s.zip r.zarr.zip && echo same
cippus convert "$SAMPLES/cube.b2nd" two.zip --format zarr2 --option chunks=2,8,16
python3 -m zipfile -l two.zip | sed -n 2,4p | cut -c1-30
cippus diff "$SAMPLES/cube.b2nd" two.zip && echo same
cippus convert "$SAMPLES/cube.b2nd" x.zip || echo "exit $?"
cippus convert "$SAMPLES/cube.b2nd" s.zip --format zarr || echo "exit $?"
cippus convert "$SAMPLES/cube.b2nd" "$SAMPLES/cube.b2nd" x.zarr.zip --name a --name 'b\c' --accept-loss || echo "exit $?"
ls -A
}
all 2>&1 | sed "s,$SAMPLES/,,"
