# Frames of python-blosc2 whose data lie elsewhere, or only in part here.
cp "$ROOT"/src/format/blosc2/corpus/fuzz_blosc2_frame/held-lazyexpr.b2nd lazy.b2nd
cp "$ROOT"/src/format/blosc2/corpus/fuzz_blosc2_frame/held-proxy-some.b2nd proxy.b2nd
for f in lazy.b2nd proxy.b2nd; do
    cippus info "$f"
    cippus ls "$f"
    cippus verify --deep "$f" || echo "exit $?"
    cippus cat "$f" '[8:16]' 2>&1 || echo "exit $?"
    cippus cat "$f" '[:9]' 2>&1 || echo "exit $?"
done
