# SPDX-License-Identifier: BSD-3-Clause
"""`diff` against numpy: pairs of arrays in any two formats, with and without tolerances."""
import json
import sys

import numpy as np
import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests/support"))
import effort  # noqa: E402

DTYPES = "?,i1,i2,i4,i8,u1,u2,u4,u8,f2,f4,f8,c8,c16,>i4,>u8,>f4,>f8,>c16,S5,U3,M8[ns]".split(",")
FORMATS = ["npy", "asdf", "b2nd", "ra", "blp", "blz"]
HAS_NOT = {"asdf": "M", "ra": "bSUM", "blz": "UM"}  # kinds without a name in a format


def some(rng, dtype, shape):
    kind = dtype.kind
    if kind in "SU":
        return rng.choice(np.array(["", "a", "bc", "xyz"]).astype(dtype), shape)
    if kind == "M":
        return rng.integers(0, 5, shape).astype("M8[ns]")
    if kind in "fc":
        x = rng.choice([0.0, -0.0, 1.0, -2.5, 1e4, 3.0, np.nan, np.inf, -np.inf], shape)
        return (x + 1j * rng.choice([0.0, 1.0, np.nan], shape) if kind == "c" else x).astype(dtype)
    info = (0, 1) if kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return rng.choice(np.array([*info, info[1] - 1, 0, 1], dtype), shape)


def changed(rng, x):
    y = x.copy()
    mask = rng.random(x.shape) < rng.choice([0, 0, 0.1, 0.6])
    y[mask] = some(rng, x.dtype, x.shape)[mask]
    if x.dtype.kind in "fc":
        with np.errstate(all="ignore"):
            y = (y * (1 + rng.choice([0, 1e-3, -1e-6], x.shape))).astype(x.dtype)
    return y


def exactly(x):
    """Integers as Python's, so that differences are exact; floats as float64."""
    if x.dtype.kind in "iub":
        return np.array([int(v) for v in x.ravel()], object).reshape(x.shape)
    return x.astype("c16" if x.dtype.kind == "c" else "f8")


def equal(x, y, rtol, atol):
    if x.dtype.kind in "SUMb" or (x.dtype.kind in "iu" and rtol == atol == 0):
        return x == y
    if x.dtype.kind in "iu":
        a, b = exactly(x), exactly(y)
        return np.asarray(np.abs(a - b), float) <= atol + rtol * np.asarray(np.abs(b), float)
    with np.errstate(all="ignore"):
        return np.isclose(exactly(x), exactly(y), rtol=rtol, atol=atol, equal_nan=True)


def write(cippus, folder, name, x, rng):
    npy = folder / f"{name}.npy"
    np.save(npy, x)
    fits = [f for f in FORMATS if x.dtype.kind not in HAS_NOT.get(f, "") and (x.ndim or f != "blz")]
    form = fits[rng.integers(len(fits))]
    if form == "npy":
        return npy
    out = folder / f"{name}.{form}"
    cippus.run("convert", "--overwrite", npy, out)
    return out


@pytest.mark.parametrize("seed", range(3000 if effort.FULL else 120))
def test_pairs(cippus, tmp_path, seed):
    rng = np.random.default_rng([effort.SEED, seed])
    dtype = np.dtype(DTYPES[seed % len(DTYPES)])
    shape = tuple(rng.integers(0, 40, rng.integers(0, 4)))
    x = np.asarray(some(rng, dtype, shape)).astype(dtype).reshape(shape)
    y = np.asarray(changed(rng, x)).astype(dtype)
    rtol, atol = rng.choice([0, 0, 1e-2, 1e-5]), rng.choice([0, 0, 0.5, 1e-4])
    a, b = write(cippus, tmp_path, "a", x, rng), write(cippus, tmp_path, "b", y, rng)
    differ = ~np.asarray(equal(x, y, rtol, atol), bool).reshape(shape)
    words = ["diff", "--json", "--rtol", repr(float(rtol)), "--atol", repr(float(atol)), a, b]
    found = json.loads(cippus.run(*words, status=1 if differ.any() else 0))["differences"]
    assert len(found) == int(differ.any())
    if not found:
        return
    said = found[0]
    assert said["kind"] == "data" and said["elements"] == x.size and said["differing"] == differ.sum()
    assert tuple(said["first"]) == tuple(int(i[0]) for i in np.nonzero(differ)) if shape else said["first"] == []
    if dtype.kind in "SUM":
        assert said["max_abs"] == said["max_rel"] == "NaN"
        return
    with np.errstate(all="ignore"):
        u, v = exactly(x).reshape(shape)[differ], exactly(y).reshape(shape)[differ]
        by, of = np.asarray(np.abs(u - v), float), np.asarray(np.abs(v), float)
        by_of = (by / of)[np.isfinite(of) & (of != 0) & ~np.isnan(by)]
        by = by[~np.isnan(by)]
    for word, want in ("max_abs", by), ("max_rel", by_of):
        value = float(said[word].replace("Infinity", "inf")) if isinstance(said[word], str) else said[word]
        np.testing.assert_allclose(value, want.max() if want.size else np.nan, rtol=1e-12)


def test_values_of_two_dtypes(cippus, tmp_path):
    x = np.array([2**53 + 1, 2**63 - 1, -1, 0, 5], "i8")
    np.save(tmp_path / "a.npy", x)
    for other, want in ((x.astype("u8"), [2]), (x.astype("f8"), [0, 1]), (x.astype("c16"), [0, 1]), (x.astype("i4"), [0, 1]), (x, [])):
        np.save(tmp_path / "b.npy", other)
        found = json.loads(cippus.run("diff", "--json", tmp_path / "a.npy", tmp_path / "b.npy", status=int(bool(want))))["differences"]
        kinds = [f["kind"] for f in found]
        assert kinds == (["dtype", "data"] if want else [])
        assert not want or (found[1]["differing"], found[1]["first"]) == (len(want), want[:1])


def test_masked_arrays_and_records(cippus, tmp_path):
    import asdf

    x = np.ma.array([1.0, 2.0, 3.0, 4.0], mask=[0, 1, 0, 1])
    y = np.ma.array([1.0, 9.0, 3.0, 4.0], mask=[0, 1, 1, 1])
    t = np.array([(1, 2.0, b"ab"), (3, 4.0, b"c")], [("n", "<i4"), ("v", ">f8"), ("s", "S2")])
    u = t[["s", "v", "n"]].astype([("s", "S2"), ("v", "<f8"), ("n", ">i4")])
    u["v"][1] = 5
    asdf.AsdfFile({"x": x, "t": t}).write_to(tmp_path / "a.asdf")
    asdf.AsdfFile({"x": y, "t": u}).write_to(tmp_path / "b.asdf")
    found = json.loads(cippus.run("diff", "--json", tmp_path / "a.asdf", tmp_path / "b.asdf", status=1))["differences"]
    assert sorted((f["path"], f["kind"]) for f in found) == [("t", "dtype"), ("t/v", "data"), ("x", "data")]
    said = {f["path"]: f for f in found}
    assert (said["x"]["differing"], said["x"]["first"]) == (1, [2]) and "3.0 and missing" in said["x"]["text"]
    assert (said["t/v"]["differing"], said["t/v"]["max_abs"], said["t/v"]["max_rel"]) == (1, 1.0, 0.2)
