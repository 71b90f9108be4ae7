# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that are declared and filled part by part, and arrays of other files as values."""
import contextlib
import io
import re
import threading

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import cippus

FORMATS = ["asdf", "b2nd", "npy", "ra", "blp", "blz", "bcolz"]


@pytest.mark.parametrize("extension", FORMATS)
def test_filled_by_parts(tmp_path, extension):
    a = np.arange(60 * 7, dtype="f4").reshape(60, 7)
    path = tmp_path / f"x.{extension}"
    with cippus.create(path) as w:
        slab = w.declare("data", a.shape, a.dtype)
        assert (slab.shape, slab.dtype, slab.ndim) == ((60, 7), np.dtype("f4"), 2)
        assert repr(slab) == "<cippus.Slab shape=(60, 7) dtype=float32>"
        for i in range(0, 60, 8):
            slab[i : i + 8] = a[i : i + 8]
    with cippus.open(path) as f:
        np.testing.assert_array_equal(f.array[...], a)


def test_what_is_not_filled_is_zeros_and_values_are_cast():
    with cippus.create(format="asdf") as w:
        slab = w.declare("a", (4, 5), ">i2", codec="lz4")
        slab[1] = 7
        slab[-1, 1:3] = [1.9, 2]
        slab[0, ...] = np.arange(5)[::-1]
        slab[2:2] = np.empty((0, 5))
        slab[..., 0:1] = 9
        one = w.declare("one", (), "f8")
        one[...] = 3
        none = w.declare("none", 0, "f8")
        none[:] = []
    with cippus.open(w.getvalue()) as f:
        assert f["a"][...].tolist() == [[9, 3, 2, 1, 0], [9, 7, 7, 7, 7], [9, 0, 0, 0, 0], [9, 1, 2, 0, 0]]
        assert f["a"].dtype == np.int16
        assert f["one"][()] == 3 and f["none"].shape == (0,)


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_keys_are_numpys(data):
    shape = tuple(data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=3)))
    want = np.zeros(shape, "i4")
    with cippus.create(format="asdf") as w:
        slab = w.declare("a", shape, "i4")
        for value in 1, 2:
            part = st.one_of(st.integers(-7, 7), st.builds(slice, st.none() | st.integers(-7, 7), st.none() | st.integers(-7, 7)), st.just(...))
            key = tuple(data.draw(st.lists(part, max_size=4)))
            try:
                want[key] = value
            except IndexError as error:
                with pytest.raises(IndexError) as found:
                    slab[key] = value
                assert str(found.value) == str(error)
            else:
                slab[key] = value
    with cippus.open(w.getvalue()) as f:
        np.testing.assert_array_equal(f["a"][...], want)


def test_wrong_parts(tmp_path):
    w = cippus.create(tmp_path / "x.asdf")
    slab = w.declare("a", (4, 5), "f4")
    for key in [slice(0, 4, 2)], [np.array([1, 2])], None, "x", True:
        with pytest.raises(IndexError):
            slab[tuple(key) if isinstance(key, list) else key] = 1
    with pytest.raises(ValueError, match="could not broadcast"):
        slab[0] = [1, 2, 3]
    with pytest.raises(ValueError, match="could not convert"):
        slab[0] = "text"
    with pytest.raises(TypeError, match="objects"):
        w.declare("b", 3, object)
    with pytest.raises(ValueError, match="axes"):
        slab._slab.write((0,), (1,), b"")
    with pytest.raises(cippus.ArgumentError):
        w.declare("a", 3, "f4")
    with pytest.raises(cippus.RangeError):
        slab._slab.write((0, 0), (5, 5), bytes(100))
    w.abort()
    with pytest.raises(ValueError, match="closed"):
        slab[0] = 1
    assert list(tmp_path.iterdir()) == []
    w = cippus.create(tmp_path / "y.asdf")
    slab = w.declare("a", (4, 5), "f4")
    with pytest.raises(cippus.RangeError):
        slab._slab.write((0, 0), (1, 5), b"too short")
    with pytest.raises(cippus.RangeError):  # a part that failed is not passed over
        w.commit()
    assert list(tmp_path.iterdir()) == []


def test_many_threads(tmp_path):
    a = np.random.default_rng(1).integers(0, 99, (64, 256)).astype("i4")
    path = tmp_path / "x.b2nd"
    failed = []

    def fill(slab, first):
        try:
            for i in range(first, 64, 32):
                slab[i : i + 8] = a[i : i + 8]
        except BaseException as error:
            failed.append(error)

    with cippus.create(path, options={"sparse": "yes"}) as w:
        slab = w.declare("data", a.shape, a.dtype, chunks=(8, 256))
        threads = [threading.Thread(target=fill, args=(slab, i)) for i in range(0, 32, 8)]
        [t.start() for t in threads]
        [t.join() for t in threads]
    assert failed == []
    with cippus.open(path) as f:
        np.testing.assert_array_equal(f.array[...], a)


def test_a_slab_keeps_its_writer_alive(tmp_path):
    slab = cippus.create(tmp_path / "x.asdf").declare("a", 5, "f4")
    slab[:] = 1
    del slab
    assert list(tmp_path.iterdir()) == []


def test_declared_in_an_update(tmp_path):
    path = tmp_path / "x.asdf"
    with cippus.create(path) as w:
        w["a"] = np.arange(3)
    with cippus.open(path, "r+") as f:
        slab = f.declare("b", 4, "i8")
        slab[:2] = 5
        f.commit()
        with pytest.raises(ValueError, match="closed"):
            slab[2:] = 6
        assert f["b"][...].tolist() == [5, 5, 0, 0]


@pytest.mark.parametrize("new", [False, True])
def test_declared_where_another_array_was_removed(tmp_path, new):
    f = cippus.create(tmp_path / "x.asdf")
    f["a"] = np.arange(3)
    if not new:
        f.commit()
        f = cippus.open(tmp_path / "x.asdf", "r+")
    with f:
        del f["a"]
        assert "a" not in f
        slab = f.declare("a", 4, "i8")
        slab[:] = 7
        assert f["a"][...].tolist() == [7, 7, 7, 7] and list(f.arrays) == ["a"]
    with cippus.open(tmp_path / "x.asdf") as f:
        assert f["a"][...].tolist() == [7, 7, 7, 7]


def test_a_failed_part_of_a_step_goes_with_it(tmp_path):
    with cippus.create(tmp_path / "x.asdf") as w:
        w["a"] = np.arange(3)
    with cippus.open(tmp_path / "x.asdf", "r+") as f:
        slab = f.declare("b", 4, "i8")
        with pytest.raises(cippus.RangeError), f.step():
            slab[:2] = 5
            slab._slab.write((0,), (9,), bytes(72))
        with pytest.raises(cippus.NotFoundError):
            f._begin().remove("nothing")
        slab[3] = 1
        f.commit()
        assert f["b"][...].tolist() == [0, 0, 0, 1]
        slab = f.declare("c", 4, "i8")
        with pytest.raises(cippus.RangeError):
            slab._slab.write((0,), (9,), bytes(72))
        with f.step():
            slab[:] = 1
        with pytest.raises(cippus.RangeError):  # it was before the step
            f.commit()


@pytest.mark.parametrize("extension", ["asdf", "b2nd", "npy"])
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_parts_steps_and_reads_in_any_order(extension, data):
    """Against a numpy array and what of it is there."""
    shape = data.draw(st.tuples(st.integers(1, 7), st.integers(1, 7)))
    if extension == "asdf":
        with cippus.create(format="asdf") as w:
            w["a"] = np.arange(3)
        store = io.BytesIO(w.getvalue())
        f, path = cippus.open(store, "r+"), "s"
    else:
        f, path = cippus.create(format={"b2nd": "blosc2"}.get(extension, extension)), ""
    slab = f.declare("s", shape, "i4")
    now, there = np.zeros(shape, "i4"), np.zeros(shape, bool)
    part = st.builds(slice, st.none() | st.integers(-7, 7), st.none() | st.integers(-7, 7))
    strided = st.builds(slice, st.none() | st.integers(-7, 7), st.none() | st.integers(-7, 7), st.sampled_from([None, 2, -1, 3]))
    number = iter(range(1, 10000))

    def play(depth):
        for _ in range(data.draw(st.integers(0, 6))):
            what = data.draw(st.sampled_from(["fill", "fill", "read", "read", "step"]))
            if what == "fill":
                key = data.draw(st.tuples(part, part))
                slab[key] = now[key] = next(number)
                there[key] = True
            elif what == "read":
                key = data.draw(st.tuples(strided, strided))
                if there[key].all():
                    np.testing.assert_array_equal(f[path][key] if path else f.array[key], now[key])
                else:
                    with pytest.raises(cippus.UnsupportedError, match="has not been written yet") as refused:
                        (f[path] if path else f.array)[key]
                    at = tuple(map(int, re.search(r"element \[(.*?)\]", str(refused.value))[1].split(", ")))
                    assert not there[at]
            elif depth < 3:
                was = now.copy(), there.copy()
                back = data.draw(st.booleans())
                with contextlib.suppress(ZeroDivisionError), f.step():
                    play(depth + 1)
                    if back:
                        1 / 0
                if back:
                    now[...], there[...] = was

    play(0)
    f.close()
    with cippus.open(store.getvalue() if path else f.getvalue()) as done:
        np.testing.assert_array_equal((done[path] if path else done.array)[...], now)


# --- arrays of other files


@pytest.mark.parametrize("extension", ["b2nd", "blz", "asdf"])
def test_values_of_other_files(tmp_path, extension):
    a = np.arange(40 * 6, dtype="f4").reshape(40, 6)
    paths = [tmp_path / f"{n}.{extension}" for n in "xy"]
    for path, rows in zip(paths, (a[:20] * 0, a[20:])):
        with cippus.create(path) as w:
            w.put("data", rows, chunks=(5, 6) if extension == "b2nd" else None)
    with cippus.open(paths[0], "r+") as f, cippus.open(paths[1]) as g:
        f.array[:20] = g.array
        f.array.append(g.array)
        f.commit()
        np.testing.assert_array_equal(f.array[...], np.concatenate([a[20:], a[20:]]))
        f.array[1:3] = f.array[0]  # of the same file: as it is by the last commit
        with pytest.raises(ValueError, match="broadcast"):
            f.array[1:3, :5] = g.array[...]
        with pytest.raises(ValueError, match="could not append"):
            f.array.append(g.array[:, :3])
    with cippus.open(paths[0]) as f:
        np.testing.assert_array_equal(f.array[:4], a[[20, 20, 20, 23]])


def test_masked_values_are_not_taken_as_stored(tmp_path):
    with cippus.create(tmp_path / "m.asdf") as w:
        w["a"] = np.ma.MaskedArray(np.arange(4.0), [0, 1, 0, 0])
    with cippus.create(tmp_path / "x.asdf") as w:
        w["a"] = np.zeros(4)
    with cippus.open(tmp_path / "x.asdf", "r+") as f, cippus.open(tmp_path / "m.asdf") as g:
        with pytest.raises(cippus.UnsupportedError, match="missing"):
            f["a"][:] = g["a"]
        f.rollback()
        f["a"][:] = g["a"].read(mask=False)
    with cippus.open(tmp_path / "x.asdf") as f:
        np.testing.assert_array_equal(f["a"][...], cippus.open(tmp_path / "m.asdf")["a"].read(mask=False))
