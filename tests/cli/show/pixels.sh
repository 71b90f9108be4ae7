# Pixels of PNG files, as digests: every type and order alike, scales, maps, what is missing, axes.
python3 - <<'END'
import hashlib, os, struct, subprocess, zlib


def pixels(name):
    """Width, height, samples and the bytes of a PNG without filters."""
    data = open(name, "rb").read()
    at, packed = 8, b""
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at : at + 8])
        part = data[at + 8 : at + 8 + n]
        assert zlib.crc32(kind + part) == struct.unpack(">I", data[at + 8 + n : at + 12 + n])[0]
        if kind == b"IHDR":
            w, h, depth, colour = struct.unpack(">IIBB", part[:10])
        packed += part if kind == b"IDAT" else b""
        at += n + 12
    each = {2: 3, 6: 4}[colour]
    raw = zlib.decompress(packed)
    rows = [raw[y * (w * each + 1) :][: w * each + 1] for y in range(h)]
    assert all(row[0] == 0 for row in rows) and len(raw) == h * (w * each + 1)
    return w, h, each, b"".join(row[1:] for row in rows)


def show(file, *words):
    subprocess.run(["cippus", "show", file, *words, "-o", "x.png", "--overwrite"], check=True, stderr=subprocess.DEVNULL)
    w, h, each, data = pixels("x.png")
    return f"{w}x{h}x{each} {hashlib.sha256(data).hexdigest()[:16]}"


def npy(name, descr, shape, data, fortran=False):
    head = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}".encode()
    open(name, "wb").write(b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + head.ljust(117) + b"\n" + data)


values = [(7 * r + 3 * c) % 11 for r in range(6) for c in range(9)]
turned = [values[c + 9 * r] for c in range(9) for r in range(6)]
codes = {"i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "f2": "e", "f4": "f", "f8": "d"}
found = {}
for code, letter in codes.items():
    for order in "<>":
        npy("x.npy", order + code, (6, 9), struct.pack(f"{order}54{letter}", *values))
        found[order + code] = show("x.npy")
        npy("x.npy", order + code, (6, 9), struct.pack(f"{order}54{letter}", *turned), True)
        found[order + code + " fortran"] = show("x.npy")
npy("x.npy", "<c8", (6, 9), struct.pack("<108f", *(v for x in values for v in (0, -x))))
found["c8"] = show("x.npy")
for unit in ("M8[s]", "m8[ns]"):
    npy("x.npy", "<" + unit, (6, 9), struct.pack("<54q", *values))
    found[unit] = show("x.npy")
print("every type:", *set(found.values()))
assert len(set(found.values())) == 1, found
npy("x.npy", "|b1", (6, 9), bytes(v > 5 for v in values))
print("bool:", show("x.npy"))
inf = float("inf")
npy("odd.npy", "<f8", (2, 4), struct.pack("<8d", float("nan"), inf, -inf, 0, -1, 1, 10, 100))
for words in ([], ["--bad", "none"], ["--bad", "#10203040"], ["--bad", "#00000000"], ["--scale", "log"], ["--no-axes"], ["--limits", "0,10"], ["--zoom", "3"]):
    print("odd", *words, show("odd.npy", *words))
night = os.environ["SAMPLES"] + "/night.asdf"
for scale in ("linear", "log", "asinh", "sqrt"):
    print(scale, show(night, "image", "--scale", scale))
for name in "viridis plasma inferno magma cividis gray turbo coolwarm".split():
    print(name, show(night, "image", "--map", name, "--width", "64"), show(night, "image", "--map", name + "_r", "--width", "64"))
for kind in ("extremes", "sample", "min", "max", "mean"):
    print(kind, show(night, "image", "--reduce", kind, "--width", "20", "--height", "20", "--no-axes"))
# the pictures of the guide are what its commands write
for name, words in (("image", ("image", "--scale", "asinh", "--width", "400")), ("line", ("spectrum", "--width", "400"))):
    show(night, *words)
    assert pixels("x.png") == pixels(f"{os.environ['ROOT']}/docs/images/picture-{name}.png"), name
print("masked", show(night, "masked"))
print("line", show(night, "spectrum"), show(night, "stars/flux"))
for sample in ("cube.b2nd", "complex.ra", "phantom.ra", "tide.blp", "sky.fits SCI/data", "weather.h5 temperature", "model.zarr wind"):
    file, *words = sample.split()
    print(sample, show(f"{os.environ['SAMPLES']}/{file}", *words))
END
