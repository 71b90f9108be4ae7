# what is read and decoded, on standard error; times differ from run to run
cippus convert --fill 7 --shape 64,64 --dtype int32 c.b2nd --option chunks=32,32 --option blocks=16,16 --codec zlib >/dev/null
python3 - <<'END'
import struct
open("v.raw", "wb").write(struct.pack("<4096i", *range(4096)))
END
cippus convert v.raw a.b2nd --dtype int32 --shape 64,64 --option chunks=32,32 --option blocks=16,16 --codec lz4
cippus convert v.raw a.asdf --dtype int32 --shape 64,64 --codec zlib
masked() { sed -E 's/ +[0-9]+\.[0-9]{3} ms/ T ms/; s/"ms": [0-9.]+/"ms": T/; s/[0-9]+ bytes to/N bytes to/; s/"stored": [0-9]+/"stored": N/'; }
cippus cat a.b2nd '[20, 20:23]' --trace 2>&1 >/dev/null | masked | grep -E 'decode part|at 0 of'
cippus stat a.asdf --trace --json 2>&1 >/dev/null | masked | grep decode
CIP_TRACE=1 cippus cat c.b2nd '[0, 0]' 2>&1 >/dev/null | grep -c 'trace: .* ms  read'
CIP_TRACE=0 cippus cat c.b2nd '[0, 0]' 2>&1
