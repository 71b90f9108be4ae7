# SPDX-License-Identifier: BSD-3-Clause
"""Frames of python-blosc2: random shapes, chunks, blocks, types, codecs and slices; contiguous and in folders;
what updates leave; metadata."""
import json

import numpy as np
import pytest

blosc2 = pytest.importorskip("blosc2")
CODECS = [blosc2.Codec.BLOSCLZ, blosc2.Codec.LZ4, blosc2.Codec.LZ4HC, blosc2.Codec.ZLIB, blosc2.Codec.ZSTD]
TYPES = ["i1", "<i2", ">i4", "<u8", "<f4", ">f8", "<c16", "?", "S3", "<U2", "<M8[s]", [("a", "<i2"), ("b", "<f8")]]


def random_array(rng, dtype):
    shape = tuple(int(n) for n in rng.integers(1, 14, rng.integers(1, 5)))
    dtype = np.dtype(dtype)
    if dtype.kind in "SU":
        return rng.integers(0, 90, shape).astype(dtype)
    raw = rng.integers(0, 4, (int(np.prod(shape)), dtype.itemsize), dtype="u1")
    return (raw & 1 if dtype.kind == "b" else raw).copy().view(dtype).reshape(shape)


def random_slice(rng, shape):
    words = []
    for n in shape:
        a, b = sorted(int(v) for v in rng.integers(0, n + 1, 2))
        words.append(f"{a}:{b}:{int(rng.integers(1, 4))}" if rng.random() < 0.8 else str(int(rng.integers(0, n))))
    return "[" + ", ".join(words) + "]"


@pytest.mark.parametrize("contiguous", [True, False])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_arrays(cippus, rng, tmp_path, dtype, contiguous):
    for i in range(3):
        a = random_array(rng, dtype)
        chunks = tuple(int(rng.integers(1, n + 1)) for n in a.shape)
        blocks = tuple(int(rng.integers(1, n + 1)) for n in chunks)
        path = tmp_path / f"{i}.b2nd"
        cparams = blosc2.CParams(codec=CODECS[rng.integers(0, 5)], nthreads=1)
        blosc2.asarray(a, chunks=chunks, blocks=blocks, urlpath=str(path), contiguous=contiguous, cparams=cparams)
        assert cippus.array(path).tobytes() == a.tobytes()
        text = random_slice(rng, a.shape)
        got = cippus.array(path, "", text)
        want = np.asarray(a[eval(f"np.s_{text}")]).astype(a.dtype)  # a scalar has the machine's order
        assert got.shape == want.shape and got.tobytes() == want.tobytes()
        assert b"ok" in cippus.run("verify", "--deep", path)


def test_updates_leave_what_they_should(cippus, tmp_path):
    path = tmp_path / "a.b2nd"
    a = blosc2.asarray(np.arange(600).reshape(20, 30), chunks=(7, 8), blocks=(3, 4), urlpath=str(path))
    a[3:9, 5:20] = -1
    a.resize((31, 25))
    a[25] = np.arange(25)
    assert (cippus.array(path) == a[:]).all()


def test_metadata(cippus, tmp_path):
    path = tmp_path / "m.b2frame"
    s = blosc2.SChunk(data=b"x" * 100, urlpath=str(path), contiguous=True, meta={"m": [1, "two", None]})
    s.vlmeta["k"] = {"a": 1.5, "b": [True, "ü"]}
    s.vlmeta["t"] = (1, 2)
    tree = json.loads(cippus.run("tree", "--json", path))
    assert tree["meta"]["m"] == [1, "two", None]
    assert tree["vlmeta"]["k"] == {"a": 1.5, "b": [True, "ü"]}
    assert cippus.array(path).tobytes() == b"x" * 100


def test_fields_and_points_of_a_record_array(cippus, tmp_path):
    path = tmp_path / "r.b2nd"
    a = np.zeros(50, dtype=[("x", "<i4"), ("y", ">f8")])
    a["x"], a["y"] = np.arange(50), np.arange(50) / 4
    blosc2.asarray(a, chunks=(20,), blocks=(6,), urlpath=str(path))
    assert (cippus.array(path, "y", "[::3]") == a["y"][::3]).all()
