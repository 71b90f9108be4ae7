# Of an array of 2^40 bytes that is nowhere but in its shape little is read, and quickly.
python3 - <<'END'
head = b"{'descr': '|u1', 'fortran_order': False, 'shape': (1048576, 1048576), }"
with open("large.npy", "wb") as f:
    f.write(b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + head.ljust(117) + b"\n")
    f.seek(128 + (1 << 39))
    f.write(b"\x01")
    f.truncate(128 + (1 << 40))
END
cippus show large.npy --json --max-nbytes 16M
cippus show large.npy --reduce max 2>&1 || echo "exit $?"
CIP_TRACE=json cippus show large.npy --width 60 --height 20 2>trace >/dev/null
python3 - <<'END'
import json
read = sum(json.loads(line).get("bytes", 0) for line in open("trace"))
assert 0 < read < 1 << 20, read
END
