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
# One element among 10^8 is seen at the whole array and at each zoom, unless the budget is too small.
python3 - <<'END2'
import json, subprocess
head = b"{'descr': '|u1', 'fortran_order': False, 'shape': (10000, 10000), }"
with open("spike.npy", "wb") as f:
    f.write(b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + head.ljust(117) + b"\n")
    f.seek(128 + 1234 * 10000 + 5677)
    f.write(b"\xff")
    f.truncate(128 + 10000 * 10000)
for n in (10000, 5000, 2500, 1250, 625, 8):
    top, left = max(0, 1234 - n // 2), max(0, 5677 - n // 2)
    part = f"[{top}:{top + n}, {left}:{left + n}]"
    got = json.loads(subprocess.run(["cippus", "show", "spike.npy", part, "--json"], check=True, capture_output=True).stdout)
    print(n, got["range"], got["reduce"], got["across"]["step"], got["whole"])
END2
cippus show spike.npy --json --max-nbytes 64M | grep -o '"range.*map'
