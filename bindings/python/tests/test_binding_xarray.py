# SPDX-License-Identifier: BSD-3-Clause
"""Files as xarray datasets, and back."""
import datetime
import io
import pathlib
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import cippus

xr = pytest.importorskip("xarray")
import cippus.xarray  # noqa: E402

SAMPLES = pathlib.Path(__file__).resolve().parents[3] / "samples"


def opened(path, **options):
    return xr.open_dataset(path, engine="cippus", **options)


def test_samples(sample):
    with opened(SAMPLES / "night.asdf") as ds:
        f = sample("night.asdf")
        assert {"image", "counts", "stars/flux"} <= set(ds.variables)
        for name in ds.variables:
            if name != "masked":
                np.testing.assert_array_equal(ds[name].values, f[name][...])
        assert ds["image"].dims == ("image_dim_0", "image_dim_1") and ds["image"].encoding["codec"] == "lz4"
        assert ds["stars/flux"].dims == ("stars_dim_0",) == ds["stars/star"].dims
        assert ds["stars/position"].dims == ("stars_dim_0", "stars/position_dim_1")
    with opened(SAMPLES / "roman.asdf", group="roman", drop_variables="dq") as ds:
        assert set(ds) == {"data", "err"} and ds["data"].shape == (96, 96)
    with opened(SAMPLES / "cube.b2nd") as ds:
        assert ds["data"].encoding["preferred_chunks"] == {"data_dim_0": 4, "data_dim_1": 16, "data_dim_2": 16}
    with opened(SAMPLES / "prices.bcolz") as ds:
        assert set(ds) == {"share", "close"} and ds.attrs == {"currency": "EUR"}
    with opened(SAMPLES / "wells.blz") as ds:
        assert set(ds) == {"depth", "site/x", "site/y"} and ds.attrs["unit"] == "m"
    for name in ("tide.blp", "complex.ra", "stream.asdf"):
        with opened(SAMPLES / name) as ds:
            assert len(ds) and all(v.values.size for v in ds.values())


def test_fits_headers_are_attributes(tmp_path):
    with cippus.create(tmp_path / "a.fits") as w:
        w["SCI/header/OBJECT"] = "M 13"
        w["SCI/data"] = np.arange(6, dtype="u2").reshape(2, 3)
        w["events"] = np.zeros(3, [("x", "i4"), ("y", "f8")])
    with xr.open_dataset(tmp_path / "a.fits") as ds:
        assert set(ds) == {"SCI/data", "events/data/x", "events/data/y"}
        assert ds["SCI/data"].attrs["OBJECT"] == "M 13" and ds["SCI/data"].values.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_engines_are_guessed(tmp_path):
    with xr.open_dataset(SAMPLES / "night.asdf") as ds:
        assert "image" in ds
    other = tmp_path / "night.dat"
    other.write_bytes((SAMPLES / "night.asdf").read_bytes())
    with xr.open_dataset(other) as ds:
        assert "image" in ds
    with xr.open_dataset(SAMPLES / "prices.bcolz") as ds:
        assert "close" in ds
    backend = cippus.xarray.Backend()
    assert backend.guess_can_open("https://x.org/a.asdf?x=1") and not backend.guess_can_open("a.nc")
    assert backend.guess_can_open(io.BytesIO(b"#ASDF 1.0.0\n")) and not backend.guess_can_open(io.BytesIO(b"CDF"))
    assert backend.guess_can_open(b"blpk") and not backend.guess_can_open(7)


@pytest.fixture
def cube(tmp_path):
    data = np.arange(6 * 7 * 8).reshape(6, 7, 8)
    with cippus.create(tmp_path / "c.b2nd") as w:
        w.put("", data, chunks=(2, 7, 3))
    return tmp_path / "c.b2nd", data


def test_indexing_is_numpys(cube):
    path, data = cube
    near = xr.Dataset({"data": (("data_dim_0", "data_dim_1", "data_dim_2"), data)})["data"]
    rng = np.random.default_rng(3)

    def one(n):
        kind = rng.integers(5)
        if kind == 0:
            return int(rng.integers(-n, n))
        if kind == 1:
            a, b = sorted(rng.integers(0, n, 2).tolist())
            return slice(b, a - 1 if a else None, -int(rng.integers(1, 3))) if rng.integers(2) else slice(a, b, 3)
        if kind == 2:
            return rng.integers(-n, n, 4)
        if kind == 3:
            return slice(None)
        return rng.integers(0, 2, n).astype(bool)

    with opened(path, cache=False) as ds:
        far = ds["data"]
        for _ in range(100):
            key = tuple(one(n) for n in data.shape)
            xr.testing.assert_identical(far[key].load().drop_attrs(), near[key])
            points = xr.DataArray(rng.integers(0, 6, (2, 3)), dims=("p", "q"))
            keys = dict(zip(rng.permutation(near.dims), (points, points[0])))
            xr.testing.assert_identical(far.isel(keys).load().drop_attrs(), near.isel(keys))
            lazily = far[:, ::-1][key[0]].load().drop_attrs()
            xr.testing.assert_identical(lazily, near[:, ::-1][key[0]])


def test_chunks_are_those_stored(cube):
    pytest.importorskip("dask")
    path, data = cube
    with opened(path, chunks={}) as ds:
        assert ds["data"].chunks == ((2, 2, 2), (7,), (3, 3, 2))
        assert int(ds["data"].sum().compute(scheduler="threads")) == data.sum()
        sent = pickle.loads(pickle.dumps(ds["data"].sum()))
        assert int(sent.compute(scheduler="synchronous")) == data.sum()


def test_pickles_and_threads(cube, tmp_path):
    path, data = cube
    with opened(path) as ds:
        again = pickle.loads(pickle.dumps(ds))
    np.testing.assert_array_equal(again["data"][1].values, data[1])
    code = "import pickle, sys; print(int(pickle.load(sys.stdin.buffer)['data'][1].sum()))"
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(ds), capture_output=True)
    assert int(done.stdout) == data[1].sum()  # another process
    np.testing.assert_array_equal(ds["data"].values, data)  # closed, but nothing keeps it from being read
    with opened(path, cache=False) as ds:
        failed = []

        def work(i):
            try:
                for _ in range(50):
                    np.testing.assert_array_equal(ds["data"][i % 6].values, data[i % 6])
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not failed
    with opened(io.BytesIO(path.read_bytes())) as ds:
        np.testing.assert_array_equal(ds["data"][2].values, data[2])
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(opened(io.BytesIO(path.read_bytes())))


def test_changed_files_are_refused(cube):
    path, data = cube
    ds = opened(path, cache=False)
    sent = pickle.dumps(ds)
    ds.close()
    with cippus.open(path, "r+") as f:
        f.array[0] = -1
    with pytest.raises(cippus.BusyError, match="changed"):
        ds["data"].values
    with pytest.raises(cippus.BusyError, match="changed"):
        pickle.loads(sent)["data"].values
    with opened(path) as ds:
        assert (ds["data"][0] == -1).all()


def test_urls(cube):
    fsspec = pytest.importorskip("fsspec")
    path, data = cube
    fs = fsspec.filesystem("memory")
    fs.pipe("/xr/c.b2nd", path.read_bytes())
    with opened("memory://xr/c.b2nd") as ds:
        np.testing.assert_array_equal(ds["data"][:, 3].values, data[:, 3])
        sent = pickle.dumps(ds)
        np.testing.assert_array_equal(pickle.loads(sent)["data"][:, 3].values, data[:, 3])
    fs.pipe("/xr/c.b2nd", path.read_bytes())
    cippus._reopen._far_files.clear()
    ds.close()
    with pytest.raises(cippus.BusyError):
        pickle.loads(sent)["data"][0, 0].values
    fs.rm("/xr", recursive=True)


def test_masks(made):
    values = np.ma.MaskedArray([1, 2, 3, 4], mask=[0, 1, 0, 0])
    data = made({"i2": values.astype("i2"), "i8": values.astype("i8"), "f4": values.astype("f4"), "n": np.arange(3)})
    with opened(io.BytesIO(data)) as ds:
        assert [ds[n].dtype for n in ("i2", "i8", "f4", "n")] == ["f4", object, "f4", "i8"]
        for name in ("i2", "i8", "f4"):
            assert ds[name].isnull().values.tolist() == [False, True, False, False]
            assert ds[name][[3, 0]].values.tolist() == [4, 1]
    with opened(io.BytesIO(data), mask_and_scale=False) as ds:
        assert ds["i2"].dtype == "i2" and ds["i2"][3] == 4


def test_names_of_axes(made):
    tree = {"image": np.zeros((3, 4)), "y": np.arange(3), "other": np.zeros((3, 4)), "dims": {"image": ["y", "x"], "y": ["y"]}}
    with opened(io.BytesIO(made({**tree, "attrs": {"image": {"unit": "K"}}, "title": "t", "n": 3}))) as ds:
        assert ds["image"].dims == ("y", "x") and "y" in ds.coords and ds["image"].attrs == {"unit": "K"}
        assert ds["other"].dims == ("other_dim_0", "other_dim_1")  # of the same size, but nobody says that it is the same
        assert ds.attrs["title"] == "t" and ds.attrs["n"] == 3
        assert ds["image"].sel(y=2).shape == (4,)
    with opened(io.BytesIO(made({"v": {"data": np.zeros((2, 5)), "dimensions": ["t", "x"]}}))) as ds:
        assert ds["v/data"].dims == ("t", "x")
    with opened(io.BytesIO(made({"a": np.zeros(3), "dims": {"a": ["x", "y"]}}))) as ds:
        assert ds["a"].dims == ("a_dim_0",)  # names that do not fit
    with opened(io.BytesIO(made({"a": np.zeros(3)})), dims={"a": ["x"]}) as ds:
        assert ds["a"].dims == ("x",)


def test_trees():
    with xr.open_datatree(SAMPLES / "roman.asdf", engine="cippus") as tree:
        assert set(tree["roman"].data_vars) == {"data", "dq", "err"}
        assert tree["roman/data"].shape == (96, 96)
    with xr.open_datatree(SAMPLES / "night.asdf", engine="cippus") as tree:
        assert "flux" in tree["stars"].data_vars and "image" in tree.data_vars
    assert set(xr.open_groups(SAMPLES / "night.asdf", engine="cippus")) == {"/", "/stars"}


def test_round_trip(tmp_path):
    times = np.array(["2026-01-01", "2026-01-02T03:04:05", "2026-02-01"], dtype="M8[ns]")
    ds = xr.Dataset(
        {"t2m": (("time", "lat"), np.random.default_rng(1).random((3, 4)), {"units": "K", "valid": [1.5, 2.5]}), "n": ((), 7),
         "name": ("time", np.array(["a", "bcd", ""], dtype=object)), "exposure": ("time", np.array([3, 5, 7], "m8[s]")),
         "seen": ("time", np.array(["2026-01-01", "NaT", "2026-02-01"], dtype="M8[ns]"))},
        coords={"time": times, "lat": [10.0, 20.0, 30.0, 40.0]},
        attrs={"title": "a b", "version": 3},
    )
    path = tmp_path / "t.asdf"
    cippus.xarray.to_file(ds, path, codec="zstd:3")
    with opened(path) as back:
        assert set(back.coords) == {"time", "lat"} and back["t2m"].attrs == ds["t2m"].attrs
        assert {k: v for k, v in back.attrs.items() if k in ds.attrs} == ds.attrs
        xr.testing.assert_equal(back.load(), ds)
        assert back["time"].dtype == "M8[ns]" and back.sel(time="2026-02-01")["n"] == 7
    with opened(path, decode_times=False) as back:
        assert back["time"].dtype.kind == "i" and " since 2026" in back["time"].attrs["units"]
    with pytest.raises(Exception):
        cippus.xarray.to_file(xr.Dataset({"o": ("x", [object()])}), tmp_path / "o.asdf")
    assert not (tmp_path / "o.asdf").exists()


def again(ds, tmp_path):
    path = tmp_path / "again.asdf"
    cippus.xarray.to_file(ds, path, overwrite=True)
    with (xr.open_datatree if isinstance(ds, xr.DataTree) else xr.open_dataset)(path, engine="cippus") as back:
        return back.load()


X = np.arange(3.0)
WHEN = datetime.datetime(2020, 1, 1, 2, 3, 4, 5)
KEPT = {
    "coordinates": xr.Dataset({"a": ("x", X)}, coords={"label": ("x", [1, 2, 3]), "at": 5.0, "x": [1, 2, 4], "a/b": ("x", X)}),
    "names": xr.Dataset({"a/b": ("x/y", X), "c~d": ("x/y", X), "~1": ("~", [1]), "a": ("x/y", X)}, coords={"x/y": X}),
    "attributes": xr.Dataset(
        {"a": ("x", X, {"when": WHEN, "day": WHEN.date(), "map": {"k": [1, {"l": []}]}, "none": None, "list": [[1, 2], []], "c": 1 + 2j,
                        "numbers": np.arange(3), "number": np.float32(2.5), "yes": True, "text": "2020-01-01", "bytes": b"1"})},
        attrs={"when": np.datetime64("2020-01-01T00:00:00"), "map": {"a": {}}, "a": "as the variable", "dims": 1, "coords": ["a"],
               "history": "made", "groups": ["/a"], "plain": 7, "empty": []},
    ),
    "times": xr.Dataset(
        {"ns": ("x", np.array([1, 2, 10**18 + 7], "M8[ns]")), "s": ("x", np.array(["2001-01-01", "NaT", "1999-01-01"], "M8[s]")),
         "d": ("x", np.array([1, 5, "NaT"], "m8[ns]"))}
    ),
    "nothing": xr.Dataset(attrs={"a": 1}),
    "tree": xr.DataTree.from_dict(
        {"/": xr.Dataset({"a": ("x", X)}, coords={"x": X}, attrs={"groups": 3, "q": {"b": []}}),
         "/g": xr.Dataset({"a": ("x", X)}, coords={"s": 1.0}, attrs={"history": "h"}),
         "/g/h~": xr.Dataset({"c": (("x", "y"), np.ones((3, 2)))}), "/e/f": xr.Dataset(attrs={"z": None})}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_all_of_a_dataset_is_read_again(tmp_path, name):
    want = KEPT[name]
    back = again(want, tmp_path)
    assert back.identical(want), back
    if name == "tree":
        part = again(want["g"], tmp_path)
        assert set(part.data_vars) == {"a"} and part["h~"].data_vars.keys() == {"c"} and part.attrs == {"history": "h"}


def test_encodings_change_no_values(tmp_path):
    ds = xr.Dataset({"a": ("x", X), "t": ("x", np.array([0, 1, 2], "M8[D]").astype("M8[ns]")), "u": ("x", np.array([1, 2, 10**18 + 7], "M8[ns]"))})
    ds["a"].encoding = {"dtype": "int16", "scale_factor": 10.0}
    ds["t"].encoding = {"units": "days since 1969-12-31", "dtype": "int16", "zlib": True}
    ds["u"].encoding = {"units": "days since 1969-12-31", "dtype": "int16"}
    with pytest.warns(UserWarning) as told:
        back = again(ds, tmp_path)
    assert back.identical(ds) and back["t"].encoding["units"] == "days since 1969-12-31"
    words = " ".join(str(w.message) for w in told if "variable" in str(w.message))
    assert "variable 'a'" in words and "scale_factor" in words and "variable 'u'" in words and "variable 't'" not in words


@pytest.mark.parametrize(
    "dataset, words",
    [
        (xr.Dataset({1: ("x", X)}), "variable 1"),
        (xr.Dataset({"dims": ("x", X)}), "'dims'"),
        (xr.Dataset({"a": ((2,), X)}), "axis 2"),
        (xr.Dataset({"a": ("x", X, {"units": "days since 2000-01-01"})}), "variable 'a': numbers with the units of a time"),
        (xr.Dataset({"a": ("x", np.array([1, "b", None], object))}), "variable 'a'"),
        (xr.Dataset({"a": ("x", np.array(["b\0"], object))}), "variable 'a'"),
        (xr.Dataset({"a": (("x", "y"), np.ones((2, 2)))}, {"x": [1, 2], "y": [1, 2]}).stack(z=("x", "y")), "variable 'z'"),
        (xr.Dataset({"a": ("x", X, {"k": object()})}), "variable 'a', attribute 'k'"),
        (xr.Dataset({"a": ("x", X, {"k": np.array(["NaT"], "M8[s]")})}), "variable 'a', attribute 'k'"),
        (xr.Dataset({"a": ("x", X, {3: 1})}), "variable 'a'"),
        (xr.Dataset({"a": ("x", X, {"scale_factor": 2.0})}), "variable 'a', attribute 'scale_factor'"),
        (xr.Dataset({"a": ("x", X, {"dtype": "bool"})}), "variable 'a', attribute 'dtype'"),
        (xr.Dataset(attrs={"coordinates": "a"}), "the dataset, attribute 'coordinates'"),
        (xr.Dataset(attrs={"k": {"l": {1, 2}}}), "the dataset, attribute 'k'"),
        (xr.Dataset({"a": ("x", np.array(["2001-01-01"], "M8[ns]"), {"units": "x"})}), "variable 'a': times"),
        (xr.DataArray(X, name="a"), "to_dataset"),
    ],
)
def test_what_would_not_be_read_again_is_refused_by_name(tmp_path, dataset, words):
    with pytest.raises((TypeError, ValueError), match=words):
        cippus.xarray.to_file(dataset, tmp_path / "x.asdf")
    assert not list(tmp_path.iterdir())


def test_bad_input(tmp_path):
    with pytest.raises(FileNotFoundError):
        opened(tmp_path / "none.asdf")
    with pytest.raises(KeyError, match="no group"):
        opened(SAMPLES / "night.asdf", group="nowhere")
    rng = np.random.default_rng(5)
    good = (SAMPLES / "night.asdf").read_bytes()
    for _ in range(40):
        data = bytearray(good)
        for at in rng.integers(0, len(data), 30):
            data[at] = rng.integers(256)
        try:
            with opened(io.BytesIO(bytes(data))) as ds:
                ds.load()
        except (cippus.Error, ValueError, KeyError):
            pass
