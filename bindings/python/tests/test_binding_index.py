# SPDX-License-Identifier: BSD-3-Clause
"""Keys of every kind against numpy, on drawn shapes, chunks and dtypes."""
import functools
import itertools
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import cippus

CASES = 4000 if os.environ.get("CIP_FULL") else 400
SHAPES = [(), (1,), (17,), (0, 3), (5, 7), (4, 1, 6), (3, 4, 5, 2), (40, 9)]
KINDS = ["asdf", "asdf-zlib", "b2nd", "npy", "rawarray", "record"]
quick = settings(max_examples=CASES, deadline=None, database=None, derandomize=not os.environ.get("CIP_FULL"), suppress_health_check=list(HealthCheck))


@functools.cache
def pair(shape, kind):
    """(numpy's array, ours) of a shape in a kind of file."""
    values = np.arange(int(np.prod(shape)), dtype=">i4" if kind == "asdf" else "<f8").reshape(shape)
    options = {}
    if kind == "record":
        both = np.zeros(shape, [("a", "<u2"), ("v", "<f8")])
        both["v"] = values
        with cippus.create(format="asdf") as w:
            w["x"] = both
        return values, cippus.open(w.getvalue())["x"]["v"]
    if kind == "b2nd":
        options["chunks"] = tuple(max(1, n // 2) for n in shape) or None
    with cippus.create(format={"asdf-zlib": "asdf", "b2nd": "blosc2"}.get(kind, kind)) as w:
        w.put("x" if kind.startswith("asdf") else "", values, codec="zlib" if kind == "asdf-zlib" else None, **options)
    return values, cippus.open(w.getvalue()).array


pairs = st.tuples(st.sampled_from(SHAPES), st.sampled_from(KINDS)).filter(lambda p: p[1] != "b2nd" or p[0])


def same(theirs, ours):
    np.testing.assert_array_equal(ours, theirs)
    assert np.shape(ours) == np.shape(theirs)
    assert isinstance(ours, np.ndarray) == isinstance(theirs, np.ndarray)


def both(theirs, ours, key):
    """The same result, or the same exception."""
    try:
        expected = theirs[key]
    except (IndexError, ValueError) as error:
        try:
            found = ours[key]
        except type(error):
            return
        raise AssertionError(f"{key!r}: expected {error!r}, found {found!r}") from error
    same(expected, ours[key])


@quick
@given(pairs, st.data())
def test_basic_keys_are_numpys(p, data):
    theirs, ours = pair(*p)
    key = data.draw(hnp.basic_indices(theirs.shape, allow_newaxis=True, allow_ellipsis=True))
    both(theirs, ours, key)


integers = st.integers(-20, 20)
lists = st.lists(st.integers(-6, 6), max_size=5)


@st.composite
def items(draw, shape):
    """Any mixture of items, often a wrong one."""
    rank = draw(st.integers(0, len(shape) + 1))
    key, axis = [], 0
    common = draw(st.sampled_from([(), (1,), (3,), (2, 3), (0,)]))
    while axis < rank:
        n = shape[axis] if axis < len(shape) else 1
        what = draw(st.sampled_from("sssiaabmne"))
        if what == "s":
            key.append(draw(st.slices(max(n, 1))))
        elif what == "i":
            key.append(draw(st.integers(-n - 1, n)))
        elif what == "a":
            dims = draw(st.sampled_from([common, common[-1:], ()]))
            bound = max(n, 1)
            values = draw(hnp.arrays(draw(st.sampled_from([np.int64, np.uint8, np.int16])), dims, elements=st.integers(0, bound - 1)))
            key.append(values - bound if values.dtype.kind == "i" and draw(st.booleans()) else values)
        elif what == "b":
            key.append(draw(hnp.arrays(bool, n)))
        elif what == "m":
            dims = shape[axis : axis + 2]
            key.append(draw(hnp.arrays(bool, dims)))
            axis += len(dims) - 1
        elif what == "n":
            key.append(None)
            axis -= 1
        else:
            if Ellipsis not in [k if k is Ellipsis else None for k in key]:
                key.append(Ellipsis)
            axis -= 1
            if len(key) > 8:
                break
        axis += 1
        if len(key) > 8:
            break
    return tuple(key) if len(key) != 1 or draw(st.booleans()) else key[0]


@quick
@given(pairs, st.data())
def test_arrays_of_integers_and_booleans_are_numpys(p, data):
    theirs, ours = pair(*p)
    both(theirs, ours, data.draw(items(theirs.shape)))


@quick
@given(pairs, st.data())
def test_oindex_is_ix(p, data):
    theirs, ours = pair(*p)
    key, wide, gone = [], [], []
    for axis, n in enumerate(theirs.shape):
        what = data.draw(st.sampled_from("sib" if n else "s"))
        if what == "s":
            key.append(data.draw(st.slices(max(n, 1))))
            wide.append(np.arange(n)[key[-1]])
        elif what == "i":
            index = data.draw(st.one_of(st.integers(-n, n - 1), st.lists(st.integers(-n, n - 1), max_size=6)))
            key.append(index)
            wide.append(np.atleast_1d(np.asarray(index, dtype=np.intp)))
            gone += [axis] if isinstance(index, int) else []
        else:
            key.append(data.draw(hnp.arrays(bool, n)))
            wide.append(np.flatnonzero(key[-1]))
    expected = theirs[np.ix_(*wide)].squeeze(tuple(gone)) if wide else theirs[()]
    np.testing.assert_array_equal(ours.oindex[tuple(key)], expected)
    assert ours.oindex[tuple(key)].shape == expected.shape


@quick
@given(pairs, st.data())
def test_out_is_filled_as_the_key_says(p, data):
    theirs, ours = pair(*p)
    key = data.draw(hnp.basic_indices(theirs.shape))
    expected = np.asarray(theirs[key])
    room = np.zeros(tuple(2 * n for n in expected.shape), ours.dtype)
    out = room[(..., *(slice(None, None, data.draw(st.sampled_from([2, -2]))) for _ in expected.shape))]
    ours.read(key, out=out)
    np.testing.assert_array_equal(out, expected)


def test_points_are_elements():
    theirs, ours = pair((3, 4, 5, 2), "b2nd")
    coords = [np.array([0, -1, 2]), np.array([3, 0, -4]), np.array([4, 4, 0]), np.array([0, 1, 1])]
    np.testing.assert_array_equal(ours.points(*coords), theirs[tuple(coords)])


@pytest.mark.parametrize("kind", ["asdf", "record"])
def test_arrays_without_axes_are_integers(kind):
    theirs, ours = pair((5, 7), kind)
    zero, three = np.array(0), np.array(3, "u1")
    for key in (zero, (zero,), (zero, three), (..., three), (zero, ..., three), (zero, None), (three, [1, 2]), (slice(None), three)):
        both(theirs, ours, key)
    same(theirs[[1, 2]], ours.read([1, 2]))


def test_wrong_indices_are_told_in_numpys_words():
    theirs, ours = pair((17,), "asdf")
    for key in (np.array([3, 17], "u1"), np.array([17, 99], "u8"), np.array(17, "u2"), [17], [-18], [1.5], np.ones(16, bool)):
        with pytest.raises(IndexError) as numpys:
            theirs[key]
        with pytest.raises(IndexError) as cippus_:
            ours[key]
        assert str(numpys.value).split(";")[0] == str(cippus_.value).split(";")[0]
    for key in (None, True, [[0]], np.True_):
        with pytest.raises(IndexError, match="oindex|only integers"):
            ours.oindex[key]


def test_rows_are_read_alone():
    """Of a large array few rows cost few bytes: more than a window never is in memory."""
    with cippus.create(format="blosc2") as w:
        w.put("", np.zeros((1 << 12, 1 << 12), "f4"), chunks=(64, 4096))
    ours = cippus.open(w.getvalue()).array
    for key in ([5, 4000], np.arange(1 << 12) == 77):
        assert ours[key].sum() == 0
    for pick in itertools.product([[1, 2, 4095]], [[0, 9]]):
        assert ours.oindex[pick].shape == (3, 2)
