# What was left out when the input was read is a loss, whatever it is written as: named, and refused.
tried() { echo "$ $*"; "$@" 2>&1 || echo "-> $?"; }
table() { rm -rf "$1"; cp -r "$SAMPLES/prices.bcolz" "$1"; chmod -R u+w "$1"; }
table x.bcolz
printf '{"a": 1' > x.bcolz/__attrs__
tried cippus convert x.bcolz o.bcolz
tried cippus convert x.bcolz o.npy
tried cippus convert x.bcolz o.npy --accept-loss
tried cippus convert x.bcolz close.npy --path close
tried cippus convert x.bcolz o.asdf --accept-loss --json

# Columns of different lengths: the rows of the shortest are the table.
table y.bcolz
sed -i 's/\[40\]/[37]/' y.bcolz/close/meta/sizes
tried cippus convert y.bcolz y.npy
tried cippus convert y.bcolz y.npy --accept-loss

# What rows hold that are added without values goes along, or is lost.
table z.bcolz
sed -i 's/"dflt": 0/"dflt": 7.5/' z.bcolz/close/meta/storage
tried cippus convert z.bcolz w.bcolz
tried cippus convert w.bcolz c.bcolz --path close
tried cippus resize c.bcolz 42
tried cippus cat c.bcolz '[39:]'
tried cippus convert z.bcolz z.asdf
tried cippus convert z.bcolz close.ra --path close

cp -r "$SAMPLES/wells.blz" w.blz
chmod -R u+w w.blz
echo '{' > w.blz/meta/custom
tried cippus convert w.blz w2.blz
tried cippus convert w.blz w2.blz --accept-loss
ls w2.blz/meta

# The value of a vlmetalayer that cannot be decoded: none is made up for it.
cippus cat "$SAMPLES/prices.bcolz" close --to npy > close.npy
cippus convert close.npy v.b2nd
cippus set v.b2nd vlmeta/x 'a text of some length' 2>&1
cippus set v.b2nd vlmeta/y 2 2>&1
at=$(grep -abo 'a text' v.b2nd | tail -1 | cut -d: -f1)
printf 'Z' | dd of=v.b2nd bs=1 seek=$((at - 33)) conv=notrunc status=none
tried cippus convert v.b2nd v2.b2nd
tried cippus convert v.b2nd v2.b2nd --accept-loss
cippus tree v2.b2nd vlmeta
tried cippus diff v.b2nd v2.b2nd
tried cippus diff v.b2nd v.b2nd
tried cippus repair v.b2nd v3.b2nd

# A key twice. Copied as text it stays; in another format the first value is gone.
start='#ASDF 1.0.0\n#ASDF_STANDARD 1.5.0\n%%YAML 1.1\n%%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n'
printf "$start"'b: {x: 1, x: 2}\nc: !core/ndarray-1.0.0 [1, 2]\n...\n' > d.asdf
tried cippus convert d.asdf d2.asdf
grep x: d2.asdf
tried cippus convert d.asdf d.b2nd
tried cippus diff d.asdf d2.asdf

# Lists and mappings without anything in them are metadata, too.
printf "$start"'b: {}\nc: !core/ndarray-1.0.0 [1, 2]\n...\n' > e.asdf
tried cippus convert e.asdf e.npy

# A torn row goes along with the stream; as an array it is lost.
cp "$SAMPLES/stream.asdf" s.asdf
chmod u+w s.asdf
printf 'xy' >> s.asdf
tried cippus convert s.asdf s2.asdf
tried cippus convert s.asdf s.npy
tried cippus diff s.asdf s2.asdf
cp e.asdf p.asdf
tried cippus put p.asdf new s.asdf --new
tried cippus put p.asdf new s.asdf --new --accept-loss
cp "$SAMPLES/stream.asdf" r.asdf
tried cippus append r.asdf s.asdf --dry-run
tried cippus convert s.asdf e.asdf both.asdf

# Bytes that nothing shows stay behind.
at=$(grep -abo '#ASDF BLOCK INDEX' "$SAMPLES/roman.asdf" | cut -d: -f1)
head -c "$at" "$SAMPLES/roman.asdf" > j.asdf
printf 'what is this, which is no block at all, and no index either' >> j.asdf
tried cippus convert j.asdf j2.asdf
tried cippus convert j.asdf j2.asdf --accept-loss
tried cippus verify j2.asdf
tried cippus explode j.asdf j3.asdf
