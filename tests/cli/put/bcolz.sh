# folders of bcolz change in place: elements, rows, shapes, attributes, and columns of a table
exec 2>&1
npy() { python3 -c '
import sys
values = [int(x) for x in sys.argv[2:]]
import struct
head = ("{%sdescr%s: %s<i4%s, %sfortran_order%s: False, %sshape%s: (%d,), }" % (*["\x27"] * 8, len(values))).ljust(117) + "\n"
open(sys.argv[1], "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%di" % len(values), *values))
' "$@"; }
npy ten.npy 0 1 2 3 4 5 6 7 8 9
npy three.npy 10 11 12
cippus convert ten.npy x.bcolz --option chunklen=4
cippus put x.bcolz . '[3:5]' -- -1
cippus append x.bcolz three.npy
cippus cat x.bcolz
ls x.bcolz/data
cippus resize x.bcolz 6
cippus resize x.bcolz 9
cippus cat x.bcolz
ls x.bcolz/data
cippus set x.bcolz attributes/unit mm
cippus mv x.bcolz attributes/unit attributes/u
cat x.bcolz/__attrs__
cippus rm x.bcolz attributes/u
cippus set x.bcolz unit mm || echo "status $?"
cippus verify --deep x.bcolz

echo "--- sizes that lie"
printf '{"shape": [7], "nbytes": 28, "cbytes": 100}\n' >x.bcolz/meta/sizes
cippus append x.bcolz three.npy || echo "status $?"
cippus resize x.bcolz 9
cippus cat x.bcolz
cippus verify x.bcolz

echo "--- a chunk that is missing"
rm x.bcolz/data/__1.blp
cippus put x.bcolz . '[5]' 1 || echo "status $?"
cippus put x.bcolz . '[0]' 1
cippus append x.bcolz three.npy
cippus verify x.bcolz || echo "status $?"

echo "--- a table"
mkdir t
for name in a b; do cippus convert ten.npy t/$name.bcolz && mv t/$name.bcolz t/$name; done
printf '{"names": ["a", "b"]}\n' >t/__rootdirs__
cippus append t a three.npy || echo "status $?"
printf 'a,b\n20,21\n30,31\n' >rows.csv
cippus append t rows.csv
cippus put t . '[:2]' rows.csv
cippus resize t 11
cippus cat t . '[:3]'
echo "--- a column comes"
cippus cat --to npy t a >a.npy
cippus put --new --dry-run t n a.npy
cippus put --new t n a.npy --option chunklen=4
cippus put --new t n a.npy || echo "status $?"
cippus put --new t _n a.npy || echo "status $?"
cippus put --new t m three.npy || echo "status $?"
cippus put --new x.bcolz n a.npy || echo "status $?"
cippus cat t n '[:2]'
cippus verify --deep t
cp -r "$SAMPLES/wells.blz" wells
cippus cat --to npy wells depth >depth.npy
cippus put --new wells deeper depth.npy
cippus put --new wells deep a.npy || echo "status $?"
cippus ls wells
cippus cat --to npy wells deeper | cmp - depth.npy
cippus verify --deep wells
cippus rm t n

echo "--- a column gets another name, or goes"
cippus set t column_attributes/b/unit mm
cippus mv t b c
cippus ls t
cat t/__rootdirs__
cippus rm t a
cippus tree t
cippus rm t c || echo "status $?"
ls t
