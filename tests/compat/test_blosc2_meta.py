# SPDX-License-Identifier: BSD-3-Clause
"""Metalayers of Blosc2 frames changed by us and by python-blosc2 in turns: each reads what the other wrote, and the array stays."""
import contextlib
import json
import subprocess
import sys

import blosc2
import numpy as np
import pytest

DATA = np.arange(600, dtype="<i4").reshape(30, 20)
NAMES = ["unit", "info", "a name of thirty-one bytes here", "é", "0"]


def create(path, contiguous, nd=True, **meta):
    how = dict(urlpath=str(path), mode="w", contiguous=contiguous, meta=meta)
    if nd:
        blosc2.asarray(DATA, chunks=(8, 8), blocks=(4, 4), **how)
    else:
        blosc2.SChunk(chunksize=1000, data=DATA, cparams={"typesize": 4}, **how)
    return path


@contextlib.contextmanager
def opened(path, mode):
    """The frame, and the object that it belongs to, which must outlive it."""
    x = blosc2.open(str(path), mode=mode, deserialize="full")
    yield x, getattr(x, "schunk", x)
    del x


def set_theirs(path, **values):
    with opened(path, "a") as (_, s):
        for name, value in values.items():
            s.vlmeta[name] = value


def vlmeta_of(path):
    with opened(path, "r") as (_, s):
        return s.vlmeta[:]


def check(cippus, path, vlmeta, meta):
    """All metalayers and the data, by python-blosc2 and by us."""
    with opened(path, "r") as (x, s):
        assert s.vlmeta[:] == vlmeta
        assert {name: s.meta[name] for name in s.meta if name != "b2nd"} == meta
        data = x[...] if hasattr(x, "schunk") else np.frombuffer(s[:], "<i4").reshape(DATA.shape)
        assert np.array_equal(data, DATA)
    tree = json.loads(cippus.run("tree", path, "--json"))
    assert set(tree.get("vlmeta", {})) == set(vlmeta) and set(tree.get("meta", {})) - {"b2nd"} == set(meta)
    assert cippus.run("verify", "--deep", path).decode().endswith(f"{path}: ok\n")


def random_value(rng, depth=0):
    kind = rng.integers(0, 8 if depth < 3 else 6)
    if kind == 6:
        return [random_value(rng, depth + 1) for _ in range(rng.integers(0, 4))]
    if kind == 7:
        return {f"k{i}": random_value(rng, depth + 1) for i in range(rng.integers(0, 4))}
    return [None, bool(rng.integers(0, 2)), int(rng.integers(-(2**40), 2**40)), float(rng.normal()), "text " * int(rng.integers(0, 300)),
            int(rng.integers(-3, 200))][kind]


class Model:
    """A frame and what is to be in it; every change is made by one of the two."""

    def __init__(self, cippus, rng, path, meta):
        self.cippus, self.rng, self.path = cippus, rng, path
        self.vlmeta, self.meta = {}, dict(meta)

    def by_us(self, *words):
        self.cippus.run(words[0], self.path, *words[1:])

    def set_ours(self, name):
        layer = "meta" if self.rng.random() < 0.3 and (name in self.meta or len(self.meta) < 12) else "vlmeta"
        value = random_value(self.rng)
        self.by_us("set", f"{layer}/{name}", json.dumps(value))
        getattr(self, layer)[name] = value

    def set_within(self, name):
        if isinstance(self.vlmeta.get(name), dict):
            value = random_value(self.rng)
            self.by_us("set", f"vlmeta/{name}/k0", json.dumps(value))
            self.vlmeta[name]["k0"] = value

    def set_theirs(self, name):
        value = random_value(self.rng)
        set_theirs(self.path, **{name: value})
        self.vlmeta[name] = value

    def remove(self, name):
        if name in self.vlmeta:
            if self.rng.random() < 0.5:
                self.by_us("rm", f"vlmeta/{name}")
            else:
                with opened(self.path, "a") as (_, s):
                    del s.vlmeta[name]
            del self.vlmeta[name]

    def move(self, name):
        if name in self.vlmeta and name not in self.meta and len(self.meta) < 12:
            self.by_us("mv", f"vlmeta/{name}", f"meta/{name}")
            self.meta[name] = self.vlmeta.pop(name)
        elif name in self.meta and name not in self.vlmeta:
            self.by_us("mv", f"meta/{name}", f"vlmeta/{name}")
            self.vlmeta[name] = self.meta.pop(name)

    def defrag(self, name):
        self.by_us("defrag")

    def step(self):
        change = [self.set_ours, self.set_within, self.set_theirs, self.remove, self.move, self.defrag][self.rng.integers(0, 6)]
        change(NAMES[self.rng.integers(0, len(NAMES))])


@pytest.mark.parametrize("nd", [True, False], ids=["nd", "list"])
@pytest.mark.parametrize("contiguous", [True, False], ids=["contiguous", "sparse"])
def test_changes_by_turns(cippus, rng, tmp_path, contiguous, nd):
    meta = {"kind": {"a": 1}, "raw": b"\x01\x02"}
    model = Model(cippus, rng, create(tmp_path / "x.b2nd", contiguous, nd, **meta), meta)
    for _ in range(40):
        model.step()
        check(cippus, model.path, model.vlmeta, model.meta)


def test_python_s_own_types_stay_what_they_are(cippus, tmp_path):
    path = create(tmp_path / "x.b2nd", True)
    kept = {"tuple": (1, (2, "x")), "set": {1, 2}, "complex": 1 - 2j, "bytes": b"\x00\xff", "big": 2**63}
    array = np.arange(6, dtype=">i2").reshape(2, 3)
    set_theirs(path, **kept, array=array, mixed={"n": 1, **kept}, frame={"n": 1, "in": blosc2.asarray(array)})
    for words in (["set", "vlmeta/other", "1"], ["set", "vlmeta/mixed/n", "2"], ["set", "vlmeta/frame/n", "2"], ["mv", "vlmeta/tuple", "vlmeta/moved"]):
        cippus.run(words[0], path, *words[1:])
    got = vlmeta_of(path)
    assert np.array_equal(got.pop("array"), array)
    frame = got.pop("frame")
    assert frame["n"] == 2 and np.array_equal(frame["in"][:], array)
    assert got.pop("mixed") == {"n": 2, **kept}
    kept["moved"] = kept.pop("tuple")
    assert got == {"other": 1, **kept}


def test_indexes_of_changed_arrays_are_stale(cippus, tmp_path):
    """python-blosc2's indexes are files beside; those that do not fit any more must not answer."""
    path = tmp_path / "x.b2nd"
    want = np.arange(20000, dtype="<i4")[::-1].copy()
    blosc2.asarray(want, urlpath=str(path), mode="w", chunks=(1000,), blocks=(200,)).create_index()

    code = """import blosc2, sys
x = blosc2.open(sys.argv[1], mode="r")
print(x.indexes[0].stale, sorted(int(v) for v in blosc2.lazyexpr("(x > 19990)", {"x": x}).where(x).compute()[:]))"""

    def found():  # a process of its own, as one keeps what it knows of indexes
        return subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, check=True, text=True).stdout

    cippus.run("set", path, "vlmeta/unit", "K")
    assert found() == f"False {list(range(19991, 20000))}\n"
    cippus.run("put", path, ".", "[5000:5003]", "100000")
    assert found() == f"True {[*range(19991, 20000), 100000, 100000, 100000]}\n"


def test_many_vlmetalayers(cippus, tmp_path):
    """python-blosc2 4.14 makes at most 16 in files; it reads more."""
    path = create(tmp_path / "x.b2nd", True)
    set_theirs(path, **{f"name {i}": {"number": i} for i in range(16)})
    for i in range(16, 24):
        cippus.run("set", path, f"vlmeta/name {i}/number", i)
    cippus.run("set", path, "vlmeta/name 5/number", "-1")
    cippus.run("rm", path, "vlmeta/name 0")
    assert vlmeta_of(path) == {f"name {i}": {"number": i if i != 5 else -1} for i in range(1, 24)}


def test_keys_that_are_no_text_are_no_metadata(cippus, tmp_path):
    """msgpack has them, but python-blosc2 then reads no vlmetalayer of the frame."""
    source, path = tmp_path / "x.asdf", tmp_path / "x.b2nd"
    source.write_text("#ASDF 1.0.0\n%YAML 1.1\n---\nunit: mm\nodd: {a: [{1: 2}]}\nx: !<tag:stsci.edu:asdf/core/ndarray-1.0.0> [1, 2]\n...\n")
    done = subprocess.run([cippus.path, "convert", source, path], capture_output=True, text=True)
    assert done.returncode == 3 and "metadata are lost: keys are not text" in done.stderr and not path.exists()
    cippus.run("convert", source, path, "--accept-loss")
    assert vlmeta_of(path) == {"unit": "mm"}
    done = subprocess.run([cippus.path, "set", path, "vlmeta/odd", "{1: 2}"], capture_output=True, text=True)
    assert done.returncode == 3 and "a key that is not text" in done.stderr
    assert vlmeta_of(path) == {"unit": "mm"}


def test_stores_are_said_to_be_none_of_elements(cippus, tmp_path):
    objects = blosc2.ObjectArray(urlpath=str(tmp_path / "objectarray.b2frame"), mode="w")
    objects.append({"a": 1})
    batches = blosc2.BatchArray(urlpath=str(tmp_path / "batcharray.b2b"), mode="w")
    batches.append([1, 2, 3])
    embed = blosc2.EmbedStore(urlpath=str(tmp_path / "embedstore.b2e"), mode="w")
    embed["/n"] = np.arange(3)
    lists = blosc2.ListArray(item_spec=blosc2.int64(), urlpath=str(tmp_path / "listarray.b2frame"), mode="w")
    lists.append([1, 2])
    lists.flush()
    for path in tmp_path.iterdir():
        before = path.read_bytes()
        done = subprocess.run([cippus.path, "ls", path], capture_output=True, text=True)
        assert done.returncode == 0 and path.stem in done.stdout.split() and "python-blosc2 stores" in done.stderr
        assert "Array)" in cippus.run("info", path).decode() or "holds: frames of other arrays" in cippus.run("info", path).decode()
        done = subprocess.run([cippus.path, "put", path, "", "0:1", "0"], capture_output=True, text=True)
        assert done.returncode == 3 and "expected a frame of plain elements" in done.stderr
        assert path.read_bytes() == before
