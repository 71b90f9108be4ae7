# SPDX-License-Identifier: BSD-3-Clause
"""npz files of numpy, zipfile and zip, read as numpy.load does; ours, read by numpy, zipfile and unzip; changes in place."""
import io
import json
import pathlib
import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from effort import FULL, SEED  # noqa: E402

NFILE = 1200 if FULL else 40
NUMBERS = [order + kind for order in "<>" for kind in ("i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 M8[ns] m8[D] M8[s]").split()]
TYPES = NUMBERS + ["?", "S0", "S3", "<U1", ">U7", "V5", "<f16"]
NAMES = ["a", "arr_0", "\u00e9", "\u65e5\u672c", "x/y", "x/z", "deep/er/one", "sp ace", "a.b", "q~t", "\u03b6.npy", "b", "0"]


class Pipe(io.RawIOBase):
    """What cannot be sought: sizes come after the data."""

    def __init__(self, to):
        self.to = to

    def writable(self):
        return True

    def write(self, b):
        return self.to.write(b)


def draw_dtype(rng, depth=0):
    if rng.random() < 0.75 or depth == 2:
        return np.dtype(TYPES[rng.integers(len(TYPES))])
    fields = []
    for i in range(rng.integers(1, 4)):
        shape, base = tuple(int(n) for n in rng.integers(1, 4, rng.integers(0, 3))), draw_dtype(rng, depth + 1)
        name = ["x", "\u00e9", "a b", "q'q"][rng.integers(4)] + str(i)
        fields.append((name, base, shape) if shape and base.itemsize else (name, base))
    return np.dtype(fields, align=bool(rng.random() < 0.3))


def fill(rng, dtype, n):
    if dtype.names:
        a = np.zeros(n, dtype)
        for name in dtype.names:
            base, shape = dtype[name].subdtype or (dtype[name], ())
            a[name] = fill(rng, base, n * int(np.prod(shape, dtype=int))).reshape((n, *shape))
        return a
    if dtype.kind == "U":
        letters = rng.choice(list("ab\u00e9\u65e5"), (n, dtype.itemsize // 4))
        return np.array(["".join(row) for row in letters], dtype) if n else np.zeros(0, dtype)
    if dtype.kind == "b" or dtype.char in "gG":
        return rng.integers(0, 2, n).astype(dtype)
    values = rng.integers(0, 256 if rng.random() < 0.5 else 3, n * dtype.itemsize, "u1").tobytes()
    return np.frombuffer(values, dtype, n).copy() if dtype.itemsize else np.zeros(n, dtype)


def draw_array(rng):
    shape = tuple(int(n) for n in rng.choice([0, 1, 2, 3, 5, 17, 40], rng.integers(0, 4)))
    a = fill(rng, draw_dtype(rng), int(np.prod(shape))).reshape(shape)
    return np.asfortranarray(a) if rng.random() < 0.3 else a


def as_members(rng, arrays, path):
    """By zipfile to a pipe, or by zip, to a file or a pipe."""
    way = rng.integers(3)
    if way == 0:
        with open(path, "wb") as f, zipfile.ZipFile(Pipe(f), "w", int(rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))) as z:
            for name, a in arrays.items():
                with z.open(name + ".npy", "w", force_zip64=bool(rng.integers(2))) as m:
                    np.lib.format.write_array(m, a)
        return
    folder = path.with_suffix("")
    for name, a in arrays.items():
        member = folder / (name + ".npy")
        member.parent.mkdir(parents=True, exist_ok=True)
        with open(member, "wb") as m:
            np.lib.format.write_array(m, a)
    out = subprocess.run(["zip", "-qr", "-" if way == 1 else path, "."], cwd=folder, check=True, stdout=subprocess.PIPE).stdout
    if way == 1:
        path.write_bytes(out)
    shutil.rmtree(folder)


def same(ours, theirs):
    """Of equal values and shapes; byte orders may differ, and what numpy has no name for is bytes."""
    if ours.dtype.names:
        return ours.shape == theirs.shape and len(ours.dtype.names) == len(theirs.dtype.names) and all(
            a == b and same(ours[a], theirs[b]) for a, b in zip(ours.dtype.names, theirs.dtype.names))
    a, b = (np.array(x, order="C") for x in (ours, theirs))
    a, b = (x.byteswap() if x.dtype.byteorder == ">" else x for x in (a, b))
    kinds = a.dtype.kind == b.dtype.kind or "g" in b.dtype.char.lower()
    return a.shape == b.shape and (kinds or not a.dtype.itemsize) and a.tobytes() == b.tobytes()


def slices(rng, shape):
    bounds = [sorted(int(i) for i in rng.integers(0, n + 1, 2)) for n in shape]
    return tuple(slice(a, b, int(rng.integers(1, 4))) for a, b in bounds)


def test_random_files(cippus, tmp_path):
    rng = np.random.default_rng(SEED)
    have_zip = shutil.which("zip") is not None
    for i in range(NFILE):
        path = tmp_path / f"{i}.npz"
        arrays = {str(name): draw_array(rng) for name in rng.choice(NAMES, rng.integers(0, 6), replace=False)}
        way = rng.integers(3 if have_zip and arrays else 2)
        if way == 2:
            as_members(rng, arrays, path)
        else:
            (np.savez if way == 0 else np.savez_compressed)(path, **arrays)
        assert cippus.run("verify", path).decode() == f"{path}: ok\n"
        theirs = np.load(path)
        keys = [key for key in theirs.files if not key.endswith("/")]
        assert [x["path"].replace("~0", "~") for x in json.loads(cippus.run("ls", "--json", path))] == keys
        for key in keys:
            a, named = theirs[key], key.replace("~", "~0")
            assert same(cippus.array(path, named), a), (i, key)
            at = slices(rng, a.shape)
            if at:
                text = ",".join(f"{s.start}:{s.stop}:{s.step}" for s in at)
                assert same(cippus.array(path, named, f"[{text}]"), a[at]), (i, key, text)
        path.unlink()


def with_zip64(data):
    """The archive as later Pythons write it: up to 3.11.3 headers say version 2.0, and the sizes are not in the zip64 fields alone."""
    data = bytearray(data)
    for mark, fields in ((b"PK\3\4", [4]), (b"PK\1\2", [4, 6])):
        at = data.find(mark)
        while at >= 0:
            if mark == b"PK\3\4" and data[at + 4] == 20:
                data[at + 18 : at + 26] = 8 * b"\xff"
            for field in fields:
                data[at + field] = 45 if data[at + field] == 20 else data[at + field]
            at = data.find(mark, at + 4)
    return bytes(data)


@pytest.mark.parametrize("dtype", [*NUMBERS, "?", "S3", ">U7", "V5"])
def test_new_files_are_numpys(cippus, rng, tmp_path, dtype):
    arrays = {name: fill(rng, np.dtype(dtype), n) for name, n in [("a", 12), ("x/y", 0), ("\u00e9", 1)]}
    np.savez(tmp_path / "in.npz", **arrays)
    cippus.run("convert", tmp_path / "in.npz", tmp_path / "out.npz")
    assert (tmp_path / "out.npz").read_bytes() == with_zip64((tmp_path / "in.npz").read_bytes())
    cippus.run("convert", tmp_path / "in.npz", tmp_path / "deflated.npz", "--codec", f"zlib:{rng.integers(1, 10)}")
    back = np.load(tmp_path / "deflated.npz")
    assert back.files == list(arrays)
    assert all(back[name].dtype == a.dtype and back[name].tobytes() == a.tobytes() for name, a in arrays.items())
    assert zipfile.ZipFile(tmp_path / "deflated.npz").testzip() is None


def test_long_members_are_the_same_for_any_number_of_threads(cippus, rng, tmp_path):
    a = np.arange(3_000_000, dtype="<i4") // 3
    np.savez(tmp_path / "in.npz", a=a, b=rng.normal(size=(300, 700)))
    for threads in (1, 2):
        cippus.run("convert", "--threads", threads, "--codec", "zlib", tmp_path / "in.npz", tmp_path / f"{threads}.npz")
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()
    assert (np.load(tmp_path / "1.npz")["a"] == a).all()
    assert (cippus.array(tmp_path / "1.npz", "a", "[2900000:2900100]") == a[2900000:2900100]).all()
    if shutil.which("unzip"):
        subprocess.run(["unzip", "-tq", tmp_path / "1.npz"], check=True, stdout=subprocess.DEVNULL)


def test_changes_keep_the_crc_right(cippus, rng, tmp_path):
    path, piece = tmp_path / "u.npz", tmp_path / "in.npy"
    model = {"a": rng.integers(0, 100, (50, 40)).astype("<i4"), "b/c": rng.normal(size=1000).astype(">f8"),
             "f": np.asfortranarray(rng.integers(0, 9, (30, 20)).astype("i2"))}
    np.savez(path, **model)
    for _ in range(200 if FULL else 20):
        key = ["a", "b/c", "f"][rng.integers(3)]
        at = slices(rng, model[key].shape)
        new = rng.integers(0, 100, model[key][at].shape).astype(model[key].dtype)
        np.save(piece, new)
        cippus.run("put", path, key, "[" + ",".join(f"{s.start}:{s.stop}:{s.step}" for s in at) + "]", piece)
        model[key][at] = new
        assert zipfile.ZipFile(path).testzip() is None
    theirs = np.load(path)
    assert all((theirs[key] == a).all() and theirs[key].dtype == a.dtype for key, a in model.items())


@pytest.mark.parametrize("way", ["stored", "deflated", "piped", "mixed"])
def test_shapes_and_compressed_members_change(cippus, tmp_path, way):
    """Each in an archive of several members, with a comment and dates, which stay."""
    rng = np.random.default_rng(SEED)
    path, piece = tmp_path / "u.npz", tmp_path / "in.npy"
    model = {"a": rng.integers(0, 100, (50, 40)).astype("<i4"), "b/c": rng.normal(size=(100, 3)).astype(">f8"), "s": np.array([b"x", b"yz"])}
    with open(path, "wb") as f, zipfile.ZipFile(Pipe(f) if way == "piped" else f, "w") as z:
        z.comment = b"made by a test"
        for i, (key, a) in enumerate(model.items()):
            info = zipfile.ZipInfo(f"{key}.npy", (2001, 2, 3, 4, 5, 6))
            info.compress_type = zipfile.ZIP_DEFLATED if way == "deflated" or (way == "mixed" and i != 1) else zipfile.ZIP_STORED
            info.comment, info.extra = b"of a member", b"\xaa\xbb\x02\x00hi"
            with z.open(info, "w", force_zip64=i == 0) as m:
                np.lib.format.write_array(m, a)
        z.writestr("README.txt", "no array")
    for _ in range(200 if FULL else 20):
        key = ["a", "b/c", "s"][rng.integers(3)]
        a = model[key]
        n = int(rng.integers(1, 60))
        what = rng.integers(4)
        if what == 0:
            new = np.resize(a, (n, *a.shape[1:]))
            np.save(piece, new)
            cippus.run("append", path, key, piece)
            model[key] = np.concatenate([a, new]).astype(a.dtype)
        elif what == 1:
            cippus.run("resize", path, key, ",".join(map(str, (n, *a.shape[1:]))))
            model[key] = np.concatenate([a[:n], np.zeros((max(0, n - len(a)), *a.shape[1:]), a.dtype)]).astype(a.dtype)
        elif what == 2 and len(a) > 2:
            first, last = sorted(int(i) for i in rng.integers(0, len(a), 2))
            cippus.run("rm", path, key, f"[{first}:{last}]")
            model[key] = np.concatenate([a[:first], a[last:]]).astype(a.dtype)
        else:
            at = slices(rng, a.shape)
            new = np.resize(a[::-1], a[at].shape)
            np.save(piece, new)
            cippus.run("put", path, key, "[" + ",".join(f"{s.start}:{s.stop}:{s.step}" for s in at) + "]", piece)
            model[key] = a.copy()
            model[key][at] = new
        archive = zipfile.ZipFile(path)
        assert archive.testzip() is None
        assert archive.comment == b"made by a test" and archive.read("README.txt") == b"no array"
        for info in archive.infolist()[:3]:
            assert info.date_time == (2001, 2, 3, 4, 5, 6) and info.comment == b"of a member" and b"\xaa\xbb\x02\x00hi" in info.extra
        theirs = np.load(path)
        for name, want in model.items():
            assert theirs[name].dtype == want.dtype and np.array_equal(theirs[name], want)
    assert cippus.run("verify", path).decode() == f"{path}: ok\n"
    if shutil.which("unzip"):
        subprocess.run(["unzip", "-tq", path], check=True, stdout=subprocess.DEVNULL)
