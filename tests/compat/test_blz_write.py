# SPDX-License-Identifier: BSD-3-Clause
"""New folders of BLZ in its three forms, read by blz_reader.py, field by field as the sheet has them, and by us."""
import itertools
import json

import numpy as np
import pytest

import blz_reader as blz

POINT = np.dtype([("x", ">f4"), ("y", "<i2", (2,))])
TYPES = [*map(np.dtype, ["?", "i1", "<i2", ">i4", "<u8", "<f2", ">f8", "<c8", ">c16", "S5", "<U3", ">U2", "<M8[ns]", ">m8[25s]", "V3", "S300",
                         [("a", "<i4"), ("b", "<f8", (2, 2)), ("c", "S3")],
                         [("id", "<i4"), ("p", POINT, (3,)), ("q", [("r", POINT)]), ("big", "V300"), ("a/b%", "u1"), (".", "u1")]])]
CODECS = ["blosclz", "lz4", "lz4hc", "zlib", "zstd", "none"]
FILTERS = ["none", "shuffle", "bitshuffle"]
SUMS = ["none", "adler32", "crc32", "md5", "sha1", "sha224", "sha256", "sha384", "sha512"]


def random_array(rng, dtype, shape):
    n = int(np.prod(shape))
    data = rng.integers(0, 7, n * dtype.itemsize).astype("u1").tobytes()
    a = np.frombuffer(data, dtype).reshape(shape).copy()
    if dtype.kind in "bU":
        a = rng.integers(0, 2, shape).astype(dtype)
    return a


def stored(a):
    """As the folder has it: records packed and little-endian."""
    if a.dtype.names is None:
        return a
    return a.astype(packed(a.dtype))


def packed(dtype):
    if dtype.names is None:
        return dtype.newbyteorder("<")
    return np.dtype([(n, packed(dtype[n].base), dtype[n].shape) if dtype[n].shape else (n, packed(dtype[n].base)) for n in dtype.names])


def options(words):
    return [x for k, v in words.items() for x in ("--option", f"{k}={v}")]


def same(got, want):
    assert got.dtype == want.dtype and got.shape == want.shape and got.tobytes() == want.tobytes()


def check(cippus, path, want, attributes=None):
    """As the sheet says, and by us; want: what the folder is to hold."""
    if path.suffix == ".blz":
        got, attrs = blz.read_document(path)
        assert attrs == attributes
    else:
        got, attrs = blz.read_array(path, "bcolz" if path.suffix == ".bcolz" else "blz-dir")
        assert attrs == (attributes or {})
    same(got, want)
    back = path.parent / (path.name + ".npy")
    cippus.run("convert", path, back, "--overwrite")
    same(np.load(back), want)
    assert cippus.run("verify", "--deep", path).decode() == f"{path}: ok\n"


def convert(cippus, a, path, *words):
    np.save(path.parent / "in.npy", a)
    kind = [] if path.suffix in (".blz", ".bcolz") else ["--format", "blz-dir"]
    cippus.run("convert", path.parent / "in.npy", path, *kind, *words)


@pytest.mark.parametrize("suffix", [".blz", ".bcolz", ".blz-dir"])
@pytest.mark.parametrize("dtype", TYPES, ids=[str(i) for i in range(len(TYPES))])
def test_every_type(cippus, rng, tmp_path, dtype, suffix):
    if suffix == ".blz-dir" and dtype.names and "." in dtype.names:
        pytest.skip("a dtype as text")
    for i, shape in enumerate([(0,), (1,), (100,), (250,), (60, 3), (20, 2, 3), (0, 4), (7, 0)]):
        path = tmp_path / f"{i}{suffix}"
        a = random_array(rng, dtype, shape)
        words = {"chunklen": int(rng.integers(1, 120))}
        if suffix == ".blz":
            words.update(superchunk=int(rng.integers(1, 5)), spare=int(rng.integers(0, 30)))
        if suffix == ".bcolz" and dtype.names:
            words["table"] = "no"
        convert(cippus, a, path, *options(words))
        check(cippus, path, stored(a))


def test_codecs_and_filters(cippus, rng, tmp_path):
    a = rng.integers(0, 50, (700, 9)).astype("<i4")
    for i, (codec, chosen) in enumerate(itertools.product(CODECS, FILTERS)):
        for suffix in (".blz", ".bcolz", ".blz-dir"):
            if suffix == ".blz-dir" and (codec == "zstd" or chosen == "bitshuffle"):
                continue
            path = tmp_path / f"{i}{suffix}"
            convert(cippus, a, path, "--codec", codec, *options({"filter": chosen, "chunklen": 130}))
            check(cippus, path, a)
            said = json.loads((path / "meta/storage").read_text())
            params = said.get("cparams") or said["bparams"]
            assert params["shuffle"] == FILTERS.index(chosen) and params.get("cname", codec) in (codec, "lz4", "blosclz")


def test_superchunks(cippus, rng, tmp_path):
    a = random_array(rng, TYPES[-2], (300,))
    choice = {"superchunk": ["1", "3", "100"], "spare": ["0", "17", "5000"], "metadata": ["yes", "no"],
              "shards": ["a", "disk1,disk2/x,disk3", None], "offsets": ["yes", "no"]}
    for i in range(40):
        words = {k: v[rng.integers(0, len(v))] for k, v in choice.items()}
        words = {k: v for k, v in words.items() if v is not None}
        if words["offsets"] == "no":
            words["spare"] = "0"
        path = tmp_path / f"{i}.blz"
        convert(cippus, a, path, "--checksum", SUMS[i % len(SUMS)], *options({"chunklen": 11 + i, **words}))
        check(cippus, path, stored(a))


def test_tables_of_records(cippus, rng, tmp_path):
    a = random_array(rng, TYPES[-2], (300,))
    np.save(tmp_path / "in.npy", a)
    for kind in ("bcolz", "blz-dir"):
        cippus.run("convert", tmp_path / "in.npy", tmp_path / kind, "--format", kind, *options({"chunklen": 70, **({"table": "yes"} if kind == "blz-dir" else {})}))
        columns, attrs, own = blz.read_table(tmp_path / kind, kind)
        assert list(columns) == ["a", "b", "c"] and attrs == {} and own == {"a": {}, "b": {}, "c": {}}
        for name, column in columns.items():
            same(column, np.ascontiguousarray(a[name]))
        cippus.run("convert", tmp_path / kind, tmp_path / "back.npy", "--overwrite")
        same(np.load(tmp_path / "back.npy"), a)
        assert cippus.run("verify", "--deep", tmp_path / kind).decode().endswith(": ok\n")


def test_several_inputs(cippus, rng, tmp_path):
    arrays = {"id": np.arange(200, dtype=">i4"), "v": random_array(rng, TYPES[6], (200, 3)), "p": random_array(rng, POINT, (200,))}
    for name, a in arrays.items():
        np.save(tmp_path / f"{name}.npy", a)
    inputs = [tmp_path / f"{n}.npy" for n in arrays]
    for kind in ("bcolz", "blz-dir"):
        cippus.run("convert", *inputs, tmp_path / kind, "--format", kind)
        columns, _, _ = blz.read_table(tmp_path / kind, kind)
        assert list(columns) == list(arrays)
        for name, column in columns.items():
            same(column, stored(arrays[name]))
    cippus.run("convert", *inputs, tmp_path / "all.blz", *options({"superchunk": 1, "chunklen": 30}))
    got, attrs = blz.read_document(tmp_path / "all.blz")
    assert attrs is None and list(got.dtype.names) == list(arrays)
    for name, a in arrays.items():
        same(np.ascontiguousarray(got[name]), stored(a))
        same(cippus.array(tmp_path / "all.blz", name), stored(a))
    assert cippus.run("verify", "--deep", tmp_path / "all.blz").decode().endswith(": ok\n")


def test_tables_of_tables(cippus, tmp_path):
    """From form to form, with the attributes of the table and of its columns."""
    for name, a in {"id": np.arange(200), "v": np.arange(600.0).reshape(200, 3)}.items():
        np.save(tmp_path / f"{name}.npy", a)
    first = tmp_path / "first"
    cippus.run("convert", tmp_path / "id.npy", tmp_path / "v.npy", first, "--format", "bcolz")
    (first / "__attrs__").write_text('{"made": "h\\u00e9", "x": [NaN, -Infinity, 1e400]}')
    (first / "v/__attrs__").write_text('{"unit": "m"}')
    cippus.run("convert", first, tmp_path / "second", "--format", "blz-dir")
    columns, attrs, own = blz.read_table(tmp_path / "second", "blz-dir")
    assert own == {"id": {}, "v": {"unit": "m"}} and str(attrs) == "{'made': 'h\u00e9', 'x': [nan, -inf, inf]}"
    same(columns["v"], np.arange(600.0).reshape(200, 3))
    cippus.run("convert", first, tmp_path / "third.blz", "--accept-loss")
    got, attrs = blz.read_document(tmp_path / "third.blz")
    same(np.ascontiguousarray(got["v"]), columns["v"])
    assert attrs["made"] == "h\u00e9"
    (tmp_path / "third.blz/meta/history").write_text('["made"]')
    cippus.run("convert", tmp_path / "third.blz", tmp_path / "fourth.blz")
    assert blz.text(tmp_path / "fourth.blz/meta/history") == ["made"]


def test_bytes_do_not_depend_on_threads(cippus, rng, tmp_path):
    a = random_array(rng, TYPES[-1], (5000,))
    np.save(tmp_path / "in.npy", a)
    files = []
    for threads in (1, 2, 7):
        path = tmp_path / f"{threads}.blz"
        cippus.run("convert", tmp_path / "in.npy", path, "--threads", threads, *options({"chunklen": 100, "superchunk": 7}))
        files.append({f.relative_to(path): f.read_bytes() for f in path.rglob("*") if f.is_file()})
    assert files[0] == files[1] == files[2]
