# SPDX-License-Identifier: BSD-3-Clause
"""What Python's values are in a file: keys, tags, times, units, masks. What cannot be kept is refused."""
import datetime
import io
import sys
import types

import numpy as np
import pytest

import cippus


def stored(tree, format="asdf", **options):
    with cippus.create(format=format, **options) as w:
        for path, value in tree.items():
            w[path] = value
    return cippus.open(w.getvalue())


# --- trees


def test_keys_of_mappings_with_arrays_stay_what_they_are():
    f = stored({"m": {1: "one", None: 2, True: [3], 2.5: 4, "a": np.arange(3), "b/c~": np.arange(2)}})
    assert list(f["m"]) == [1, None, 2.5, "a", "b/c~"] or list(f["m"]) == [True, None, 2.5, "a", "b/c~"]
    assert f["m"][None] == 2 and f["m"][2.5] == 4
    np.testing.assert_array_equal(f["m"]["a"], np.arange(3))
    np.testing.assert_array_equal(f["m"]["b/c~"], np.arange(2))
    for key in 1, None, True, 2.5:
        with cippus.create(format="asdf") as w:
            with pytest.raises(TypeError, match="stands above an array"):
                w["m"] = {"a": {key: np.arange(3)}}
    with cippus.create(format="asdf") as w, pytest.raises(ValueError, match="same path"):
        w["m"] = {1: 2, "1": np.arange(3)}
    with cippus.create(format="asdf") as w, pytest.raises(TypeError, match="keys are strings"):
        w.update({1: 2})


def test_copies_between_files_keep_tags(tmp_path):
    with cippus.create(tmp_path / "a.asdf") as w:
        w._change.set("x", "!<tag:x.org:model-1.0> {{a: 1}: complex}", True)
        w._change.set("x/points", "!<tag:x.org:list-1.0> []", True)
    with cippus.open(tmp_path / "a.asdf") as f, cippus.create(tmp_path / "b.asdf") as w:
        w["x"] = f["x"]
    with cippus.create(tmp_path / "a.asdf", overwrite=True) as w:
        w._change.set("x", "!<tag:x.org:model-1.0> {{a: 1}: complex}", True)
        w._change.set("x/points", "!<tag:x.org:list-1.0> []", True)
        w["x/points/0"] = np.arange(3)
        w._change.set("x/points/1", "!<tag:x.org:t> {unit: !<tag:x.org:u> m}", True)
    with cippus.open(tmp_path / "a.asdf") as f:
        with cippus.create(tmp_path / "c.asdf") as w, pytest.raises(TypeError, match="key that is a collection"):
            w["x"] = f["x"]
        with cippus.create(tmp_path / "d.asdf") as w:
            w["p"] = f["x/points"]
    with cippus.open(tmp_path / "b.asdf") as b, cippus.open(tmp_path / "d.asdf") as d:
        assert b["x"].tag == "tag:x.org:model-1.0" and b["x/points"].tag == "tag:x.org:list-1.0" and '{"a": 1} : "complex"' in b["x"].to_yaml()
        assert d["p"].tag == "tag:x.org:list-1.0" and d["p"][1].tag == "tag:x.org:t" and d["p"][1]["unit"].tag == "tag:x.org:u"
        np.testing.assert_array_equal(d["p"][0], np.arange(3))


def test_times_are_times_or_refused():
    f = stored({"d": np.datetime64("2020-01-02"), "s": np.datetime64("2020-01-02T03:04:05"), "n": np.datetime64("2020-01-02T03:04:05.000006", "ns")})
    assert f["d"] == datetime.date(2020, 1, 2) and f["s"] == datetime.datetime(2020, 1, 2, 3, 4, 5)
    assert f["n"] == datetime.datetime(2020, 1, 2, 3, 4, 5, 6)
    pandas = pytest.importorskip("pandas")
    finer = [np.datetime64("2020-01-01T00:00:00.000000001"), np.datetime64("NaT"), np.datetime64("20000-01-01"), np.timedelta64(3, "ns"),
             pandas.NaT, pandas.Timestamp("2020-01-01T00:00:00.000000001"), pandas.NA, np.zeros(1, [("a", "i4")])[0]]  # fmt: skip
    for value in finer:
        for tree in value, [value], {"k": value}, {"k": value, "a": np.arange(3)}:
            with cippus.create(format="asdf") as w, pytest.raises(TypeError, match="is no value of a tree"):
                w["x"] = tree
    assert stored({"t": pandas.Timestamp("2020-01-01T01:02:03.5")})["t"] == datetime.datetime(2020, 1, 1, 1, 2, 3, 500000)


def test_times_that_are_finer_than_pythons_are_not_cut():
    with cippus.create(format="asdf") as w:
        w._change.set("x", "[2020-01-01T00:00:00.123456789Z, 2020-01-01T00:00:00.123456000Z]", True)
    found = cippus.open(w.getvalue())["x"]
    assert found[0] == "2020-01-01T00:00:00.123456789Z" and found[1].microsecond == 123456


def test_a_folder_has_no_bytes():
    for format in "blz", "bcolz":
        with cippus.create(format="blz", options=None) as w:
            w["a"] = np.arange(3)
        with pytest.raises(ValueError, match="folders"):
            w.getvalue()


def test_fields_of_masked_records_are_read_by_name():
    x = np.ma.array([(1, 2.0), (3, 4.0)], [("a", "i4"), ("b", "f8")], mask=[0, 1])
    with cippus.create(format="asdf") as w:
        w["x"] = x
    with cippus.open(w.getvalue()) as f:
        a = f["x"]
        assert isinstance(a.read("a"), np.ma.MaskedArray) and a.read("a").tolist() == a["a"][...].tolist() == [1, None]
        assert a.read("b", mask=True).tolist() == [2.0, None]
        assert type(a.read("a", mask=False)) is np.ndarray and a.read("a", mask=False)[0] == 1
        out = np.zeros(2, "f8")
        assert a.read("a", out=out, mask=False) is out and out[0] == 1
        with pytest.raises(KeyError):
            a.read("none")


@pytest.mark.parametrize("format", ["asdf", "blosc2", "npy", "rawarray"])
def test_chunks_fit_the_array(format):
    path = "a" if format == "asdf" else ""
    for chunks in (0,), (0, 2), (2, -1), (1, 2, 3), ():
        w = cippus.create(format=format)
        with pytest.raises(ValueError, match="for each of the array's 2 axes"):
            w.put(path, np.zeros((4, 4)), chunks=chunks)
        with pytest.raises(ValueError, match="for each of the array's 2 axes"):
            w.declare(path, (4, 4), "f4", chunks=chunks)
        w.abort()


@pytest.mark.parametrize("format", ["asdf", "blosc2", "bloscpack"])
@pytest.mark.parametrize("dtype", ["U5", "S5"])
def test_texts_shorter_than_the_dtype_go_to_any_places(format, dtype):
    whole = np.array(["abcde", "b", "c"] * 20, dtype)
    path = "a" if format == "asdf" else ""
    with cippus.create(format=format) as w:
        w[path] = whole
    for key in [0, 2], [2, 0, 1], np.arange(60) == 7, ([5, 59],):
        for value in "x", np.array("x"), np.array(["yy"]), np.array(["x"] * np.arange(60)[key].size, dtype[0]):
            want = whole.copy()
            want[key] = value
            with cippus.open(w.getvalue(), "r+") as f:
                (f.arrays[path] if path else f.array)[key] = value
                f.commit()
                np.testing.assert_array_equal((f.arrays[path] if path else f.array)[...], want)


# --- units


class Quantity(np.ndarray):
    """Enough of astropy's."""

    class Unit(str):
        def to_string(self, format):
            assert format == "vounit"
            if self == "nonsense":
                raise ValueError("no such unit")
            return str(self)

    def __new__(cls, value, unit):
        made = np.asarray(value).view(cls)
        made.unit = cls.Unit(unit)
        return made

    @property
    def value(self):
        return self.view(np.ndarray)


Quantity.__module__ = "astropy.units.quantity"


@pytest.fixture(params=["ours", "astropy"])
def quantity(request, monkeypatch):
    if request.param == "astropy":
        return pytest.importorskip("astropy.units").Quantity
    monkeypatch.setitem(sys.modules, "astropy.units", types.SimpleNamespace(Quantity=Quantity))
    return Quantity


@pytest.mark.parametrize("version, tag", [(None, "1.2.0"), ("1.5.0", "1.1.0")])
def test_quantities_are_written_as_quantities(quantity, version, tag):
    q = quantity(np.arange(4.0), "m")
    f = stored({"q": q, "one": quantity(3.0, "s"), "all": [{"deep": q}]}, version=version)
    node = f["q"].parent
    assert node.tag == f"tag:stsci.edu:asdf/unit/quantity-{tag}" and node["unit"] == "m" and node["unit"].tag.endswith("unit/unit-1.0.0")
    np.testing.assert_array_equal(f["q"][...], np.arange(4.0))
    assert f["q"].attrs["unit"] == "m" and f["one"]["value"] == 3.0 and f["one"]["unit"] == "s"
    np.testing.assert_array_equal(f["all/0/deep"][...], np.arange(4.0))
    copy = stored({"copy": f["q"], "value": f["q/value"], "list": f["all"], "fields": f["one"]})
    assert copy["copy"].parent.tag == node.tag and copy["copy"].attrs["unit"] == "m" and copy["value"].parent.tag != node.tag
    assert copy["list/0/deep"].attrs["unit"] == "m" and copy["fields"].tag == node.tag


def test_quantities_replace_in_place(quantity):
    data = io.BytesIO()
    with cippus.create(data, format="asdf") as w:
        w["q"], w["a"] = quantity(np.arange(4.0), "m"), np.arange(3)
    with cippus.open(data, "r+") as f:
        f["q"] = quantity(np.arange(4.0) * 2, "s")
        f["a"] = quantity(np.arange(5), "kg")
    with cippus.open(data) as f:
        assert f["q"].attrs["unit"] == "s" and f["q"][3] == 6 and f["a"].attrs["unit"] == "kg" and f["a"].shape == (5,)


def test_units_are_not_dropped(quantity):
    q = quantity(np.arange(4.0), "m")
    with pytest.raises(cippus.UnsupportedError):
        stored({"q": q}, format="blosc2")
    f = stored({"q": q})
    with pytest.raises(cippus.UnsupportedError):
        stored({"": f["q"]}, format="npy")
    np.testing.assert_array_equal(stored({"": f["q/value"]}, format="npy").array, np.arange(4.0))
    if quantity is Quantity:
        with cippus.create(format="asdf") as w, pytest.raises(ValueError, match="no words for the unit"):
            w["q"] = quantity(np.arange(4.0), "nonsense")

    class Other(np.ndarray):
        pass

    with cippus.create(format="asdf") as w, pytest.raises(TypeError, match="more than its elements"):
        w["q"] = np.arange(3).view(Other)
    stored({"r": np.zeros(3, [("a", "i4")]).view(np.recarray)})


# --- masks

MASKED = np.ma.MaskedArray(np.arange(24.0).reshape(4, 6), mask=np.arange(24).reshape(4, 6) % 5 == 0)


@pytest.fixture
def masked():
    return stored({"m": MASKED, "none": np.ma.MaskedArray(np.arange(3), mask=[0, 0, 0])})


def same(found, want):
    assert type(found) is type(want) or isinstance(found, np.ma.MaskedArray)
    np.testing.assert_array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(want))
    assert np.shape(found) == np.shape(want) and np.ma.allequal(found, want)


@pytest.mark.parametrize(
    "key",
    [..., 1, -1, (1, 2), (0, 0), (0, 0, ...), slice(1, 3), (slice(None), slice(None, None, -2)), None, [0, 2], ([0, 1], [0, 2]),
     (slice(None), [0, 5]), np.arange(4) > 1, MASKED.data > 7, np.array(1), (np.array(0), np.array(0)), ([0, 0], 0), []],
)  # fmt: skip
def test_keys_give_masked_arrays_as_numpy_has_it(masked, key):
    a, want = masked["m"], MASKED[key]
    found = a[key]
    if want is np.ma.masked:
        assert found is np.ma.masked
    else:
        same(found, want)
    if np.ndim(want):
        same(a.read(key), want)
        data = a.read(key, mask=False)
        assert type(data) is np.ndarray
        np.testing.assert_array_equal(data, MASKED.data[key])


def test_masks_by_other_ways(masked):
    a = masked["m"]
    same(a.oindex[[0, 3], [1, 5]], MASKED[np.ix_([0, 3], [1, 5])])
    same(a.points([0, 1], [0, 4]), MASKED[[0, 1], [0, 4]])
    same(np.ma.mean(a[...], axis=0), MASKED.mean(axis=0))
    assert list(a)[0][0] is np.ma.masked


def test_plain_arrays_are_made_where_nothing_is_missing(masked):
    a, none = masked["m"], masked["none"]
    for call in (lambda: np.asarray(a), lambda: np.mean(a), lambda: a + 1 if hasattr(a, "__add__") else np.add(a, 1),
                 lambda: np.from_dlpack(a), lambda: list(map(float, np.array(a).flat))):  # fmt: skip
        with pytest.raises(TypeError, match="5 elements of 'm' are missing"):
            call()
    assert np.mean(none) == 1 and np.from_dlpack(none).tolist() == [0, 1, 2]
    out = np.empty((4, 6))
    with pytest.raises(TypeError, match="mask=False"):
        a.read(out=out)
    np.testing.assert_array_equal(a.read(out=out, mask=False), MASKED.data)
    with pytest.raises(cippus.UnsupportedError, match="missing"):
        a.view()


def test_masks_of_whole_records():
    data = np.zeros(4, [("x", "f4"), ("s", [("y", "i2"), ("z", "f8", (2,))])])
    records = np.ma.MaskedArray(data)
    records[0] = records[3] = np.ma.masked
    f = stored({"r": records, "n": np.ma.MaskedArray(data)})
    assert f["r"][0] is not None and f["r"][...].mask["x"].tolist() == [True, False, False, True]
    assert np.ma.getmaskarray(f["r"]["x"][...]).tolist() == [True, False, False, True]
    assert not f["n"][...].mask["s"]["z"].any()
    some = np.ma.MaskedArray(data)
    some["x"][1] = np.ma.masked
    with pytest.raises(ValueError, match="single fields"):
        stored({"r": some})
    some = np.ma.MaskedArray(data)
    some.mask["s"]["z"][2, 1] = True
    with pytest.raises(ValueError, match="single fields"):
        stored({"r": some})


@pytest.mark.parametrize("format", ["blosc2", "npy", "bloscpack"])
def test_formats_without_masks_refuse_them(format, masked):
    with pytest.raises(cippus.UnsupportedError):
        stored({"": MASKED}, format=format)
    with pytest.raises(cippus.UnsupportedError):
        stored({"": masked["m"]}, format=format)
    with cippus.create(format=format) as w:
        slab = w.declare("", (4, 6), "f8")
        with pytest.raises(TypeError, match="slabs have no masks"):
            slab[...] = MASKED
        slab[...] = MASKED.filled(0)


def test_what_a_mask_hides_is_not_assigned_to(tmp_path):
    with cippus.create(tmp_path / "m.asdf") as w:
        w["m"], w["a"] = MASKED, np.arange(4)
    with cippus.open(tmp_path / "m.asdf", "r+") as f:
        for key in ..., (0, 0), [0, 1], (slice(None), 0), MASKED.mask:
            with pytest.raises(ValueError, match="missing by its mask"):
                f["m"][key] = 7
        with pytest.raises(ValueError, match="missing by its mask"):
            f["m"].oindex[[0, 1], [0, 1]] = 7
        f["m"][1, :4] = 7
        f["m"][~MASKED.mask] += 1
        f.commit()
        want = MASKED.copy()
        want[1, :4] = 7
        same(f["m"][...], want + 1)
        with pytest.raises(cippus.UnsupportedError, match="missing"):
            f["a"][1:2] = np.ma.masked_equal([7], 7)
        f.rollback()
