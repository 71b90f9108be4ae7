# the standard's version and the comments in front of the tree stay, those within are told
exec 2>&1
make() { python3 "$ROOT/tests/support/asdf_of_text.py" "$@"; }
make x.asdf 1,2,3 <<'END'
# This is an ASDF file <https://asdf-standard.readthedocs.io/>
---
a: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: little, shape: [3]}
b: 'no # comment'
END
cp x.asdf c.asdf; sed -i 's/^b: .*/b: 1 # a comment/' c.asdf
for how in "--byteorder big" --resolve-refs --inline "--path a"; do
    echo "$how"
    for f in x c; do
        cippus convert $how $f.asdf y.asdf --overwrite && head -n 3 y.asdf && grep -a -o 'core/[a-z]*-1.*[0-9]' y.asdf | head -n 1
    done
done
