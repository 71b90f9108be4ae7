# HDF5: what is in a file, windows, copies, what is not read and what is damaged.
from="$ROOT/src/format/hdf5/corpus/fuzz_hdf5"
for name in groups-2 types scales filters kinds packed; do
    cp "$from/good-$name.h5" "$name.h5"
done
cp "$from/bad-fletcher32.h5" "$from/bad-header-sum.h5" .
cippus ls types.h5
cippus ls filters.h5
cippus ls packed.h5
cippus tree groups-2.h5
cippus tree scales.h5 dims
cippus info --json kinds.h5 >/dev/null
cippus cat kinds.h5 n-extensible '[3:5, 1:3]'
cippus convert scales.h5 scales.asdf
cippus tree scales.asdf
cippus diff scales.h5 scales.asdf || echo "exit $?"
cippus convert types.h5 strings.b2nd --path strings 2>&1 || echo "exit $?"
cippus convert types.h5 types.asdf 2>&1 || echo "exit $?"
cippus convert filters.h5 all.b2nd --path n-all
cippus cat all.b2nd '[70:]'
cippus verify bad-fletcher32.h5 bad-header-sum.h5 2>&1 || echo "exit $?"
cippus put groups-2.h5 a/b/n all.b2nd 2>&1 || echo "exit $?"
