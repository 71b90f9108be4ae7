# SPDX-License-Identifier: BSD-3-Clause
"""New files that are read and changed before their commit: as files that are open as "r+", which they become the same bytes as."""
import copy
import gc
import io
import os
import pickle
import signal
import threading
import time
import warnings

import numpy as np
import pytest

import cippus

X = np.arange(24, dtype="i4").reshape(6, 4)
KINDS = {
    "asdf": ("x.asdf", "a", {}),
    "asdf-zlib": ("x.asdf", "a", {}),
    "b2nd": ("x.b2nd", "", {}),
    "bloscpack": ("x.blp", "", {}),
    "rawarray": ("x.ra", "", {}),
    "npy": ("x.npy", "", {}),
    "b2nd-sparse": ("x.b2nd", "", {"options": {"sparse": "yes"}}),
    "bcolz": ("x.bcolz", "", {"format": "bcolz"}),
    "blz": ("x.blz", "", {"format": "blz"}),
    "blz-dir": ("x.blzdir", "", {"format": "blz-dir"}),
}
CODEC = {"asdf-zlib": "zlib"}  # of the first array
IN_MEMORY = {"asdf": "asdf", "asdf-zlib": "asdf", "b2nd": "blosc2", "bloscpack": "bloscpack", "rawarray": "rawarray", "npy": "npy"}


def content(path):
    if not path.exists():
        return None
    return path.read_bytes() if path.is_file() else {p.relative_to(path): p.read_bytes() for p in path.rglob("*") if p.is_file()}


def put(w, path, x=X, codec=None):
    w.put(path or "x", x, codec=codec)
    if path:
        w["meta"], w["deep/b"] = {"n": 1, "l": [1, 2]}, np.arange(5.0)


def change(f, path):
    """The same of a new file and of one that is there, with a model that sees its own writes."""
    model, a = X.copy(), f.arrays[path]
    assert f[path][...].tolist() == model.tolist() and path in f.arrays and (path or f.array.path == "")

    def expect():
        found = f.arrays[path]
        assert found.shape == a.shape == model.shape and found.dtype == model.dtype
        assert found[...].tolist() == a[...].tolist() == model.tolist()

    expect()
    for key, value in [((slice(1, 3), 2), 7), (-1, [1, 2, 3, 4]), (([0, 2], [1, 3]), -5), (slice(None, None, -2), 9)]:
        a[key] = model[key] = value
        expect()
    a[0] += 1
    model[0] += 1
    a.oindex[[1, 2], [0]] = 77
    model[np.ix_([1, 2], [0])] = 77
    a[model > 70] = model[model > 70] = 3
    with pytest.raises(IndexError):
        a[99] = 1
    with pytest.raises(ValueError):
        a[0] = [1, 2]
    expect()
    a.append(np.full((2, 4), 8))
    model = np.concatenate([model, np.full((2, 4), 8, "i4")])
    expect()
    a.resize((5, 4))
    model = model[:5].copy()
    a[4] = model[4] = 6
    expect()
    if f.format in ("blosc2", "blz"):
        a.attrs["unit"] = "m"
        a.attrs["n"] = [1, 2]
        del a.attrs["n"]
        assert dict(f.array.attrs) == {"unit": "m"}
    if not path:
        return model
    assert dict(f["meta"]) == {"n": 1, "l": [1, 2]} and "deep/b" in f and "nope" not in f
    f["meta/n"] = 2
    f["meta/new"] = {"x": None}
    del f["meta/l"]
    assert f["meta"] == {"n": 2, "new": {"x": None}}
    f.move("deep/b", "c")
    f["c"][0] = 5
    assert list(f.arrays) == ["a", "c"] and f["c"][...].tolist() == [5, 1, 2, 3, 4]
    f["new"] = np.ones(3)
    f["new"][1] = 4
    f["group"] = {"x": np.arange(3), "y": {"z": np.zeros((2, 2))}}
    f.put("group/x", np.arange(4), codec="none")
    assert f["group/x"].shape == (4,) and f["new"][...].tolist() == [1, 4, 1]
    with pytest.raises(TypeError):
        f["group"] = {"x": np.arange(2), "y": object()}
    with pytest.raises(KeyError):
        del f["nope"]
    assert f.to_dict()["group"]["x"].tolist() == [0, 1, 2, 3]
    f.update({"q/r": 1})
    assert f["q~1r"] == 1
    return model


def twice(tmp_path, kind):
    """The bytes of a commit, and of the changes after it."""
    name, path, options = KINDS[kind]
    target = tmp_path / "twice" / name
    target.parent.mkdir(exist_ok=True)
    with cippus.create(target, sync=False, overwrite=True, **options) as w:
        put(w, path, codec=CODEC.get(kind))
    with cippus.open(target, "r+") as f:
        change(f, path)
    return content(target)


@pytest.mark.parametrize("kind", KINDS)
def test_a_draft_is_changed_as_a_file_that_is_there(tmp_path, kind):
    name, path, options = KINDS[kind]
    with cippus.create(tmp_path / name, sync=False, **options) as w:
        put(w, path, codec=CODEC.get(kind))
        model = change(w, path)
        assert not (tmp_path / name).exists()
    assert content(tmp_path / name) == twice(tmp_path, kind) and w.closed
    with cippus.open(tmp_path / name) as f:
        assert f.arrays[path][...].tolist() == model.tolist()
    assert [x for x in cippus.verify(tmp_path / name, deep=True) if x.severity != "note"] == []


@pytest.mark.parametrize("kind", IN_MEMORY)
def test_a_draft_in_memory(tmp_path, kind):
    _, path, options = KINDS[kind]
    with cippus.create(format=IN_MEMORY[kind], **options) as w:
        put(w, path, codec=CODEC.get(kind))
        change(w, path)
        with pytest.raises(ValueError, match="not complete"):
            w.getvalue()
    assert w.getvalue() == twice(tmp_path, kind)


@pytest.mark.parametrize("kind", ["asdf", "asdf-zlib", "b2nd", "bloscpack"])
@pytest.mark.parametrize("seekable", [True, False])
def test_a_draft_for_a_file_object(tmp_path, kind, seekable):
    class Pipe(io.BytesIO):
        def seekable(self):
            return seekable

    _, path, options = KINDS[kind]
    like = Pipe()
    with cippus.create(like, format=IN_MEMORY[kind], **options) as w:
        put(w, path, codec=CODEC.get(kind))
        change(w, path)
        assert like.getvalue() == b""
    assert like.getvalue() == twice(tmp_path, kind)


@pytest.mark.parametrize("kind", ["rawarray", "npy"])
def test_what_went_to_a_file_object_cannot_be_read_again(kind):
    like = io.BytesIO()
    with cippus.create(like, format=kind) as w:
        w[""] = X
        for look in (lambda: w[""], lambda: list(w), lambda: len(w), lambda: w.array, lambda: w.tree, lambda: w.format):
            with pytest.raises(cippus.UnsupportedError):
                look()
    assert cippus.open(like.getvalue()).array[...].tolist() == X.tolist()  # and nothing is spoiled


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["exception", "abort", "rollback", "dropped"])
def test_nothing_is_left_of_a_draft_that_is_given_up(tmp_path, kind, how):
    name, path, options = KINDS[kind]
    target = tmp_path / name
    with cippus.create(target, sync=False, **options) as w:
        put(w, path, X[:2])
    before = content(target)
    w = cippus.create(target, sync=False, overwrite=True, **options)
    put(w, path)
    a = w.arrays[path]
    a[0] = 1
    if how == "exception":
        with pytest.raises(ZeroDivisionError), w:
            a[1] = 1 // 0
    elif how == "dropped":
        with pytest.warns(ResourceWarning, match="never committed"):
            del w, a
            gc.collect()
    else:
        getattr(w, how)()
    if how != "dropped":
        assert w.closed
        with pytest.raises(ValueError, match="closed file"):
            a[...]
    assert content(target) == before and os.listdir(tmp_path) == [name]


def test_who_never_looks_writes_what_comes(tmp_path):
    """Also who asks what can be told without: whether it is open, its path, its words."""
    with cippus.create(tmp_path / "one.asdf", sync=False) as one, cippus.create(tmp_path / "two.asdf", sync=False) as two:
        assert not list(one) and "x" not in one and len(one) == 0 and one.get("x") is None  # nothing is there yet
        for w in (one, two):
            for i in range(3):
                w[f"x{i}"] = np.arange(i)
            w["meta"] = {"in": {"deep": np.arange(2)}}
        assert one and not one.closed and one.writable and "one.asdf" in repr(one) + one._repr_html_() and one.path == tmp_path / "one.asdf"
        dir(one), one == two, hash(one)
        assert not one._change.shown
    assert content(tmp_path / "one.asdf") == content(tmp_path / "two.asdf")


@pytest.mark.parametrize("kind", ["npy", "b2nd", "rawarray", "bcolz", "blz", "asdf"])
def test_before_anything_is_put_nothing_is_there(tmp_path, kind):
    name, path, options = KINDS[kind]
    with cippus.create(tmp_path / name, sync=False, **options) as w:
        assert len(w) == 0 and list(w.arrays) == [] and "x" not in w and w.tree is None and w.to_dict() == {}
        for look in (lambda: w[path], lambda: w.arrays[path], lambda: w.array, lambda: w.__delitem__("x"), lambda: w.move("x", "y")):
            with pytest.raises(KeyError):
                look()
        put(w, path)
        assert w.arrays[path][1, 1] == 5
    assert cippus.open(tmp_path / name).arrays[path][...].tolist() == X.tolist()


def test_values_and_arrays_replace_each_other(tmp_path):
    """As in a file that is there, whether it was looked into before or not."""

    def fill(w):
        w["a"], w["b"], w["g/x"], w["v"] = X, X, np.arange(3), 1

    def replace(w):
        w["a"] = X + 1
        w["b"] = np.arange(3.0)
        w["g"] = 5
        w["v"] = np.ones(2)
        w["v"] = {"in": np.zeros(2)}
        assert w["a"][0, 1] == 2 and w["b"].dtype == "f8" and w["g"] == 5 and w["v/in"].shape == (2,)

    with cippus.create(tmp_path / "one.asdf", sync=False) as w:
        fill(w)
        replace(w)
    with cippus.create(tmp_path / "two.asdf", sync=False) as w:
        fill(w)
    with cippus.open(tmp_path / "two.asdf", "r+") as f:
        replace(f)
    assert content(tmp_path / "one.asdf") == content(tmp_path / "two.asdf")


def test_columns_come_one_by_one_until_somebody_looks(tmp_path):
    with cippus.create(tmp_path / "t", format="bcolz", sync=False) as w:
        w["x"], w["y"] = np.arange(4), np.arange(4.0)
        with pytest.raises(cippus.ArgumentError):
            w["x"] = np.arange(4)
        w["z"] = np.arange(4) * 2  # nothing was spoiled
        w["x"][1] = 9
        assert w.array.fields == ("x", "y", "z") and w.array[1].tolist() == (9, 1.0, 2)
        w["more"] = np.ones(4)
        assert w.array.fields == ("x", "y", "z", "more") and w.array[1].tolist() == (9, 1.0, 2, 1.0)
    assert cippus.open(tmp_path / "t").array[1].tolist() == (9, 1.0, 2, 1.0)


def test_quantities(tmp_path):
    units = pytest.importorskip("astropy.units")
    with cippus.create(tmp_path / "x.asdf", sync=False) as w:
        w["q"] = units.Quantity(np.arange(3.0), "m")
        w["q/value"][1] = 7
        w["q"][0] = 4
        w["later"] = units.Quantity(np.arange(2.0), "s")
        assert w["later/unit"] == "s" and w["later/value"][...].tolist() == [0, 1]
    with cippus.open(tmp_path / "x.asdf") as f:
        assert f["q/value"][...].tolist() == [4, 7, 2] and f["q/unit"] == "m"


def test_masks_and_records(tmp_path):
    record = np.zeros(4, [("p", "i2"), ("q", "f8")])
    with cippus.create(tmp_path / "x.asdf", sync=False) as w:
        w["m"], w["r"] = np.ma.array([1, 2, 3], mask=[0, 1, 0]), record
        assert w["m"][...].mask.tolist() == [False, True, False] and w["m"].is_masked
        w["r"]["p"][1:3] = 5
        w["r/q"][0] = 0.5
        w["r"][["p", "q"]] = w["r"][...]
        assert w["r"][...].tolist() == [(0, 0.5), (5, 0), (5, 0), (0, 0)] and w["r/p"][...].tolist() == [0, 5, 5, 0]
        w["new"] = record
        w["new/p"][0] = 3
        w.move("new", "in/s")
        assert w["in/s/p"][...].tolist() == [3, 0, 0, 0] and w["in/s"]["p"][0] == 3
    with cippus.open(tmp_path / "x.asdf") as f:
        assert f["m"][...].mask.tolist() == [False, True, False] and f["r"][2].tolist() == (5, 0) and f["in/s/p"][0] == 3


def test_an_array_that_is_filled_by_boxes_does_not_close_it(tmp_path):
    with cippus.create(tmp_path / "x.asdf", sync=False) as w:
        w["a"] = X
        slab = w.declare("m/s", 4, "i8")
        slab[:2] = [1, 2]
        assert w["m/s"][:2].tolist() == [1, 2] and sorted(w.arrays) == ["a", "m/s"] and w["a"][0, 0] == X[0, 0]
        with pytest.raises(cippus.UnsupportedError, match=r"m/s: element \[2\] has not been written yet"):
            w["m/s"][...]
        with pytest.raises(cippus.UnsupportedError, match="'m/s' was added in this update and is being filled"):
            w["m/s"][0] = 1
        slab[2:] = [3, 4]
        assert w["m/s"][::-1].tolist() == [4, 3, 2, 1]
        del w["a"]
        w["b"] = 1
    with cippus.open(tmp_path / "x.asdf") as f:
        assert f["m/s"][...].tolist() == [1, 2, 3, 4] and f["b"] == 1 and list(f.arrays) == ["m/s"]


@pytest.mark.parametrize("extension", ["b2nd", "blp", "npy", "ra"])
def test_the_only_array_is_read_while_it_is_filled(tmp_path, extension):
    with cippus.create(tmp_path / f"x.{extension}", sync=False) as w:
        slab = w.declare("s", (3, 4), ">i4")
        slab[1] = [1, 2, 3, 4]
        assert w.array[1, ::2].tolist() == [1, 3] and w.array.shape == (3, 4) and list(w.arrays) == [""]
        for key in (0, (..., 0), slice(1, 3)):
            with pytest.raises(cippus.UnsupportedError, match="has not been written yet"):
                w.array[key]
        with pytest.raises(ZeroDivisionError), w.step():
            slab[:2] = 9
            assert w.array[:2].tolist() == [[9] * 4] * 2
            1 / 0
        assert w.array[1].tolist() == [1, 2, 3, 4]
    with cippus.open(tmp_path / f"x.{extension}") as f:
        assert f.array[...].tolist() == [[0] * 4, [1, 2, 3, 4], [0] * 4]


def test_an_array_that_keeps_a_draft_closed_to_looks(tmp_path):
    with cippus.create(tmp_path / "x.asdf", sync=False) as w:
        slab = w.declare("s", 4, "i8", storage="external")
        for look in (lambda: w["s"], lambda: list(w), lambda: w.move("a", "b")):
            with pytest.raises(cippus.UnsupportedError, match="'s' is being filled by boxes"):
                look()
        slab[:] = [1, 2, 3, 4]
    with cippus.open(tmp_path / "x.asdf") as f:
        assert f.array[...].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(("name", "how"), [("x.asdf", {"storage": "streamed"}), ("y.bcolz", {}), ("z.blz", {}), ("t.bcolz", {})])
def test_zeros_in_the_place_of_what_is_filled_are_never_read(tmp_path, name, how):
    with cippus.create(tmp_path / name, sync=False) as w:
        if name[0] in "tx":
            w["a"] = np.arange(4)
        slab = w.declare("s", 4, "i8", **how)
        path = "s" if name[0] in "tx" else ""
        slab[1:3] = [2, 3]
        assert w[path][1:3].tolist() == [2, 3]
        with pytest.raises(cippus.UnsupportedError, match=r"element \[0\] has not been written yet"):
            w[path][...]
        if name == "t.bcolz":
            assert w.array[1:3].tolist() == [(1, 2), (2, 3)] and w.array.dtype.names == ("a", "s")
        slab[3] = 4
    with cippus.open(tmp_path / name) as f:
        assert f[path][...].tolist() == [0, 2, 3, 4]


@pytest.mark.parametrize("name", ["t.bcolz", "t.blz"])
def test_a_declared_column_is_read_with_its_records(tmp_path, name):
    with cippus.create(tmp_path / name, sync=False) as w:
        w["a"], w["b"] = np.arange(3), np.arange(3) / 2
    with cippus.open(tmp_path / name, "r+") as f:
        slab = f.declare("c", (3, 2), "i2")
        slab[1:] = [[1, 2], [3, 4]]
        assert f["c"][1:].tolist() == [[1, 2], [3, 4]] and f.array[2].tolist()[:2] == (2, 1.0) and f.array["c"][2].tolist() == [3, 4]
        for read in (lambda: f["c"][...], lambda: f.array[...], lambda: f.array["c"][0]):
            with pytest.raises(cippus.UnsupportedError, match="element .* has not been written yet"):
                read()
        for change in (lambda: f.put("c", np.zeros((3, 2), "i2")), lambda: f.put("c", np.zeros((3, 2))), lambda: f.declare("c", 3, "i4"), lambda: f.move("c", "d"), lambda: f.__delitem__("c")):
            with pytest.raises(cippus.UnsupportedError, match="'c' was added in this update and is being filled"):
                change()
        f["a"][0] = 7
        slab[0] = 9
    with cippus.open(tmp_path / name) as f:
        assert [r[0] for r in f.array[...].tolist()] == [7, 1, 2] and f.array["c"][...].tolist() == [[9, 9], [1, 2], [3, 4]]


@pytest.mark.parametrize("moves", [False, True])
def test_a_column_keeps_its_attributes_when_it_is_put_again(tmp_path, moves):
    with cippus.create(tmp_path / "t.bcolz", sync=False) as w:
        w["a"], w["b"] = np.arange(3), np.arange(3)
    with cippus.open(tmp_path / "t.bcolz", "r+") as f:
        f["a"].attrs["unit"] = "m"
    with cippus.open(tmp_path / "t.bcolz", "r+") as f:
        if moves:
            f.move("a", "c")
        f["c" if moves else "a"] = np.arange(3) + 5
    with cippus.open(tmp_path / "t.bcolz") as f:
        a = f["c" if moves else "a"]
        assert a[...].tolist() == [5, 6, 7] and dict(a.attrs) == {"unit": "m"}


def test_an_array_in_another_file_is_put_anew(tmp_path):
    with cippus.create(tmp_path / "x.asdf", sync=False) as w:
        w.put("e", X, storage="external")
    with cippus.open(tmp_path / "x.asdf", "r+") as f:
        f["e"] = X + 1
        f.move("e", "m")
        f["m"] = X + 2
    with cippus.open(tmp_path / "x.asdf") as f:
        assert f["m"][...].tolist() == (X + 2).tolist() and f["m"].storage == "internal"


def test_nothing_comes_to_the_place_of_what_is_filled(tmp_path):
    with cippus.create(tmp_path / "x.asdf", sync=False) as w:
        w["a"] = X
    with cippus.open(tmp_path / "x.asdf", "r+") as f:
        slab = f.declare("m/s", 4, "i8")
        slab[:] = 1
        tries = (lambda: f.put("m/s", 3), lambda: f.put("m/s", np.zeros(3)), lambda: f.put("m", {"k": 1}), lambda: f.put("m/s/k", 1), lambda: f.move("a", "m/s"))
        for change in tries:
            with pytest.raises(cippus.UnsupportedError, match="'m/s' was added in this update and is being filled"):
                change()
        f["m/k"] = 5
    with cippus.open(tmp_path / "x.asdf") as f:
        assert f["m/s"][...].tolist() == [1] * 4 and f["m/k"] == 5 and f["a"].shape == X.shape


def test_boxes_come_into_a_draft(tmp_path):
    with cippus.create(tmp_path / "x.asdf", sync=False) as w:
        w["a"] = X
        w["a"][0] = 1
        slab = w.declare("s", 4, "i8")
        slab[1:3] = 7
        w["a"][1] = 2
        assert w["a"][:2, 0].tolist() == [1, 2] and w["s"][1:3].tolist() == [7, 7] and list(w)[-2:] == ["a", "s"]
    with cippus.open(tmp_path / "x.asdf") as f:
        assert f["s"][...].tolist() == [0, 7, 7, 0] and f["a"][:2, 0].tolist() == [1, 2]
    with pytest.raises(ValueError, match="closed file"):
        slab[:] = 1


def test_what_was_taken_from_a_draft_ends_with_it(tmp_path):
    with cippus.create(tmp_path / "x.asdf", sync=False) as w:
        w["a"], w["m"] = X, {"l": [1, {"k": 2}], "r": np.zeros(2, [("p", "i2")])}
        kept = [w["a"], w["m"], w["m/l"], w["m/r/p"], w["a"].attrs, w.tree, w.arrays, iter(w["a"]), iter(w), iter(w["m"].items()), w["a"].oindex]
        read = w["a"][...]
        next(kept[7])
    uses = [
        lambda: kept[0][...], lambda: kept[0].shape, lambda: kept[0].dtype, lambda: kept[0].append([1]), lambda: kept[0].resize(3), lambda: kept[0].codec,
        lambda: kept[0].__setitem__(0, 1), lambda: kept[0].node, lambda: kept[0].chunk(0), lambda: kept[0].view(), lambda: kept[1]["l"], lambda: list(kept[2]),
        lambda: kept[3][0], lambda: dict(kept[4]), lambda: str(kept[5]), lambda: list(kept[6]), lambda: next(kept[7]), lambda: list(kept[8]), lambda: list(kept[9]),
        lambda: kept[10][[0]], lambda: w["a"], lambda: w.__setitem__("a", 1), lambda: w.__delitem__("a"), lambda: w.move("a", "b"), lambda: len(w), lambda: w.tree,
        lambda: w.declare("s", 3, "i4"), lambda: w.commit(), lambda: w.rollback(), lambda: w.update({"x": 1}), lambda: w.format, lambda: w.__enter__(),
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(ValueError, match="closed file"):
            use()
    assert "closed file" in repr(kept[0]) and "x.asdf" in repr(w) and kept[0].file is w and read.tolist() == X.tolist()
    w.close(), w.abort(), w.close()
    with pytest.raises(ValueError, match="there are no bytes"):
        w.getvalue()


def test_what_a_file_has_only_after_its_commit_is_refused(tmp_path):
    with cippus.create(tmp_path / "x.asdf", sync=False) as w:
        w["a"] = X
        for use in (w["a"].view, w["a"].chunk_table().__next__, lambda: w["a"].read_chunk(0), w.refresh, lambda: cippus.refs(w, url="x")):
            with pytest.raises(cippus.UnsupportedError):
                use()
        with cippus.create(format="asdf") as other:
            other["a"] = X
        for use in (lambda: cippus.verify(w), lambda: cippus.convert(w, tmp_path / "y.npy"), lambda: cippus.diff(w, other.getvalue())):
            with pytest.raises(ValueError, match="not committed"):
                use()
        for take in (pickle.dumps, copy.copy, copy.deepcopy):
            for it in (w, w["a"], w.tree):
                with pytest.raises(TypeError):
                    take(it)
    assert cippus.open(tmp_path / "x.asdf")["a"][...].tolist() == X.tolist()


def test_arrays_of_drafts_go_into_other_files(tmp_path):
    with cippus.create(tmp_path / "x.asdf", sync=False) as w, cippus.create(tmp_path / "y.b2nd", sync=False) as other:
        w["a"], w["t"] = X, {"k": [1, 2], "x": np.arange(3)}
        other[""] = w["a"]
        other.array[0] = w["a"][1]
        w["b"] = other.array
        w["b"][1] = other.array[0]
        w["c"] = w["a"]
        w["a"][2:4] = w["c"][:2]
        w["u"] = w["t"]
        w["u/k"] = w["t/k"]
        w["a"].append(other.array)
        assert w["u"]["x"][...].tolist() == [0, 1, 2] and w["b"][1].tolist() == X[1].tolist() and len(w["a"]) == 12


def test_withs_in_each_other(tmp_path):
    with cippus.create(tmp_path / "x.asdf", sync=False) as w:
        w["a"] = X
        with w:
            w["a"][0] = 1
        assert w.closed
    assert cippus.open(tmp_path / "x.asdf")["a"][0, 0] == 1
    with pytest.raises(ZeroDivisionError), cippus.create(tmp_path / "y.asdf", sync=False) as w:
        w["a"] = X
        w.commit()
        1 // 0  # what is committed stays
    assert cippus.open(tmp_path / "y.asdf")["a"].shape == (6, 4)


def test_a_mapping_that_changes_under_an_iteration_says_so(tmp_path):
    with cippus.create(tmp_path / "x.asdf", sync=False) as w:
        w["m"] = {str(i): i for i in range(5)}
        with pytest.raises(ValueError, match="fetch this part of its tree again"):
            for key in w["m"]:
                w[f"m/{key}"] = 7
        for path in list(w.arrays):
            del w[path]
        with pytest.raises(RuntimeError):
            for i, _ in enumerate(w["m"].items()):
                if i == 2:
                    raise RuntimeError
        assert w["m"]["0"] == 7


def test_threads_look_into_one_draft(tmp_path):
    """The first look of each may be the one that makes it."""
    for _ in range(5):
        with cippus.create(tmp_path / "x.asdf", sync=False, overwrite=True) as w:
            for i in range(20):
                w[f"x{i}"] = np.full(1000, i)
            wrong, ready = [], threading.Barrier(6)

            def work(n):
                ready.wait()
                for i in range(20):
                    try:
                        if n < 4:
                            found = set(w[f"x{i}"][...].tolist())
                            if found not in ({i}, {i + 100}):
                                wrong.append((i, found))
                        else:
                            w[f"x{i}"][...] = i + 100
                    except cippus.BusyError:
                        pass
                    except Exception as error:
                        wrong.append(error)

            threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            assert not wrong


def test_a_commit_waits_for_threads_that_read(tmp_path):
    for _ in range(10):
        w = cippus.create(tmp_path / "x.asdf", sync=False, overwrite=True)
        w["a"], w["m"] = np.arange(100_000), {"k": 1}
        a, wrong, ready = w["a"], [], threading.Barrier(5)

        def read():
            ready.wait()
            try:
                while True:
                    if a[:3].tolist() != [0, 1, 2] or a.shape != (100_000,) or a.codec != "none" or w["m"]["k"] != 1:
                        wrong.append(1)
            except (ValueError, cippus.BusyError) as error:  # BusyError: it was just ending
                if not isinstance(error, cippus.BusyError) and "closed file" not in str(error):
                    wrong.append(error)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for t in threads:
            t.start()
        ready.wait()
        time.sleep(0.01)
        w.commit()
        for t in threads:
            t.join()
        assert not wrong and w.closed
        assert cippus.open(tmp_path / "x.asdf")["a"].shape == (100_000,)


def test_a_file_object_that_looks_while_it_is_written(tmp_path):
    told = []

    class Curious(io.BytesIO):
        def write(self, data):
            try:
                w["a"][0]
            except (cippus.BusyError, ValueError) as error:
                told.append(str(error))
            return super().write(data)

    like = Curious()
    w = cippus.create(like, format="asdf")
    w["a"] = X
    w["a"][0] = 5
    w.commit()
    assert told and cippus.open(like.getvalue())["a"][0].tolist() == [5] * 4


def test_an_error_of_the_file_object_comes_out(tmp_path):
    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(28, "no room")

    w = cippus.create(Full(), format="asdf")
    w["a"] = X
    w["a"][0] = 5
    with pytest.raises(OSError, match="no room"):
        w.commit()
    assert w.closed


def test_ctrl_c_within_a_first_look_gives_the_file_up(tmp_path):
    """A look that takes long: all that waits is compressed then."""
    x = np.random.default_rng(1).integers(0, 1 << 20, (4 << 20,))
    began = time.monotonic()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    with pytest.raises(KeyboardInterrupt), cippus.create(tmp_path / "x.asdf", sync=False, codec="bzp2", threads=1) as w:
        main = threading.main_thread().ident
        timer = threading.Timer(0.5, lambda: signal.pthread_kill(main, signal.SIGINT))
        timer.start()
        try:
            w.put("a", x)
            w["a"][0] = 1
            w["a"][...] = x[::-1]
            w["a"].append(x)
            w.commit()
            time.sleep(5)
        finally:
            timer.join()
    assert w.closed and os.listdir(tmp_path) == [] and time.monotonic() - began < 30


def test_a_draft_that_is_kept_alive_by_its_array_ends_with_it(tmp_path):
    w = cippus.create(tmp_path / "x.asdf", sync=False)
    w["a"], slab = X, None
    a = w["a"]
    del w
    a[0] = 3
    assert a[0].tolist() == [3] * 4 and a.file["a"].shape == (6, 4)
    a.file.commit()
    assert cippus.open(tmp_path / "x.asdf")["a"][0, 0] == 3
    w = cippus.create(tmp_path / "y.asdf", sync=False)
    slab = w.declare("s", 3, "i4")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        del w
        slab[:] = 1  # the file is there as long as what fills it
        assert not told
        del slab
        gc.collect()
    assert [t.category for t in told] == [ResourceWarning] and os.listdir(tmp_path) == ["x.asdf"]


def test_no_file_waits_for_the_collector(tmp_path):
    gc.disable()
    try:
        fds = len(os.listdir("/proc/self/fd"))
        for name in ("x.asdf", "x.bcolz", "x.npy"):
            w = cippus.create(tmp_path / name, sync=False, format="bcolz" if name == "x.bcolz" else None)
            w["x"] = X
            w.array[0] = 1
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                del w
        assert len(os.listdir("/proc/self/fd")) == fds and os.listdir(tmp_path) == []
    finally:
        gc.enable()


def test_a_child_reads_and_leaves_a_draft_alone(tmp_path):
    w = cippus.create(tmp_path / "x.asdf", sync=False)
    w["a"] = X
    w["a"][0] = 7
    child = os.fork()
    if child == 0:
        refused = False
        try:
            w["a"][0] = 1
        except cippus.Error:
            refused = True
        os._exit(0 if refused else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    w.close()
    assert cippus.open(tmp_path / "x.asdf")["a"][0, 0] == 7


def test_an_external_array_is_read_before_the_commit(tmp_path):
    with cippus.create(tmp_path / "x.asdf", sync=False) as w:
        w["a"] = X
        w.put("e", X, storage="external")
        w["a"][0] = 1
        assert w["e"][...].tolist() == X.tolist()
        with pytest.raises(cippus.UnsupportedError, match="change that file"):
            w["e"][0] = 1
    with cippus.open(tmp_path / "x.asdf") as f:
        assert f["e"][...].tolist() == X.tolist() and f["a"][0, 0] == 1


def test_many_arrays_are_looked_at_one_after_the_other(tmp_path):
    began = time.monotonic()
    with cippus.create(tmp_path / "x.asdf", sync=False) as w:
        for i in range(1000):
            w[f"x{i}"] = np.arange(3)
        for i in range(1000):
            w[f"x{i}"][0] = i
        assert all(w[f"x{i}"][0] == i for i in range(1000))
    assert time.monotonic() - began < 60


def test_a_read_only_file_says_that_it_is(tmp_path):
    with cippus.create(tmp_path / "x.asdf", sync=False) as w:
        w["a"] = X
    with cippus.open(tmp_path / "x.asdf") as f:
        for use in (lambda: f.declare("s", 3, "i4"), lambda: f.update({"a": 1}), lambda: f.put("a", 1)):
            with pytest.raises(ValueError, match="read-only"):
                use()
        assert "declare" not in dir(f) and "update" not in dir(f)
    with cippus.open(tmp_path / "x.asdf", "r+") as f:
        f.declare("s", 3, "i4")[:] = 4
        f.update({"n/m": 1})
    with cippus.open(tmp_path / "x.asdf") as f:
        assert f["s"][...].tolist() == [4, 4, 4] and f["n~1m"] == 1
