# Times do not become numbers of a unit that nobody knows, nor times of another unit.
mk() { printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '$1', 'fortran_order': False, 'shape': (2,), }" >"$2"; printf '\001\0\0\0\0\0\0\0\002\0\0\0\0\0\0\0' >>"$2"; }
mk '<M8[s]' s.npy
mk '<M8[ms]' ms.npy
mk '<i8' i.npy
for to in i ms s; do
    cippus convert $to.npy $to.b2nd
    cippus put $to.b2nd '[:]' s.npy 2>&1 || echo "-> $?"
    cippus append $to.b2nd s.npy 2>&1 || echo "-> $?"
done
cippus cat s.npy --dtype int64
