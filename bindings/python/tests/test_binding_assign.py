# SPDX-License-Identifier: BSD-3-Clause
"""Assignment by keys of every kind against numpy, within one update and over several."""
import os
import tempfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from test_binding_index import items

import cippus
from cippus import _assign

FULL = bool(os.environ.get("CIP_FULL"))
quick = settings(max_examples=3000 if FULL else 150, deadline=None, database=None, derandomize=not FULL, suppress_health_check=list(HealthCheck))
SHAPES = [(), (1,), (17,), (0, 3), (5, 7), (4, 1, 6), (3, 4, 5, 2), (40, 9)]
KINDS = ["asdf", "asdf-zlib", "asdf-inline", "b2nd", "rawarray", "npy", "npz", "npz-zlib", "fits", "field", "bcolz"]


def created(folder, shape, kind):
    """A file of numbers that an update can be made of, and what numpy has."""
    values = np.arange(int(np.prod(shape)), dtype=">i4" if kind == "asdf" else "<f8").reshape(shape)
    name = {"asdf": "x.asdf", "b2nd": "x.b2nd", "rawarray": "x.ra", "npy": "x.npy", "npz": "x.npz", "npz-zlib": "x.npz", "fits": "x.fits", "bcolz": "x.bcolz"}.get(kind, "x.asdf")
    options = {"storage": "inline"} if kind == "asdf-inline" else {"codec": "zlib"} if kind in ("asdf-zlib", "npz-zlib") else {}
    if kind == "b2nd":
        options["chunks"] = tuple(max(1, n // 2) for n in shape)
    path = os.path.join(folder, name)
    data = values
    if kind == "field":
        data = np.zeros(shape, [("a", "<u2"), ("v", "<f8"), ("b", "<u2")])
        data["v"], data["a"], data["b"] = values, 7, 9
    with cippus.create(path, format={"b2nd": "blosc2", "bcolz": "bcolz"}.get(kind), sync=False, overwrite=True) as w:
        w.put("x" if name in ("x.asdf", "x.npz", "x.fits", "x.bcolz") else "", data, **options)
    return values, path


class Pair:
    """numpy's array and ours, which has to become the same."""

    def __init__(self, shape, kind):
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        self.theirs, self.path = created(self.folder.name, shape, kind)
        self.kind = kind
        self.file = cippus.open(self.path, "r+")

    @property
    def ours(self):
        return self.file.array["v"] if self.kind == "field" else self.file.array

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.rollback()
        self.file.close()
        self.folder.cleanup()

    def assign(self, key, value, oindex=False):
        """The same exception, or both changed."""
        try:
            if oindex:
                self.theirs[np.ix_(*(np.arange(n)[k] if isinstance(k, slice) else np.atleast_1d(k) for k, n in zip(key, self.theirs.shape)))] = value
            else:
                self.theirs[key] = value
        except (IndexError, ValueError, TypeError, OverflowError) as error:
            # of a boolean array alone numpy looks at the value in another way, with other exceptions
            kinds = (type(error),) if isinstance(error, IndexError) else (ValueError, TypeError, OverflowError)
            with pytest.raises(kinds):
                self.ours[key] = value
            return
        if oindex:
            self.ours.oindex[key] = value
        else:
            self.ours[key] = value

    def check(self):
        self.file.commit()
        np.testing.assert_array_equal(self.ours[...], self.theirs)
        if self.kind == "field":
            records = self.file.array[...]
            assert (records["a"] == 7).all() and (records["b"] == 9).all()


pairs = st.tuples(st.sampled_from(SHAPES), st.sampled_from(KINDS)).filter(lambda p: p[1] not in ("asdf-inline", "b2nd", "bcolz", "fits") or (p[0] and 0 not in p[0]))


@st.composite
def values(draw, shape):
    """Something for a selection of that shape: a number, a row, all of it, or what does not fit."""
    what = draw(st.sampled_from("nnraowl"))
    if what == "n":
        return draw(st.integers(-100, 100))
    if what == "l":
        return draw(st.lists(st.integers(-9, 9), min_size=1, max_size=3))
    shape = tuple(draw(st.sampled_from([1, n])) for n in shape) if what == "r" else shape if what == "a" else (1, *shape) if what == "o" else (*shape, 2)
    return draw(hnp.arrays(np.int16, shape, elements=st.integers(-100, 100)))


def result_shape(array, key):
    try:
        return array[key].shape
    except (IndexError, ValueError):
        return ()


@quick
@given(pairs, st.data())
def test_assignment_is_numpys(p, data):
    with Pair(*p) as pair:
        for _ in range(3):
            key = data.draw(st.one_of(items(pair.theirs.shape), hnp.basic_indices(pair.theirs.shape, allow_newaxis=True), hnp.arrays(bool, pair.theirs.shape)))
            pair.assign(key, data.draw(values(result_shape(pair.theirs, key))))
        pair.check()


@quick
@given(pairs.filter(lambda p: p[0]), st.data())
def test_oindex_assignment_is_ix(p, data):
    with Pair(*p) as pair:
        for _ in range(2):
            key = []
            for n in pair.theirs.shape:
                what = data.draw(st.sampled_from("sib" if n else "s"))
                if what == "s":
                    key.append(data.draw(st.slices(max(n, 1))))
                elif what == "i":
                    key.append(np.array(data.draw(st.lists(st.integers(-n, n - 1), max_size=6)), np.intp))
                else:
                    key.append(np.flatnonzero(data.draw(hnp.arrays(bool, n))))
            shape = tuple(len(np.arange(n)[k]) for k, n in zip(key, pair.theirs.shape))
            pair.assign(tuple(key), data.draw(st.one_of(st.integers(-9, 9), hnp.arrays(np.int16, shape))), True)
        pair.check()


@pytest.mark.parametrize("kind", ["asdf", "asdf-zlib", "b2nd", "rawarray", "npy", "npz", "npz-zlib", "fits", "field", "bcolz"])
def test_large_arrays_are_assigned_in_tiles(kind, monkeypatch):
    monkeypatch.setattr(_assign, "_TILE", 1 << 12)
    monkeypatch.setattr(_assign, "_BATCH", 1 << 10)
    monkeypatch.setattr(_assign, "_APART", 1 << 8)
    rng = np.random.default_rng(7)
    with Pair((90, 70), kind) as pair:
        for turn in range(3):
            mask = rng.random((90, 70)) < (0.02, 0.5, 0.99)[turn]
            pair.assign(mask, rng.integers(0, 99, int(mask.sum())))
            pair.assign(mask[0] if turn else (slice(None), mask[0]), 3) if turn != 1 else pair.assign(mask[:, 0], -3)
            pair.assign((rng.integers(0, 90, 500), rng.integers(0, 70, 500)), np.arange(500))
            pair.assign(rng.integers(0, 90, 40), rng.integers(0, 9, (40, 70)))
            pair.assign((rng.integers(0, 90, 30), rng.integers(0, 70, 25)), 5, True)
            pair.assign((slice(None, None, -3), rng.integers(0, 70, 25)), rng.integers(0, 9, (30, 25)), True)
        pair.check()


def test_an_element_that_is_named_twice_gets_the_last_value(tmp_path):
    with Pair((5, 7), "asdf") as pair:
        pair.assign(([1, 1, 2, 1], [0, 0, 3, 0]), [1, 2, 3, 4])
        pair.assign([3, 3], np.arange(14).reshape(2, 7))
        assert pair.theirs[3, 0] == 7
        pair.check()
        pair.ours.oindex[[4, 4], [0, 1]] = [[1, 2], [3, 4]]
        pair.theirs[4, :2] = [3, 4]
        pair.check()


def test_arrays_are_added_to_in_place():
    with Pair((5, 7), "b2nd") as pair:
        pair.ours[...] += 1
        pair.theirs += 1
        pair.check()
        pair.ours[2:4, ::2] *= 3
        pair.theirs[2:4, ::2] *= 3
        pair.check()


RECORD = np.dtype([("x", "<f4"), ("pq", "<i2", (2,)), ("in", [("deep", "<i8"), ("s", "S3")])])


@pytest.mark.parametrize("name", ["x.asdf", "x.bcolz"])
def test_fields_are_assigned_by_themselves(tmp_path, name):
    dtype = RECORD if name != "x.bcolz" else np.dtype([("x", "<f4"), ("y", "<i2")])
    theirs = np.zeros(20, dtype)
    with cippus.create(tmp_path / name, sync=False, format="bcolz" if name == "x.bcolz" else None) as w:
        w["r"] = theirs
    with cippus.open(tmp_path / name, "r+") as f:
        ours = f[""] if name == "x.bcolz" else f.array
        ours["x"][3:9] = 2.5
        theirs["x"][3:9] = 2.5
        ours["x"][[0, 19, 0]] = [1, 2, 3]
        theirs["x"][[0, 19, 0]] = [1, 2, 3]
        ours["x"][ours["x"][...] == 0] = -1
        theirs["x"][(theirs["x"] == 0) | (theirs["x"] > 0)] = np.where(theirs["x"] == 0, -1, theirs["x"])[(theirs["x"] == 0) | (theirs["x"] > 0)]
        ours["x"][3:9] = 2.5
        ours["x"][[0, 19]] = [3, 2]
        ours[5] = theirs[0]
        theirs[5] = theirs[0]
        if dtype is RECORD:
            ours["pq"][2:5, 1] = [7, 8, 9]
            theirs["pq"][2:5, 1] = [7, 8, 9]
            ours["pq"][theirs["pq"] == 8] = 80
            theirs["pq"][theirs["pq"] == 8] = 80
            ours["in"]["deep"][::4] = 11
            theirs["in"]["deep"][::4] = 11
            ours["in"][1] = (5, b"ab")
            theirs["in"][1] = (5, b"ab")
        else:
            ours[["x", "y"]] = np.array([(1, 2)], dtype)
            theirs[...] = (1, 2)
        ours["x"] = np.arange(20)
        theirs["x"] = np.arange(20)
    with cippus.open(tmp_path / name) as f:
        np.testing.assert_array_equal((f[""] if name == "x.bcolz" else f.array)[...], theirs)


def test_masked_elements_become_missing_or_are_refused(tmp_path):
    with cippus.create(tmp_path / "x.asdf") as w:
        w["m"] = np.ma.MaskedArray(np.arange(6.0), mask=[0, 0, 1, 0, 0, 0])
        w["plain"] = np.arange(6)
    some = np.ma.MaskedArray([10.0, 11.0], mask=[1, 0])
    with cippus.open(tmp_path / "x.asdf", "r+") as f:
        f["plain"][:2] = np.ma.MaskedArray([5, 6], mask=[0, 0])
        with pytest.raises(TypeError, match="masked"):
            f["plain"][[0, 1]] = some
        f.commit()
        with pytest.raises(cippus.UnsupportedError, match="missing"):
            f["plain"][2:4] = some
        f.rollback()
    assert cippus.open(tmp_path / "x.asdf")["plain"][...].tolist() == [5, 6, 2, 3, 4, 5]


def test_what_cannot_be_assigned_begins_no_update(tmp_path):
    with Pair((5, 7), "asdf") as pair:
        for key, value in [([9], 1), ([0], [1, 2]), (([0], [9]), 1), (np.ones((5, 6), bool), 1), ([0], "text"), (slice(2), 2**70)]:
            with pytest.raises((IndexError, ValueError, OverflowError)):
                pair.ours[key] = value
        with pytest.raises(IndexError):
            pair.ours.oindex[[[0]]] = 1
        assert not pair.file._pending
