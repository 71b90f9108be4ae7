# SPDX-License-Identifier: BSD-3-Clause
"""Frames that python-blosc2 and we changed, after defrag: python-blosc2 reads, changes and appends to them; what nothing names is gone."""
import pathlib

import blosc2
import numpy as np
import pytest


def size(path):
    path = pathlib.Path(path)
    return sum(p.stat().st_size for p in path.iterdir()) if path.is_dir() else path.stat().st_size


def change(rng, path, want):
    """Slices, rows that come and go."""
    x = blosc2.open(str(path), mode="a")
    for _ in range(4):
        n = want.shape[0]
        first = int(rng.integers(0, max(n, 1)))
        value = rng.integers(0, 2**30, (min(5, n - first), want.shape[1])).astype(want.dtype)
        x[first : first + 5] = value
        want[first : first + 5] = value
        n = int(rng.integers(1, 60))
        x.resize((n, want.shape[1]))
        more = np.zeros((max(0, n - want.shape[0]), want.shape[1]), want.dtype)
        want = np.concatenate([want[:n], more])
        x[n - len(more) :] = more  # what older padding held would show
    return want


@pytest.mark.parametrize("contiguous", [True, False], ids=["contiguous", "sparse"])
def test_arrays_changed_by_turns(cippus, rng, tmp_path, contiguous):
    path = tmp_path / "x.b2nd"
    want = rng.integers(0, 2**30, (40, 13)).astype("<i4")
    blosc2.asarray(want, urlpath=str(path), mode="w", chunks=(6, 5), blocks=(3, 2), contiguous=contiguous)
    for _ in range(10):
        want = change(rng, path, want)
        if contiguous:
            cippus.run("put", path, ".", "[0]", "7")
            want[0] = 7
        before = size(path)
        cippus.run("defrag", path)
        assert size(path) <= before
        assert cippus.run("defrag", path) == b""
        assert cippus.run("verify", "--deep", path).decode() == f"{path}: ok\n"
        assert np.array_equal(blosc2.open(str(path), mode="r")[...], want)
        assert np.array_equal(cippus.array(path), want)


def test_chunks_of_any_length(cippus, tmp_path):
    """Objects, each a chunk, and batches in variable blocks."""
    path = tmp_path / "x.b2nd"
    a = blosc2.ObjectArray(urlpath=str(path), mode="w")
    a.extend([1, "two", {"x": [3]}])
    a[1] = "longer than it was" * 20
    a.insert(1, "in")
    a.pop(0)
    want = list(a)
    del a
    cippus.run("defrag", path)
    a = blosc2.ObjectArray(urlpath=str(path), mode="a")
    assert list(a) == want
    a.append("more")
    assert list(a) == [*want, "more"]
    path = tmp_path / "y.b2nd"
    a = blosc2.BatchArray(urlpath=str(path), mode="w")
    a.append([1, 2, 3])
    a.append(["x", "y"] * 100)
    a[0] = [5] * 300
    want = [list(b) for b in a]
    del a
    cippus.run("defrag", path)
    assert [list(b) for b in blosc2.BatchArray(urlpath=str(path), mode="r")] == want


def test_holes_that_deleted_chunks_leave(cippus, tmp_path):
    path = tmp_path / "x.b2frame"
    data = np.random.default_rng(1).integers(0, 2**30, 1000).astype("<i4")
    s = blosc2.SChunk(chunksize=400, data=data, cparams={"typesize": 4}, urlpath=str(path), mode="w")
    s.delete_chunk(3)
    s.insert_data(0, data[:100], copy=True)
    del s
    want = np.concatenate([data[:100], data[:300], data[400:]])
    before = size(path)
    assert b"belong to no chunk" in cippus.run("defrag", path)
    assert size(path) < before
    s = blosc2.open(str(path), mode="a")
    assert np.array_equal(np.frombuffer(s[:], "<i4"), want)
    s.append_data(data[:100])
    assert np.array_equal(np.frombuffer(s[:], "<i4"), np.concatenate([want, data[:100]]))
    assert cippus.run("verify", "--deep", path).decode() == f"{path}: ok\n"
