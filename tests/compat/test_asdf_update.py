# SPDX-License-Identifier: BSD-3-Clause
"""Updates of files that Python asdf wrote: after each, `verify --deep` finds nothing and Python reads
what numpy says; now and then Python updates the file in between."""
import os

import asdf
import numpy as np
import pytest

DTYPES = ["i1", "<u2", ">i4", "<i8", ">u8", "<f4", ">f8", "<c8", ">c16", "?"]
CODECS = [None, "zlib", "bzp2", "lz4", "blsc"]
STANDARDS = ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0", "1.6.0"]


def values(rng, shape, dtype):
    raw = rng.integers(0, 100, shape)
    return raw.astype(dtype) if np.dtype(dtype).kind != "b" else raw % 2 == 0


def spell(rng, shape):
    """A random basic slice and its text."""
    index, text = [], []
    for n in shape:
        a, b = sorted(rng.integers(0, n + 1, 2).tolist())
        step = int(rng.integers(1, 4))
        if rng.integers(4) == 0 and n > 0:
            i = int(rng.integers(-n, n))
            index.append(i), text.append(str(i))
        elif rng.integers(4) == 0:
            index.append(slice(None, None, -step)), text.append(f"::-{step}")
        else:
            index.append(slice(a, b, step)), text.append(f"{a}:{b}:{step}")
    return tuple(index), "[" + ",".join(text) + "]"


class Model:
    """A file and what it should hold."""

    def __init__(self, cippus, rng, folder):
        self.cippus, self.rng, self.folder = cippus, rng, folder
        self.file, self.input = folder / "x.asdf", folder / "in.npy"
        self.tree = {"meta": {"name": "first", "n": 1}}
        self.arrays = {}
        self.inline = False  # inline data have no byte order in Python

    def write(self, **how):
        asdf.AsdfFile({**self.tree, **self.arrays}, version=how.pop("version", None)).write_to(self.file, **how)

    def check(self):
        self.cippus.run("verify", "--deep", self.file)
        with asdf.open(self.file, validate_checksums=True, lazy_load=False, memmap=False) as f:
            assert {k: v for k, v in f.tree.items() if k in self.tree} == self.tree
            for name, a in self.arrays.items():
                found = np.asarray(f[name])
                assert found.shape == a.shape
                assert found.dtype == a.dtype or (self.inline and found.dtype.newbyteorder("=") == a.dtype.newbyteorder("="))
                np.testing.assert_array_equal(found, a)

    def save(self, data):
        np.save(self.input, data)
        return self.input

    def pick(self):
        return sorted(self.arrays)[int(self.rng.integers(len(self.arrays)))]

    def put(self):
        name = self.pick()
        index, text = spell(self.rng, self.arrays[name].shape)
        part = values(self.rng, self.arrays[name][index].shape, self.arrays[name].dtype)
        self.cippus.run("put", self.file, name, text, self.save(part))
        self.arrays[name][index] = part

    def append(self):
        name = self.pick()
        a = self.arrays[name]
        rows = values(self.rng, (int(self.rng.integers(1, 30)), *a.shape[1:]), a.dtype)
        self.cippus.run("append", self.file, name, self.save(rows))
        self.arrays[name] = np.concatenate([a, rows]).astype(a.dtype)

    def add(self):
        name = f"new{len(self.arrays)}"
        dtype = DTYPES[int(self.rng.integers(len(DTYPES)))]
        codec = CODECS[int(self.rng.integers(len(CODECS)))]
        a = values(self.rng, tuple(self.rng.integers(0, 9, self.rng.integers(0, 4))), dtype)
        self.cippus.run("put", "--new", *(["--codec", codec] if codec else []), self.file, name, self.save(a))
        # ASDF keeps the order of what it gets
        self.arrays[name] = a

    def resize(self):
        name = self.pick()
        a = self.arrays[name]
        shape = [max(1, int(n) + int(self.rng.integers(-3, 4))) for n in a.shape]
        self.cippus.run("resize", self.file, name, ",".join(map(str, shape)))
        now = np.zeros(shape, a.dtype)
        common = tuple(slice(0, min(n, m)) for n, m in zip(a.shape, shape))
        now[common] = a[common]
        self.arrays[name] = now

    def pick_axis(self, a):
        axis = int(self.rng.integers(a.ndim))
        return axis, int(self.rng.integers(a.shape[axis] + 1)), "[" + ":," * axis

    def delete(self):
        name = self.pick()
        a = self.arrays[name]
        if a.ndim == 0:
            return
        axis, start, text = self.pick_axis(a)
        end = int(self.rng.integers(start, a.shape[axis] + 1))
        self.cippus.run("rm", self.file, name, f"{text}{start}:{end}]")
        self.arrays[name] = np.delete(a, slice(start, end), axis)

    def insert(self):
        name = self.pick()
        a = self.arrays[name]
        if a.ndim == 0:
            return
        axis, start, text = self.pick_axis(a)
        rows = values(self.rng, (*a.shape[:axis], int(self.rng.integers(1, 9)), *a.shape[axis + 1:]), a.dtype)
        self.cippus.run("put", "--insert", self.file, name, f"{text}{start}:{start}]", self.save(rows))
        self.arrays[name] = np.insert(a, [start] * rows.shape[axis], rows, axis).astype(a.dtype)

    def set(self):
        n = int(self.rng.integers(0, 2000))
        self.cippus.run("set", "--string", self.file, "meta/name", "x" * n)
        self.tree["meta"]["name"] = "x" * n
        self.cippus.run("set", self.file, "meta/n", str(n))
        self.tree["meta"]["n"] = n

    def python(self):
        with asdf.open(self.file, mode="rw", memmap=False, lazy_load=False) as f:
            f["meta"]["n"] = -1
            f.update()
        self.tree["meta"]["n"] = -1

    def defrag(self):
        self.cippus.run("defrag", self.file)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("version", STANDARDS)
def test_random_updates_of_a_file_of_python(cippus, rng, tmp_path, codec, version):
    m = Model(cippus, rng, tmp_path)
    for i, dtype in enumerate(rng.permutation(DTYPES)[:4]):
        m.arrays[f"a{i}"] = values(rng, tuple(rng.integers(1, 12, rng.integers(1, 4))), str(dtype))
    pad = bool(rng.integers(2))
    m.write(version=version, all_array_compression=codec, pad_blocks=pad)
    steps = ["put", "put", "add", "add", "append", "append", "resize", "delete", "insert", "set", "python", "defrag"]
    for step in rng.permutation(steps).tolist():
        getattr(m, step)()
        m.check()


# (Python reads inline ascii back as ucs4.)
WHERE = [(d, s) for d in DTYPES + ["S3", "<U3", ">U2"] for s in ("internal", "inline") if (d, s) != ("S3", "inline")]


@pytest.mark.parametrize("dtype, storage", WHERE)
def test_every_type_is_changed_where_it_lies(cippus, rng, tmp_path, dtype, storage):
    text = np.dtype(dtype).kind in "SU"
    a = np.array([["a", "bc"], ["", "d"], ["e", "f"]], dtype) if text else values(rng, (3, 2), dtype)
    m = Model(cippus, rng, tmp_path)
    m.arrays = {"a": a, "other": np.arange(5.0)}
    m.inline = storage == "inline"
    m.write(all_array_storage=storage)
    part = np.array(["x", "yz"], dtype) if text else values(rng, (2,), dtype)
    cippus.run("put", m.file, "a", "[1]", m.save(part))
    a[1] = part
    m.check()
    cippus.run("append", m.file, "a", m.save(part))
    m.arrays["a"] = np.concatenate([a, [part]]).astype(dtype)
    m.check()


def test_fields_of_records(cippus, rng, tmp_path):
    m = Model(cippus, rng, tmp_path)
    a = np.zeros(6, [("id", ">i4"), ("pos", "<f8", (2,)), ("name", "<U3")])
    a["id"] = np.arange(6)
    m.arrays = {"t": a}
    m.write()
    cippus.run("put", m.file, "t/pos", "[1:3]", m.save(np.full((2, 2), 7.5)))
    cippus.run("put", m.file, "t/id", "[::-2]", m.save(np.array([50, 30, 10], "i8")))
    a["pos"][1:3], a["id"][::-2] = 7.5, [50, 30, 10]
    m.check()
    rows = a[:2].copy()
    rows["name"] = "abc"
    cippus.run("append", m.file, "t", m.save(rows))
    m.arrays["t"] = np.concatenate([a, rows]).astype(a.dtype)
    m.check()


def test_views_of_one_block_stay_views(cippus, rng, tmp_path):
    m = Model(cippus, rng, tmp_path)
    base = values(rng, (6, 8), "<i4")
    with asdf.config_context() as config:
        config.default_array_save_base = True
        asdf.AsdfFile({"base": base, "part": base[::2, 1:5], "turned": base.T}).write_to(m.file)
    cippus.run("put", m.file, "part", "[:, 0]", m.save(np.array([91, 92, 93])))
    base[::2, 1] = [91, 92, 93]
    m.tree, m.arrays = {}, {"base": base, "part": base[::2, 1:5], "turned": base.T}
    m.check()
    # it leaves the others alone when it grows
    cippus.run("append", m.file, "part", m.save(np.ones((2, 4), "i4")))
    m.arrays["part"] = np.concatenate([base[::2, 1:5], np.ones((2, 4), "i4")])
    m.check()
    cippus.run("put", m.file, "part", "[0]", m.save(np.zeros(4, "i4")))
    m.arrays["part"][0] = 0
    m.check()


@pytest.mark.parametrize("dtype", DTYPES + ["S5", "<U3", ">U3"])
@pytest.mark.parametrize("storage", ["internal", "inline", "zlib", "lz4", "bzp2"])
def test_arrays_of_every_type_come_into_files_of_python_and_ours(cippus, rng, tmp_path, dtype, storage):
    a = values(rng, (7, 5), dtype)
    np.save(tmp_path / "a.npy", a)
    old = np.arange(100, dtype="<i4")
    for ours in (False, True):
        x = tmp_path / "x.asdf"
        asdf.AsdfFile({"old": old, "meta": {"n": 1}}).write_to(x, pad_blocks=bool(rng.integers(2)))
        if ours:
            cippus.run("convert", "--overwrite", x, tmp_path / "y.asdf")
            x = tmp_path / "y.asdf"
        for i in range(3):
            how = ["--inline"] if storage == "inline" else ["--codec", storage] if storage != "internal" else []
            cippus.run("put", "--new", *how, x, f"new/of/a{i}", tmp_path / "a.npy")
            cippus.run("verify", "--deep", x)
            with asdf.open(x, mode="rw", validate_checksums=True, lazy_load=False, memmap=False) as f:
                for k in range(i + 1):
                    np.testing.assert_array_equal(np.asarray(f["new"]["of"][f"a{k}"]), a)
                np.testing.assert_array_equal(f["old"], old)
                f["meta"]["n"] = i
                if i == 1:
                    f.update()


@pytest.mark.parametrize("codec", ["zlib", "bzp2", "lz4", "blsc"])
def test_a_compressed_block_that_outgrows_its_place_moves(cippus, rng, tmp_path, codec):
    m = Model(cippus, rng, tmp_path)
    m.arrays = {"a": np.zeros((50, 40), "i4"), "b": np.arange(7)}
    m.write(all_array_compression=codec)
    m.arrays["a"] = rng.integers(0, 2**31, (50, 40)).astype("i4")
    cippus.run("put", m.file, "a", m.save(m.arrays["a"]))
    m.check()
    assert len(cippus.run("info", "--blocks", m.file).splitlines()) == 1 + 3
    cippus.run("defrag", m.file)
    m.check()
    assert len(cippus.run("info", "--blocks", m.file).splitlines()) == 1 + 2


def test_sources_from_the_end_go_on_meaning_the_same(cippus, rng, tmp_path):
    m = Model(cippus, rng, tmp_path)
    m.arrays = {"a": np.arange(4), "b": np.arange(9)}
    m.write()
    old = m.file.read_bytes()
    m.file.write_bytes(old.replace(b"source: 1", b"source: -1"))
    assert b"source: -1" in m.file.read_bytes()
    cippus.run("append", m.file, "a", m.save(np.arange(3)))
    m.arrays["a"] = np.array([0, 1, 2, 3, 0, 1, 2])
    m.check()


def test_rows_of_a_stream_while_it_grows(cippus, rng, tmp_path):
    m = Model(cippus, rng, tmp_path)
    with asdf.AsdfFile({"s": asdf.tags.core.stream.Stream([3], "<f4"), "a": np.arange(5)}) as f:
        f.write_to(m.file)
    rows = np.zeros((0, 3), "f4")
    reader = asdf.open(m.file, lazy_load=True, memmap=False)
    for i in range(4):
        more = rng.normal(size=(i + 1, 3)).astype("f4")
        cippus.run("append", m.file, "s", m.save(more))
        rows = np.concatenate([rows, more])
        with asdf.open(m.file) as f:
            np.testing.assert_array_equal(f["s"][:], rows)
        if i == 1:
            with open(m.file, "ab") as f:
                f.write(b"torn")
    reader.close()
    cippus.run("finish", m.file)
    m.tree, m.arrays = {}, {"s": rows, "a": np.arange(5)}
    m.check()
    cippus.run("append", m.file, "s", m.save(rows[:2]))
    m.arrays["s"] = np.concatenate([rows, rows[:2]])
    m.check()


def test_the_tree_grows_in_its_room(cippus, rng, tmp_path):
    m = Model(cippus, rng, tmp_path)
    m.arrays = {"a": values(rng, (100, 100), "<f8")}
    m.write(pad_blocks=True)
    size, inode = os.path.getsize(m.file), os.stat(m.file).st_ino
    cippus.run("set", m.file, "meta/more", "[1, 2, 3]")
    m.tree["meta"]["more"] = [1, 2, 3]
    m.check()
    assert (os.path.getsize(m.file), os.stat(m.file).st_ino) == (size, inode)
    cippus.run("set", "--string", m.file, "meta/long", "y" * 20000)
    m.tree["meta"]["long"] = "y" * 20000
    m.check()
    inode = os.stat(m.file).st_ino
    cippus.run("rm", m.file, "meta/long")
    del m.tree["meta"]["long"]
    m.check()
    assert os.stat(m.file).st_ino == inode


def test_history_says_what_was_done(cippus, rng, tmp_path):
    for version in STANDARDS:
        m = Model(cippus, rng, tmp_path)
        m.arrays = {"a": np.arange(3)}
        m.write(version=version)
        cippus.run("set", "--history", "a first change", m.file, "meta/n", "2")
        cippus.run("set", "--history", "a second", m.file, "meta/n", "3")
        m.tree["meta"]["n"] = 3
        m.check()
        with asdf.open(m.file) as f:
            assert [e["description"] for e in f.get_history_entries()] == ["a first change", "a second"]
