# SPDX-License-Identifier: BSD-3-Clause
"""Folders of BLZ and bcolz that cippus changes: every file afterwards, by an independent decoder."""
import json
import os
import pathlib
import shutil

import bcolz_folder as bc
import numpy as np
import pytest

TYPES = ["<i2", ">f8", "S3", "<U2", "?", "u1", "M8[ns]", "c8", [("a", "<i4"), ("b", "S2")]]
CORPUS = pathlib.Path(os.environ.get("CIPPUS_CORPUS") or pathlib.Path(__file__).resolve().parents[3] / "shared" / "corpus")


def rows_of(rng, a, n):
    if a.dtype.names is not None:
        out = np.zeros((n, *a.shape[1:]), a.dtype)
        for name in a.dtype.names:
            out[name] = rng.integers(0, 90, out[name].shape).astype(a.dtype[name].base)
        return out
    return rng.integers(0, 90, (n, *a.shape[1:])).astype(a.dtype)


def chunklen_of(path):
    first = min(path.rglob("meta/storage"))
    return json.loads(first.read_text())["chunklen"]


def change(cippus, rng, tmp_path, path, a, dflt=None):
    """One update; the array that it makes. dflt: what rows without a value hold."""
    new, kind = tmp_path / "new.npy", rng.integers(0, 5)
    if kind == 0:
        rows = rows_of(rng, a, int(rng.integers(1, 60)))
        np.save(new, rows)
        cippus.run("append", "--durability", "process", path, new)
        return np.concatenate([a, rows]).astype(a.dtype)
    if kind == 1:
        n = int(rng.integers(0, 2 * len(a) + 3))
        cippus.run("resize", "--durability", "process", path, ",".join(map(str, (n, *a.shape[1:]))))
        b = np.zeros((n, *a.shape[1:]), a.dtype) if dflt is None else np.full((n, *a.shape[1:]), dflt, a.dtype)
        b[:min(n, len(a))] = a[:n]
        return b
    if kind >= 3:
        each = chunklen_of(path) if rng.integers(2) else 1  # whole chunks, perhaps
        start = int(rng.integers(0, len(a) + 1)) // each * each
        n = int(rng.integers(0, 60)) // each * each
        if kind == 3:
            cippus.run("rm", "--durability", "process", path, ".", f"[{start}:{start + n}]")
            return np.delete(a, slice(start, start + n), 0)
        rows = rows_of(rng, a, n)
        np.save(new, rows)
        cippus.run("put", "--insert", "--durability", "process", path, ".", f"[{start}:{start}]", new)
        return np.concatenate([a[:start], rows, a[start:]]).astype(a.dtype)
    lo, hi = sorted(int(x) for x in rng.integers(0, len(a) + 1, 2))
    rows, a = rows_of(rng, a, hi - lo), a.copy()
    np.save(new, rows)
    cippus.run("put", "--durability", "process", path, ".", f"[{lo}:{hi}]", new)
    a[lo:hi] = rows
    return a


def check(cippus, path, a, attrs=None):
    bc.check(path, a, attrs)
    assert cippus.run("cat", "--to", "raw", path) == packed(a)
    assert cippus.run("verify", "--deep", path).decode() == f"{path}: ok\n"


def packed(a):
    return a.astype(a.dtype.newbyteorder("<")).tobytes()


@pytest.mark.parametrize("is_blz", [False, True], ids=["bcolz", "blz"])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_arrays(cippus, rng, tmp_path, dtype, is_blz):
    for i in range(3):
        a = np.zeros((int(rng.integers(0, 90)), *[(), (3,), (2, 2)][i]), dtype)
        a = rows_of(rng, a, len(a))
        path = tmp_path / str(i)
        how = {"cname": "blosclz", "shuffle": int(rng.integers(0, 2))} if is_blz else \
            {"cname": ["lz4", "zlib", "zstd", "blosclz"][rng.integers(0, 4)], "shuffle": int(rng.integers(0, 3))}
        bc.write(path, a, int(rng.integers(1, 30)), is_blz=is_blz, clevel=int(rng.integers(1, 10)), **how)
        for _ in range(7):
            a = change(cippus, rng, tmp_path, path, a)
            check(cippus, path, a)


@pytest.mark.parametrize("dtype,dflt", [("<i4", -7), (">f8", 1.5), ("S4", "ab"), ("?", True), ("<U2", "x")], ids=str)
def test_new_rows_hold_dflt(cippus, rng, tmp_path, dtype, dflt):
    a = np.full((20, 3), dflt, dtype)
    bc.write(tmp_path / "a", a, 8, dflt=dflt)
    for _ in range(9):
        a = change(cippus, rng, tmp_path, tmp_path / "a", a, dflt)
        check(cippus, tmp_path / "a", a)


def test_attributes(cippus, tmp_path):
    path, attrs = tmp_path / "a", {"name": "Gr\u00f6\u00dfe \U0001f52d", "nan": float("inf"), "deep": {"list": [1, None, True, 2.5]}}
    bc.write(path, np.arange(9), 4, attrs=attrs)
    for words in (["set", path, "attributes/unit", "mm"], ["set", path, "attributes/deep/n", "3"], ["mv", path, "attributes/unit", "attributes/u"],
                  ["rm", path, "attributes/deep/list"]):
        cippus.run(*words)
    attrs.update(u="mm", deep={"n": 3})
    check(cippus, path, np.arange(9), attrs)


def write_table(path, columns, is_blz):
    path.mkdir()
    for name, a in columns.items():
        bc.write(path / name, a, 7, is_blz=is_blz, cname="blosclz")
    roots = {"names": list(columns), **({"dirs": {n: f"/where/it/was/{n}" for n in columns}} if is_blz else {})}
    (path / "__rootdirs__").write_text(json.dumps(roots) + "\n")
    (path / "__attrs__").write_text("{}\n")


@pytest.mark.parametrize("is_blz", [False, True], ids=["bcolz", "blz"])
def test_columns(cippus, tmp_path, is_blz):
    columns = {"a": np.arange(30, dtype="<i4"), "b": np.arange(60.0).reshape(30, 2), "c": np.arange(30).astype("S3")}
    path = tmp_path / "t"
    write_table(path, columns, is_blz)
    cippus.run("mv", path, "b", "d")
    cippus.run("rm", path, "a")
    roots = json.loads((path / "__rootdirs__").read_text())
    assert roots == {"names": ["d", "c"], **({"dirs": {"d": "d", "c": "c"}} if is_blz else {})}
    assert sorted(p.name for p in path.iterdir()) == ["__attrs__", "__rootdirs__", "c", "d"]
    bc.check(path / "d", columns["b"])
    bc.check(path / "c", columns["c"])
    np.save(tmp_path / "x.npy", columns["c"][:3])
    cippus.run("append", path, "c", tmp_path / "x.npy", status=3)
    bc.check(path / "c", columns["c"])


@pytest.mark.parametrize("is_blz", [False, True], ids=["bcolz", "blz"])
@pytest.mark.parametrize("n", [0, 1, 7, 30])
def test_columns_come(cippus, rng, tmp_path, n, is_blz):
    path, columns = tmp_path / "t", {"a": np.arange(n, dtype="<i4"), "b": np.arange(2.0 * n).reshape(n, 2)}
    write_table(path, columns, is_blz)
    before = {p: p.read_bytes() for p in path.rglob("*") if p.is_file() and p.name != "__rootdirs__"}
    for i, dtype in enumerate(TYPES):
        name, new = f"c{i} \u00e9", tmp_path / "new.npy"
        columns[name] = rows_of(rng, np.zeros((0, *[(), (3,), (2, 2)][i % 3]), dtype), n)
        np.save(new, columns[name])
        options = [[], ["--codec", "zlib:3"], ["--option", "chunklen=4"], ["--option", "filter=none"]][i % 4]
        plan = cippus.run("put", "--new", "--dry-run", path, name, new).decode()
        assert plan == f"would make {3 + -(-n // 7)} files, replace 1\n"
        assert not (path / name).exists()
        cippus.run("put", "--new", "--durability", "process", path, name, new, *options)
        bc.check(path / name, columns[name], new=True)
        assert json.loads((path / name / "meta/storage").read_text())["chunklen"] == (4 if i % 4 == 2 else 7)
    roots = json.loads((path / "__rootdirs__").read_text())
    assert roots == {"names": list(columns), **({"dirs": {c: c for c in columns}} if is_blz else {})}
    assert all(p.read_bytes() == was for p, was in before.items())
    assert cippus.run("verify", "--deep", path).decode() == f"{path}: ok\n"
    dtype = np.dtype([(c, a.dtype, a.shape[1:]) for c, a in columns.items()])
    table = np.zeros(n, dtype)
    for c, a in columns.items():
        table[c] = a
    assert cippus.run("cat", "--to", "raw", path) == packed(table)
    for _ in range(3):  # and are columns like others then
        table = change(cippus, rng, tmp_path, path, table)
        assert cippus.run("cat", "--to", "raw", path) == packed(table)
        assert cippus.run("verify", "--deep", path).decode() == f"{path}: ok\n"


@pytest.mark.parametrize("is_blz", [False, True], ids=["bcolz", "blz"])
def test_columns_that_cannot_come_change_nothing(cippus, tmp_path, is_blz):
    path = tmp_path / "t"
    write_table(path, {"a": np.arange(9)}, is_blz)
    np.save(tmp_path / "9.npy", np.arange(9))
    np.save(tmp_path / "8.npy", np.arange(8))
    before = {p: p.read_bytes() for p in path.rglob("*") if p.is_file()}
    for name, file, *options in [("b", "8.npy"), ("_b", "9.npy"), ("..", "9.npy"), ("b/c", "9.npy"), ("b~1c", "9.npy"), ("x" * 201, "9.npy"),
                                 ("b", "9.npy", "--option", "shards=x"), ("b", "9.npy", "--inline")]:
        cippus.run("put", "--new", path, name, tmp_path / file, *options, status=3)
    for name in ("a", os.fsdecode(b"\xff")):  # taken; no UTF-8
        cippus.run("put", "--new", path, name, tmp_path / "9.npy", status=2)
    if is_blz:
        cippus.run("put", "--new", path, "b", tmp_path / "9.npy", "--codec", "zstd", status=3)
    cippus.run("put", "--new", path / "a", "b", tmp_path / "9.npy", status=3)
    assert {p: p.read_bytes() for p in path.rglob("*") if p.is_file()} == before


@pytest.mark.parametrize("is_blz", [False, True], ids=["bcolz", "blz"])
def test_records(cippus, rng, tmp_path, is_blz):
    dtype = np.dtype([("a", "<i4"), ("b", ">f8", (2,)), ("c", "S3")])
    a, path = rows_of(rng, np.zeros(0, dtype), 30), tmp_path / "t"
    write_table(path, {n: a[n].copy() for n in dtype.names}, is_blz)
    for _ in range(9):
        a = change(cippus, rng, tmp_path, path, a)
        for name in dtype.names:
            bc.check(path / name, a[name].copy())
        assert cippus.run("cat", "--to", "raw", path) == packed(a)
        assert cippus.run("verify", "--deep", path).decode() == f"{path}: ok\n"


@pytest.mark.skipif(not (CORPUS / "manifest.json").exists(), reason="no corpus")
@pytest.mark.parametrize("name", ["bcolz/be_f8", "bcolz/codec_zstd_sh2_l5", "bcolz/dt_U3", "bcolz/nd3_e", "bcolz/exact_chunks", "bcolz/chunklen1",
                                  "blz/nd2", "blz/dt_bool", "blz/dt_S5", "blz/codec_lz4hc_sh0_l5", "blz/empty", "blz/appended"])
def test_folders_that_the_programs_wrote(cippus, rng, tmp_path, name):
    path = tmp_path / "a"
    shutil.copytree(CORPUS / "generated" / name, path)
    os.system(f"chmod -R u+w '{path}'")
    attrs = json.loads((path / "__attrs__").read_text())
    a = cippus.array(path)
    for _ in range(8):
        a = change(cippus, rng, tmp_path, path, a)
        check(cippus, path, a, attrs)
