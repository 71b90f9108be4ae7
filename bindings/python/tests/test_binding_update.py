# SPDX-License-Identifier: BSD-3-Clause
"""One update, all or nothing: nothing is in the file before the commit, and what is read is as the changes have it."""
import numpy as np
import pytest

import cippus

X = np.arange(12).reshape(3, 4)
KINDS = ["asdf", "b2nd", "blp", "bcolz", "rawarray", "npy"]


def write(tmp_path, kind, x):
    """A file of one array, and its path there."""
    name = tmp_path / f"x.{'ra' if kind == 'rawarray' else kind}"
    with cippus.create(name, sync=False, overwrite=True, format=kind if kind in ("rawarray", "bcolz") else None) as w:
        w["x" if kind in ("asdf", "bcolz") else ""] = x
    return name


@pytest.fixture
def night(tmp_path):
    name = tmp_path / "night.asdf"
    with cippus.create(name, sync=False) as w:
        w["x"], w["meta"], w["y"] = X, {"a": 1, "b": [1, 2]}, np.arange(5.0)
    return name


def committed(name):
    with cippus.open(name) as f:
        return {"x": f["x"][...].tolist(), "meta": str(f["meta"]), "y": f["y"][...].tolist(), "paths": list(f.arrays)}


REPLACED = {
    "x": (np.arange(3.0), {}),
    "x ": (X.astype("f4"), {}),
    "x  ": (X, {"codec": "zlib"}),
    "meta": (np.arange(3), {}),
    "meta/a": (np.arange(3), {}),
    "x   ": ({"in": np.arange(2), "k": 1}, {}),
    "meta ": ({"in": {"deep": np.arange(2)}, "k": [np.ones(2), 3]}, {}),
    "x    ": (5, {}),
}


@pytest.mark.parametrize("where", REPLACED)
def test_what_is_replaced_is_there_until_the_commit(night, where):
    path, (value, options) = where.strip(), REPLACED[where]
    before = committed(night)
    with cippus.open(night, "r+") as f:
        f["y"][0] = 9
        f.put(path, value, **options)
        assert committed(night) == before
        if isinstance(value, np.ndarray):
            assert f[path].dtype == value.dtype and f[path][...].tolist() == value.tolist() and path in f.arrays
        f.rollback()
        assert f["x"][...].tolist() == X.tolist() and f["meta"] == {"a": 1, "b": [1, 2]} and f["y"][0] == 0
        f.put(path, value, **options)
        with pytest.raises(ZeroDivisionError), f:
            1 / 0
    assert committed(night) == before
    with cippus.open(night, "r+") as f:
        f.put(path, value, **options)
    with cippus.open(night) as f:
        found = f[path]
        if isinstance(value, np.ndarray):
            assert found[...].tolist() == value.tolist() and found.codec == options.get("codec", "none")
        elif isinstance(value, dict):
            deep = found["in"]["deep"] if path == "meta" else found["in"]
            assert deep[...].tolist() == [0, 1]
        else:
            assert found == value
        assert f["y"][0] == 0


def test_a_view_does_not_make_a_replacement_commit(night):
    with cippus.open(night, "r+") as f:
        view = f["y"].view()
        f["x"] = np.ones(2)
        assert f["x"][...].tolist() == [1, 1]
        with pytest.raises(cippus.BusyError):
            f.commit()
        assert view.tolist() == [0, 1, 2, 3, 4]
        del view
        f.commit()
        assert f["x"][...].tolist() == [1, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_elements_are_read_as_they_were_changed(tmp_path, kind):
    name = write(tmp_path, kind, X)
    with cippus.open(name, "r+") as f:
        a = f.array
        for _ in range(3):
            a[1] += 1
        assert a[1].tolist() == [7, 8, 9, 10]
        a[[0, 2], [1, 1]] += 100
        assert a.read()[:, 1].tolist() == [101, 8, 109] and a[[0, 2], [1, 1]].tolist() == [101, 109]
        assert a.points([0], [1]).tolist() == [101] and a.oindex[[0], [1]].tolist() == [[101]]
        f.rollback()
        assert a[...].tolist() == X.tolist()
        a[0] = -1
    assert cippus.open(name).array[...].tolist() == [[-1] * 4, *X[1:].tolist()]


@pytest.mark.parametrize("kind", KINDS)
def test_keys_are_of_the_shape_that_the_array_has_by_now(tmp_path, kind):
    name = write(tmp_path, kind, np.arange(5))
    with cippus.open(name, "r+") as f:
        a = f.array
        a.append([10, 11])
        assert a.shape == (7,) and len(a) == 7 and a[-1] == 11
        a[-1] += 1
        a[-1:] += 1
        assert a[...].tolist() == [0, 1, 2, 3, 4, 10, 13]
        a.append(12)
        a[a[...] > 9] = 7
        assert a[...].tolist() == [0, 1, 2, 3, 4, 7, 7, 7]
        a.resize(10)
        a[8:10] = 1
        a.resize(9)
        assert a[...].tolist() == [0, 1, 2, 3, 4, 7, 7, 7, 1]
        a[...] = 3
        with pytest.raises(IndexError):
            a[9] = 1
        f.rollback()
        assert a.shape == (5,) and f.array[...].tolist() == [0, 1, 2, 3, 4]
        a.resize(8)
        a[5:8] = 1
    assert cippus.open(name).array[...].tolist() == [0, 1, 2, 3, 4, 1, 1, 1]


RECORD = np.dtype([("x", ">f4"), ("n", "<i2"), ("té", "S3"), ("u", "<U2", (2,))])


@pytest.mark.parametrize("dtype", ["<f8", ">i4", "?", "<U3", "S5", "<M8[ns]", "V6", ">c16", RECORD])
def test_an_npy_file_that_was_changed_is_what_numpy_saves(tmp_path, dtype):
    x = np.zeros((6, 2), dtype)
    if dtype is RECORD:
        x["x"], x["té"], x["u"][..., 1] = 0.5, b"abc", "é"
    elif x.dtype.kind != "U":  # whose characters not any bytes are
        x.view(np.uint8)[...] = np.arange(12 * x.itemsize).reshape(6, -1) % 2
    np.save(tmp_path / "x.npy", x)

    def expect(now):
        np.save(tmp_path / "y.npy", now)
        assert (tmp_path / "x.npy").read_bytes() == (tmp_path / "y.npy").read_bytes()
        there = np.load(tmp_path / "x.npy", mmap_mode="r")
        assert (there.dtype, there.shape, there.tobytes()) == (now.dtype, now.shape, now.tobytes())

    with cippus.open(tmp_path / "x.npy", "r+") as f:
        f.array[1] = x[2]
        f.array.append(x[:5])
    x = np.concatenate([x, x[:5]]).astype(x.dtype)
    x[1] = x[2]
    expect(x)
    with cippus.open(tmp_path / "x.npy", "r+") as f:
        f.array.resize((2000, 3))
    wide = np.zeros((2000, 3), x.dtype)
    wide[: len(x), :2] = x
    expect(wide)
    with cippus.open(tmp_path / "x.npy", "r+") as f:
        f.array.resize((3, 2))
    expect(wide[:3, :2])


def test_fortran_order_keeps_its_shape(tmp_path):
    x = np.asfortranarray(np.arange(12).reshape(3, 4))
    np.save(tmp_path / "x.npy", x)
    with cippus.open(tmp_path / "x.npy", "r+") as f:
        f.array[1, 2:] = [-1, -2]
        for change in (lambda: f.array.append(x[:1]), lambda: f.array.resize((3, 5))):
            with pytest.raises(cippus.UnsupportedError, match="found Fortran order"):
                change()
    x[1, 2:] = [-1, -2]
    found = np.load(tmp_path / "x.npy")
    assert found.flags.f_contiguous and found.tolist() == x.tolist()


def test_the_tree_is_read_as_it_was_changed(night):
    with cippus.open(night, "r+") as f:
        old = f["meta"]
        f["meta/c"] = {"deep": [1, {"x": None}]}
        assert f["meta"]["c/deep/0"] == 1 and f["meta"] == {"a": 1, "b": [1, 2], "c": {"deep": [1, {"x": None}]}}
        with pytest.raises(ValueError, match="fetch this part of its tree again"):
            old["a"]
        del f["meta/a"]
        assert "a" not in f["meta"] and "meta/a" not in f and list(f["meta"]) == ["b", "c"]
        f["new"] = np.arange(3)
        assert "new" in f and list(f.arrays) == ["x", "y", "new"] and len(f.arrays) == 3
        assert isinstance(f.tree["new"], cippus.Array) and f["new"].shape == (3,) and f["x"].node["shape"] == [3, 4]
        assert f["new"].dtype == X.dtype and f["new"].read([0, 2]).tolist() == [0, 2] and f["new"].codec == "none"
        del f["x"]
        assert "x" not in f and list(f.arrays) == ["y", "new"]
        with pytest.raises(KeyError):
            f["x"]
        f["x"] = 3
        assert f["x"] == 3 and list(f) == [k for k in f.tree]
        f.rollback()
        assert old["a"] == 1 and f["meta"] == {"a": 1, "b": [1, 2]} and list(f.arrays) == ["x", "y"]


def test_what_the_library_cannot_say_before_the_commit_is_refused(night):
    with cippus.open(night, "r+") as f:
        x = f["x"]
        f.move("x", "deep/x")
        assert "x" not in f and list(f["deep"]) == ["x"]
        with pytest.raises(cippus.UnsupportedError, match="moved"):
            x[...]
        f["deep/x"][0] = 1
        f["deep/x"].resize((2, 4))
        f.commit()
        assert f["deep/x"][...].tolist() == [[1] * 4, X.tolist()[1]]
        f["new"] = np.arange(3)
        with pytest.raises(cippus.UnsupportedError, match="not committed"):
            f["new"].view()
        f.rollback()


def test_what_was_moved_is_listed_and_read_by_its_new_path(tmp_path):
    with cippus.create(tmp_path / "x.asdf", sync=False) as w:
        w["g/x"] = X
    with cippus.open(tmp_path / "x.asdf", "r+") as f:
        f.move("g/x", "a")
        f.move("/a", "/deep/b")
        assert "1 arrays" in repr(f) and list(f.arrays) == ["deep/b"] and repr(f.arrays) and dict(f.items())["deep"].keys() == {"b"}
        assert f.array.path == "deep/b" and f.array[...].tolist() == f["deep"]["b"][...].tolist() == X.tolist()
        f["g/x"] = np.arange(2)
        f.move("g", "h")
        assert list(f.arrays) == ["h/x", "deep/b"] and f["h/x"][...].tolist() == [0, 1]
        f["l"] = [np.arange(2), 5, np.arange(3)]
        del f["l/0"]
        assert "l/0" not in f.arrays
        f.commit()
        assert [path for path in f.arrays if path != "l/1"] == ["h/x", "deep/b"] and "l/1" in f.arrays  # in the same order


def test_attributes_are_read_as_they_were_changed(tmp_path):
    for kind in ("b2nd", "bcolz"):
        name = write(tmp_path, kind, X)
        with cippus.open(name, "r+") as f:
            attrs = f.array.attrs
            attrs["k"] = [1, "two"]
            attrs["n"] = 1
            attrs["n"] += 1
            assert dict(attrs) == {"k": [1, "two"], "n": 2}
            del attrs["k"]
            assert dict(f.array.attrs) == {"n": 2}
            f.rollback()
            assert dict(attrs) == {}
            attrs["n"] = 7
        assert dict(cippus.open(name).array.attrs) == {"n": 7}


def test_a_field_is_assigned_to_and_not_replaced(tmp_path):
    name = write(tmp_path, "asdf", np.zeros(3, [("a", "i2"), ("b", "f8")]))
    with cippus.open(name, "r+") as f:
        f["x/a"] = np.array([1.0, 2.0, 3.0])
        assert f["x/a"].dtype == "i2"
    assert cippus.open(name)["x"][...].tolist() == [(1, 0), (2, 0), (3, 0)]


def test_a_mapping_with_arrays_is_copied_within_its_file(tmp_path):
    with cippus.create(tmp_path / "x.asdf", sync=False) as w:
        w["g"] = {"x": np.arange(3), "l": [np.arange(2), {"k": 1}], "m": {"y": np.ma.array([1.0, 2.0], mask=[0, 1])}}
    expected = str(cippus.open(tmp_path / "x.asdf")["g"]).count("ndarray")
    with cippus.open(tmp_path / "x.asdf", "r+") as f:
        f["h"] = f["g"]
        f["list"] = f["h"]["l"]
        f["g"] = {"in": f["g/m"], "x": f["g/x"]}  # of what it replaces
        assert f["h/x"][...].tolist() == [0, 1, 2] and sorted(f["g"]) == ["in", "x"]
    with cippus.open(tmp_path / "x.asdf") as f:
        assert str(f["h"]).count("ndarray") == expected
        assert f["h/l/0"][...].tolist() == f["list/0"][...].tolist() == [0, 1] and f["h/l/1/k"] == f["list/1/k"] == 1
        assert f["g/in/y"][...].tolist() == f["h/m/y"][...].tolist() == [1.0, None] and f["g/x"][...].tolist() == [0, 1, 2]


def test_paths_are_listed_in_one_spelling(night):
    with cippus.open(night, "r+") as f:
        f["/q"] = np.arange(3)
        f["/r"] = {"in": np.arange(2)}
        f["/q"] = np.arange(3)
        assert list(f.arrays) == ["x", "y", "q", "r/in"] and f.arrays["q"].path == "q"
        f.commit()
        assert list(f.arrays) == ["x", "y", "q", "r/in"]


def test_an_update_names_no_option_that_it_has_not(night):
    with cippus.open(night, "r+") as f:
        with pytest.raises(cippus.UnsupportedError, match="the array has no mask$"):
            f["x"][0, :2] = np.ma.array([1, 2], mask=[0, 1])


def test_threads_that_read_do_not_keep_changes_from_being_dropped(tmp_path):
    import threading
    import time

    name = write(tmp_path, "asdf", np.arange(100_000))
    wrong, done = [], threading.Event()
    with cippus.open(name, "r+") as f:

        def read():
            while not done.is_set():
                try:
                    found = f["x"][:5].tolist()
                    if found not in ([0, 1, 2, 3, 4], [7, 1, 2, 3, 4]):
                        wrong.append(found)
                except cippus.BusyError:
                    pass

        def change():
            while True:
                try:
                    f["x"][0] = 7
                    return
                except cippus.BusyError:
                    pass

        threads = [threading.Thread(target=read) for _ in range(4)]
        for t in threads:
            t.start()
        began = time.monotonic()
        for _ in range(50):
            change()
            f.rollback()
        done.set()
        for t in threads:
            t.join()
        assert not wrong and time.monotonic() - began < 8
        assert f["x"][0] == 0


def test_threads_read_while_changes_are_pending(tmp_path):
    import threading

    name = write(tmp_path, "b2nd", np.arange(100_000))
    with cippus.open(name, "r+") as f:
        a, wrong = f.array, []
        a[0] = 7

        def read():
            for _ in range(50):
                if a[0] != 7 or a[1:5].tolist() != [1, 2, 3, 4]:
                    wrong.append(1)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not wrong
        f.rollback()


def test_parents_within_an_update_leave_shared_bytes_alone(tmp_path):
    with cippus.create(tmp_path / "x.asdf") as w:
        w["x"] = np.arange(3)
    with cippus.open(tmp_path / "x.asdf", "r+") as f:
        f["n"] = 1
        assert "x" in f["x"].parent
        assert bytes([120]) == b"x" and "x".encode() == b"x"
        f.rollback()


def test_plain_values_take_the_place_of_masked_ones(tmp_path):
    with cippus.create(tmp_path / "x.asdf") as w:
        w["x"] = np.ma.array(np.arange(5), mask=[0, 1, 0, 0, 1])
    with cippus.open(tmp_path / "x.asdf", "r+") as f:
        f["x"] = np.arange(5) + 100
    with cippus.open(tmp_path / "x.asdf") as f:
        assert f["x"][...].tolist() == [100, 101, 102, 103, 104]


def test_a_value_put_halfway_is_never_committed(tmp_path):
    w = cippus.create(tmp_path / "x.asdf")
    for path, value in (("g", {"x": np.arange(3), "y": object()}), ("a", {1: np.arange(3)})):
        with pytest.raises((TypeError, ValueError, cippus.Error)):
            w[path] = value
    w["g"] = {"x": np.arange(3)}  # what was refused left no trace
    w.close()
    with cippus.open(tmp_path / "x.asdf") as f:
        assert list(f["g"]) == ["x"] and "a" not in f


def test_changes_given_up_by_an_exception_are_never_committed(tmp_path, monkeypatch):
    with cippus.create(tmp_path / "x.asdf") as w:
        w["x"] = np.arange(3)
    f = cippus.open(tmp_path / "x.asdf", "r+")
    with pytest.raises(KeyError):
        with f:
            f["x"][0] = 7
            raise KeyError("the body's own")
    with cippus.open(tmp_path / "x.asdf") as g:
        assert g["x"][0] == 0


def test_a_key_that_is_a_dot(tmp_path):
    with cippus.create(tmp_path / "x.asdf") as w:
        w["g"] = {".": np.arange(3), "a": 1}
    with cippus.open(tmp_path / "x.asdf") as f:
        assert list(f["g"]) == ["a", "."] or list(f["g"]) == [".", "a"]


RECORDS = np.zeros(3, [("p", "i2"), ("q", "f8")])


@pytest.mark.parametrize("format", ["bcolz", "blz"])
def test_attributes_that_come_and_go_are_no_columns(tmp_path, format):
    with cippus.create(tmp_path / "t", sync=False, format=format) as w:
        w["x"] = RECORDS
    with cippus.open(tmp_path / "t", "r+") as f:
        f.array.attrs["k"] = 1
        del f.array.attrs["k"]
        f.array["p"][1] = 7
        f.array.attrs["n"] = 2
        f.move("attributes/n", "attributes/m")
        assert f.array[1].tolist() == (7, 0.0) and dict(f.array.attrs) == {"m": 2}
    with cippus.open(tmp_path / "t") as f:
        assert f.array["p"][...].tolist() == [0, 7, 0] and dict(f.array.attrs) == {"m": 2}


def test_what_came_changes_before_the_commit(night):
    with cippus.open(night, "r+") as f:
        f["new"] = np.arange(3)
        f["new"][0] = 7
        f["new"].append(np.arange(2))
        assert f["new"][...].tolist() == [7, 1, 2, 0, 1]
        f["new"].resize((2, ))
        f["y"] = RECORDS
        f["meta"] = {"z": RECORDS}
        for path in ("y", "meta/z"):
            f[path]["p"][0] = 1
            assert f[path]["p"][...].tolist() == [1, 0, 0]
            with pytest.raises(cippus.UnsupportedError, match="codec applies to whole arrays"):
                f.put(f"{path}/p", np.arange(3), codec="zlib")
    with cippus.open(night) as f:
        assert f["new"][...].tolist() == [7, 1] and f["meta/z"]["p"][...].tolist() == f["y"]["p"][...].tolist() == [1, 0, 0]


@pytest.mark.parametrize("format", ["bcolz", "blz"])
def test_a_table_has_the_columns_that_it_has_by_now(tmp_path, format):
    with cippus.create(tmp_path / "t", sync=False, format=format) as w:
        w["x"] = RECORDS
    with cippus.open(tmp_path / "t", "r+") as f:
        f["new"] = np.arange(3)
        f["new"][1] = 7
        assert "" in list(f.arrays)
        assert f.array.dtype.names == ("p", "q", "new") and f.array[1].tolist() == (*RECORDS[1].tolist(), 7)
        f.commit()
        assert f.array.dtype.names == ("p", "q", "new")
        with pytest.raises(ZeroDivisionError), f.step():
            f["more"] = np.ones(3)
            f.move("p", "n")
            del f["q"]
            assert f.array.dtype.names == ("n", "new", "more") and f["n"][...].tolist() == RECORDS["p"].tolist()
            raise ZeroDivisionError
        assert f.array.dtype.names == ("p", "q", "new") and f["p"][...].tolist() == RECORDS["p"].tolist()
        f.move("p", "n")
        if format == "bcolz":
            assert f["n"].path == "n" and f["n"].dtype == RECORDS["p"].dtype
            f["n"][0] = 5
        assert "p" not in f.arrays and f["n"][1] == RECORDS["p"][1]
        f.rollback()
        assert f.array.dtype.names == ("p", "q", "new")


def test_no_elements_of_a_masked_array_are_assigned_to(tmp_path):
    with cippus.create(tmp_path / "x.asdf", sync=False) as w:
        w["x"] = np.ma.array(X, mask=X % 2 == 0)
    with cippus.open(tmp_path / "x.asdf", "r+") as f:
        f["x"][1:1] = 5
        f["x"].oindex[[], [1, 2]] = 5
        f["x"][2, 1::2] = np.ma.array([7, 8], mask=False)
        assert f["x"][2].tolist() == [None, 7, None, 8]


def test_a_stream_has_no_rows_without_bytes(tmp_path):
    name = tmp_path / "x.asdf"
    with cippus.create(name, sync=False) as w:
        with pytest.raises(cippus.UnsupportedError, match="rows of zero bytes"):
            w.put("x", np.zeros((5, 0)), storage="streamed")
        w.put("x", np.zeros((5, 2)), storage="streamed")
    with cippus.open(name, "r+") as f:
        with pytest.raises(cippus.UnsupportedError, match="rows of zero bytes"):
            f["x"].resize((5, 0))
        f["x"].resize((0, 0))
        with pytest.raises(cippus.UnsupportedError, match="rows of zero bytes"):
            f["x"].resize((1, 0))
        f["x"].resize((3, 1))
    with cippus.open(name) as f:
        assert f["x"].shape == (3, 1)


def test_arrays_that_are_added_are_not_looked_for(tmp_path, monkeypatch):
    path = tmp_path / "many.asdf"
    with cippus.create(path) as w:
        w["first"] = np.arange(3)
    looks = []
    find = cippus.File._find

    def counted(self, name):
        looks.append(name)
        return find(self, name)

    monkeypatch.setattr(cippus.EditableFile, "_find", counted, raising=False)
    with cippus.open(path, "r+") as f:
        for i in range(50):
            f[f"group/a{i}"] = np.full(2, i)
        assert looks == []  # a look makes all changes in the tree first
        f["first"] = np.arange(3) + 1
        f["group/a7"] = np.zeros(4)
        f.move("group/a8", "b")
        f["b"] = np.ones(1)
        assert looks == ["first", "group/a7", "b"]
    with cippus.open(path) as f:
        assert list(f["first"][:]) == [1, 2, 3] and list(f["b"][:]) == [1] and f["group/a7"].shape == (4,)
        assert list(f["group/a49"][:]) == [49, 49] and "a8" not in f["group"]
