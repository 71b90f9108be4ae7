# Files of other formats are named, by their first bytes.
try() {
    printf "$2" >"$1"
    cippus info "$1" 2>&1 || echo "exit $?"
}
try a.hdf '\016\003\023\001'
try a.fits 'SIMPLE  =                    T'
try a.nc 'CDF\001\0\0\0\0'
try a.npz 'PK\003\004\024\0\0\0'
try a.gz '\037\213\010\0\0\0\0\0'
try a.zst '\050\265\057\375\044\0\0\0'
try a.bz2 'BZh91AY&SY'
try a.tif 'II*\0\010\0\0\0'
try a.png '\211PNG\r\n\032\n'
try a.pkl '\200\004\225\n\0\0\0\0'
try a.parquet 'PAR1\025\004\025\020'
try a.txt 'one, two, three\n1, 2, 3\n'
try lfs.asdf 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n'
try page.asdf '<!DOCTYPE html>\n<html><body>404</body></html>\n'
try page2.asdf '<html><body>404</body></html>\n'
try error.b2nd '<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>'
for name in lfs.raw lfs.csv page.dat; do # not taken for data by their names
    cp "${name%.*}.asdf" "$name"
    cippus cat "$name" 2>&1 || echo "exit $?"
done
try a.dat '\001\002\003\004\005\006\007\010\011'
printf '' | cippus info - 2>&1 || echo "exit $?"
cippus ls ftp://example.org/a.asdf 2>&1 || echo "exit $?"
cippus convert a.hdf a.npy 2>&1 || echo "exit $?"
# as numpy and Python write them
python3 - <<'END'
import gzip, bz2, lzma, pickle, zipfile
gzip.open("b.gz", "wb").write(b"x" * 100)
bz2.open("b.bz2", "wb").write(b"x" * 100)
lzma.open("b.xz", "wb").write(b"x" * 100)
zipfile.ZipFile("b.zip", "w").writestr("a.txt", b"x" * 100)
for protocol in (2, 3, 4, 5):
    pickle.dump(list(range(10)), open(f"b{protocol}.pickle", "wb"), protocol)
END
for f in b.* b[2-5].pickle; do
    cippus info "$f" 2>&1 || true
done
