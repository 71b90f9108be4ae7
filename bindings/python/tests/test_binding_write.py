# SPDX-License-Identifier: BSD-3-Clause
"""New files, changes of files, whole files by name."""
import gc
import os
import pathlib
import warnings

import numpy as np
import pytest

import cippus


def test_a_new_file_is_there_when_it_is_complete(tmp_path):
    path = tmp_path / "new.asdf"
    with cippus.create(path, codec="lz4") as w:
        w["a/b"] = np.arange(1000)
        w.put("c", np.eye(5), codec="zlib:9")
        w["list"] = [1, np.arange(3), {"x": np.zeros(2)}]
        assert not path.exists()
    with cippus.open(path) as f:
        assert f["a/b"].codec == "lz4" and f["c"].codec == "zlib"
        np.testing.assert_array_equal(f["a/b"], np.arange(1000))
        np.testing.assert_array_equal(f["list/2/x"], np.zeros(2))
        assert f["list"][0] == 1 and f["list"][1].shape == (3,)
    assert w.closed
    with pytest.raises(ValueError, match="closed file"):
        w["d"] = 1


def test_an_exception_leaves_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError), cippus.create(tmp_path / "x.asdf") as w:
        w["a"] = np.arange(3)
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_not_replaced_unasked(tmp_path):
    path = tmp_path / "x.npy"
    with cippus.open(path, "x") as w:
        w[""] = np.arange(3)
    with pytest.raises(FileExistsError, match="overwrite=True, or mode 'w', replaces it") as there:
        cippus.open(path, "x")
    assert isinstance(there.value, cippus.ExistsError)
    with cippus.open(path, "w") as w:
        w[""] = np.arange(4)
    assert np.load(path).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("name", ["x.asdf", "x.npy", "x.ra", "x.b2nd", "x.blp"])
@pytest.mark.parametrize("data", [np.arange(24.0).reshape(4, 6), np.arange(24, dtype=">i2").reshape(2, 3, 4)[:, ::-1].T])
def test_every_format_gives_back_what_it_took(tmp_path, name, data):
    with cippus.create(tmp_path / name) as w:
        w["x" if name == "x.asdf" else ""] = data
    with cippus.open(tmp_path / name) as f:
        np.testing.assert_array_equal(f.array[...], data)


def test_arrays_of_every_dtype_and_layout_go_in():
    tree = {
        "strided": np.arange(100)[::-3],
        "fortran": np.asfortranarray(np.arange(12).reshape(3, 4)),
        "zero": np.array(1.5),
        "empty": np.zeros((0, 3)),
        "text": np.array(["ab", "ü"]),
        "bytes": np.array([b"ab", b"c"]),
        "record": np.array([(1, [2.0, 3.0], (4, True))], [("a", ">i2"), ("b", "f8", (2,)), ("c", [("d", "u1"), ("e", "?")])]),
        "padded": np.zeros(3, np.dtype([("a", "u1"), ("b", "f8")], align=True)),
        "masked": np.ma.MaskedArray([1.0, 2.0, 3.0], mask=[0, 1, 0]),
    }
    with cippus.create(format="asdf") as w:
        for path, value in tree.items():
            w[path] = value
    with cippus.open(w.getvalue()) as f:
        for path, value in tree.items():
            found = f[path].read(mask=f[path].is_masked)
            np.testing.assert_array_equal(found, value, err_msg=path)
            assert found.shape == value.shape
        assert f["masked"].read(mask=True).mask.tolist() == [False, True, False]
        assert f["record"]["c"]["e"][...].tolist() == [True]


def test_chunks_and_options_are_keywords():
    with cippus.create(format="blosc2", codec="zstd") as w:
        w.put("", np.arange(600).reshape(20, 30), chunks=(7, 11))
    a = cippus.open(w.getvalue()).array
    assert a.chunks == (7, 11)
    np.testing.assert_array_equal(a[6:8, 10:12], np.arange(600).reshape(20, 30)[6:8, 10:12])


def test_an_array_of_another_file_goes_in(sample):
    with cippus.create(format="asdf") as w:
        w["x"] = sample("cube.b2nd").array
        w["info"] = sample("cube.b2nd")["vlmeta"]
        w["m"] = sample("night.asdf")["masked"]
    with cippus.open(w.getvalue()) as f:
        np.testing.assert_array_equal(f["x"], sample("cube.b2nd").array)
        assert f["info/instrument"] == {"name": "IFU", "gain": 1.8} and f["m"].is_masked


def test_what_cannot_be_written_is_refused():
    with cippus.create(format="asdf") as w:
        for value in (np.array([object()]), object(), {1, 2}, np.zeros(2, np.longdouble)):
            with pytest.raises((TypeError, cippus.Error)):
                w["x"] = value
        with pytest.raises(TypeError):
            w[3] = 1
        w.abort()
    with pytest.raises(TypeError):
        cippus.create()
    with pytest.raises(ValueError):
        cippus.create(format="nothing")
    with pytest.raises(ValueError):
        cippus.create(format="npy").getvalue()


# --- changes


@pytest.fixture
def path(tmp_path):
    with cippus.create(tmp_path / "x.asdf") as w:
        w["a"] = np.arange(20).reshape(4, 5)
        w["z"] = np.arange(100.0)
        w["meta/n"] = 1
    return tmp_path / "x.asdf"


def test_assignments_come_into_the_file_at_the_commit(path):
    f = cippus.open(path, "r+")
    a, meta = f["a"], f["meta"]
    a[1:3] = [[-1], [-2]]
    a[0, ::2] = 7
    a[3, -1] = 99
    f["meta/n"] = 2
    f["meta/new"] = {"x": [1, "two"]}
    f["added/b"] = np.ones(3)
    assert cippus.open(path)["a"][1, 0] == 5
    f.commit()
    expected = np.arange(20).reshape(4, 5)
    expected[1:3] = [[-1], [-2]]
    expected[0, ::2] = 7
    expected[3, -1] = 99
    np.testing.assert_array_equal(a, expected)  # an array finds itself
    with pytest.raises(ValueError, match="changed"):
        meta["n"]
    assert f["meta/n"] == 2 and f["meta/new/x"] == [1, "two"] and f["added/b"][1] == 1
    f.close()
    with cippus.open(path) as f:
        np.testing.assert_array_equal(f["a"], expected)


def test_integer_and_boolean_arrays_assign_too(path):
    expected = np.arange(20).reshape(4, 5)
    with cippus.open(path, "r+") as f:
        for key, value in [([0, 2], 5), (expected > 15, 0), (([0, 1, 0], [1, 1, 1]), [1, 2, 3]), ((slice(None), [4]), -1)]:
            f["a"][key] = value
            expected[key] = value
    np.testing.assert_array_equal(cippus.open(path)["a"], expected)


def test_arrays_grow_and_shrink(path):
    with cippus.open(path, "r+") as f:
        z = f["z"]
        z.append([1.5, 2.5])
        f.commit()
        assert z.shape == (102,) and z[-1] == 2.5
        z.resize(50)
        f["a"].append(np.zeros(5, int))
    with cippus.open(path) as f:
        assert f["z"].shape == (50,) and f["a"].shape == (5, 5)


def test_nodes_are_removed_and_moved(path):
    with cippus.open(path, "r+") as f:
        del f["meta/n"]
        f.move("z", "deep/z")
        with pytest.raises(KeyError):
            del f["nope"]
    with cippus.open(path) as f:
        assert "n" not in (f["meta"] or {}) and f["deep/z"].shape == (100,) and "z" not in f


def test_an_exception_drops_the_changes(path):
    with pytest.raises(ZeroDivisionError), cippus.open(path, "r+") as f:
        f["a"][0] = 1
        raise ZeroDivisionError
    with cippus.open(path, "r+") as f:
        f["a"][0] = 1
        f.rollback()
        assert f["a"][0].tolist() == [0, 1, 2, 3, 4]
    assert cippus.open(path)["a"][0].tolist() == [0, 1, 2, 3, 4]


def test_what_is_read_only_says_so(path):
    with cippus.open(path) as f:
        with pytest.raises(ValueError, match="read-only"):
            f["a"][0] = 1
        with pytest.raises(ValueError, match="read-only"):
            f["b"] = 1


def test_values_that_do_not_fit_are_numpys_exceptions(path):
    with cippus.open(path, "r+") as f:
        a, like = f["a"], np.arange(20).reshape(4, 5)
        for key, value in [(0, [1, 2]), (9, 1), (0, "text"), ((0, 0, 0), 1), (0, 2**70), ([7], 1)]:
            with pytest.raises(Exception) as theirs:
                like[key] = value
            with pytest.raises(type(theirs.value)):
                a[key] = value
        with pytest.raises(ValueError):
            a.append(np.zeros(4))
        f.rollback()


def test_a_commit_needs_the_file_for_itself(tmp_path):
    with cippus.create(tmp_path / "x.ra") as w:
        w[""] = np.arange(100.0)
    f = cippus.open(tmp_path / "x.ra", "r+")
    view = f.array.view()
    f.array[0] = 5
    with pytest.raises(cippus.BusyError):
        f.commit()
    assert view[0] == 0
    del view
    f.commit()
    assert f.array[0] == 5
    f.close()


def test_two_writers_do_not_meet(path):
    one, two = cippus.open(path, "r+"), cippus.open(path, "r+")
    one["a"][0] = 1
    with pytest.raises(cippus.BusyError):
        two["a"][0] = 2
    two.rollback()
    two.close()
    one.close()
    assert cippus.open(path)["a"][:2, 0].tolist() == [1, 5]


def test_a_commit_that_is_busy_can_be_tried_again(path):
    reader = cippus.open(path)
    with cippus.open(path, "r+") as f:
        f["a"][0] = 1
        with pytest.raises(cippus.BusyError):
            f.commit()
        reader.close()
        f.commit()
        assert f["a"][0].tolist() == [1] * 5
    with cippus.open(path) as reader, pytest.raises(cippus.BusyError), cippus.open(path, "r+") as f:
        f["a"][0] = 2
    assert cippus.open(path)["a"][0, 0] == 1


@pytest.mark.parametrize("act", ["replaced", "removed", "renamed"])
def test_a_file_that_lost_its_name_is_left_alone(path, tmp_path, act):
    f = cippus.open(path, "r+")
    f["a"][0] = 7
    if act == "replaced":
        with cippus.create(tmp_path / "theirs.asdf") as w:
            w["theirs"] = np.arange(3)
        os.replace(tmp_path / "theirs.asdf", path)
    elif act == "removed":
        os.unlink(path)
    else:
        os.rename(path, tmp_path / "renamed.asdf")
    with pytest.raises(cippus.StaleError, match="took its name" if act == "replaced" else "moved or removed") as stale:
        f.commit()
    assert isinstance(stale.value, OSError)
    with pytest.raises(cippus.StaleError):
        f["a"][0] = 8
    f.rollback()
    if act == "replaced":
        assert f.refresh()
        assert f["theirs"][:].tolist() == [0, 1, 2]
        f["theirs"][0] = 9
        f.commit()
        f.close()
        assert cippus.open(path)["theirs"][0] == 9
    else:
        f.close()
        assert not os.path.exists(path)
    if act == "renamed":
        assert cippus.open(tmp_path / "renamed.asdf")["a"][0].tolist() == [0, 1, 2, 3, 4]


def test_forgotten_changes_are_told(path):
    f = cippus.open(path, "r+")
    f["a"][0] = 1
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        del f
        gc.collect()
    assert [w.category for w in told] == [ResourceWarning]
    assert cippus.open(path)["a"][0, 0] == 0


def test_refresh_shows_what_others_wrote(path):
    f = cippus.open(path)
    a = f["a"]
    assert not f.refresh()
    with cippus.create(path, overwrite=True) as w:
        w["a"] = np.full((2, 2), 77)
    assert a[0, 0] == 0
    assert f.refresh() and a.shape == (2, 2) and a[0, 0] == 77


# --- whole files


def test_convert_verify_and_repair(sample, tmp_path):
    source = sample("cube.b2nd")
    told = []
    cippus.convert(source.path, tmp_path / "x.asdf", codec="lz4", progress=lambda done, total: told.append(done), accept_loss=True)
    np.testing.assert_array_equal(cippus.open(tmp_path / "x.asdf").array, source.array)
    assert told
    with pytest.raises(FileExistsError):
        cippus.convert(source.path, tmp_path / "x.asdf", accept_loss=True)
    assert cippus.verify(tmp_path / "x.asdf", deep=True) == []
    data = bytearray(pathlib.Path(source.path).read_bytes())
    data[3000:3100] = b"\xff" * 100
    (tmp_path / "bad.b2nd").write_bytes(data)
    found = cippus.verify(tmp_path / "bad.b2nd", deep=True)
    assert found and found[0].severity in ("bad", "fatal") and found[0].text
    lost = cippus.repair(tmp_path / "bad.b2nd", tmp_path / "good.b2nd", fill=-1)
    good = cippus.open(tmp_path / "good.b2nd").array[...]
    assert lost and set(good[good != source.array[...]].tolist()) == {-1}
    with pytest.raises(FileNotFoundError):
        cippus.convert(tmp_path / "none.asdf", tmp_path / "y.ra")


def test_what_was_left_out_when_a_file_was_read_is_a_loss(sample, tmp_path):
    torn = tmp_path / "torn.asdf"
    torn.write_bytes(pathlib.Path(sample("stream.asdf").path).read_bytes() + b"xy")
    with pytest.raises(cippus.UnsupportedError, match="not all of the input is read.*; accept it with accept_loss=True$"):
        cippus.convert(torn, tmp_path / "x.npy")
    lost = cippus.convert(torn, tmp_path / "x.npy", accept_loss=True)
    assert any("the last row is incomplete" in f.text for f in lost)


def test_an_exception_of_a_callback_stops_a_conversion(sample, tmp_path):
    with pytest.raises(ZeroDivisionError):
        cippus.convert(sample("night.asdf").path, tmp_path / "x.asdf", codec="zlib", progress=lambda done, total: 1 // 0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["x.asdf", "x.b2nd", "x.blp", "x.bcolz"])
def test_append_takes_what_an_assignment_takes(tmp_path, name):
    with cippus.create(tmp_path / name, sync=False, format="bcolz" if name == "x.bcolz" else None) as w:
        w["" if name in ("x.b2nd", "x.blp") else "x"] = np.arange(3, dtype="u1")
    for rows in ([300], [1, -1], 300, [1e400], ["a"], [[1, 2]]):
        with cippus.open(tmp_path / name, "r+") as f:
            with pytest.raises((OverflowError, ValueError)):
                f.array.append(rows)
            f.rollback()
            assert f.array[...].tolist() == [0, 1, 2]
    with cippus.open(tmp_path / name, "r+") as f:
        f.array.append([7])
        f.commit()
        f.array.append(8)
        f.commit()
        f.array.append(np.array([9, 10], "i8"))
    assert cippus.open(tmp_path / name).array[...].tolist() == [0, 1, 2, 7, 8, 9, 10]


@pytest.mark.parametrize("shape, dtype", [((2, 0), "f4"), ((0, 0, 3), "i2")])
def test_rows_of_no_bytes_are_appended(tmp_path, shape, dtype):
    x = np.zeros(shape, dtype)
    with cippus.create(tmp_path / "x.asdf", sync=False) as w:
        w["x"], w["y"] = x, np.arange(3)
    with cippus.open(tmp_path / "x.asdf", "r+") as f:
        f["x"].append(np.zeros((3, *shape[1:]), dtype))
        f.commit()
        assert f["x"].shape == (shape[0] + 3, *shape[1:])
        with pytest.raises(ValueError):
            f["x"].append(np.zeros((1, 2, 3, 4)))


def test_records_are_appended_as_tuples_and_missing_ones_stay_missing(tmp_path):
    with cippus.create(tmp_path / "x.asdf", sync=False) as w:
        w["r"] = np.array([(1, 2.5)], [("a", "i2"), ("b", "f8")])
        w["m"] = np.ma.array([1, 2, 3], mask=[0, 1, 0])
    with cippus.open(tmp_path / "x.asdf", "r+") as f:
        f["r"].append([(2, 3.5), (3, 4.5)])
        f.commit()
        with pytest.raises(OverflowError):
            f["r"].append([(1 << 20, 0)])
        f["r"].append((4, 5.5))
        f.commit()
        assert f["r"][...].tolist() == [(1, 2.5), (2, 3.5), (3, 4.5), (4, 5.5)]
        with pytest.raises(cippus.UnsupportedError):
            f["m"].append(np.ma.array([4, 5], mask=[1, 0]))
        f.rollback()
