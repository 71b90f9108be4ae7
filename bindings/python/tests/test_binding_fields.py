# SPDX-License-Identifier: BSD-3-Clause
"""Fields of records: a name is a name, whatever is in it, and no path."""
import numpy as np
import pytest

import cippus

NAMES = ["a", "a/b", "~1", "/", "~", "a~1b", "~01", ".", "é"]
DTYPE = np.dtype([("a", [("b", "<i4"), ("x/y", "<i2")]), *((name, "<f8") for name in NAMES[1:])])
FORMATS = [("asdf", "r"), ("b2nd", ""), ("blp", "")]


def records(dtype=DTYPE):
    made = np.zeros(5, dtype)
    for i, name in enumerate(dtype.names):
        for inner in dtype[name].names or ():
            made[name][inner] = 100 + i
        if dtype[name].names is None:
            made[name] = np.arange(5) + 10 * i
    return made


def write(tmp_path, suffix, path, x):
    name = tmp_path / f"x.{suffix}"
    with cippus.create(name, sync=False, options={"table": "no"} if suffix == "bcolz" else None) as w:
        w[path] = x
    return name


@pytest.mark.parametrize("suffix, path", FORMATS)
def test_fields_are_read_and_written_by_their_names(tmp_path, suffix, path):
    x = records()
    name = write(tmp_path, suffix, path, x)
    with cippus.open(name, "r+") as f:
        a = f[path]
        for field in x.dtype.names[1:]:
            assert a[field].dtype == x.dtype[field] and a[field][...].tolist() == x[field].tolist(), field
            a[field][1:3] = 7.5
            x[field][1:3] = 7.5
            a[field][[0, 4]] = -1
            x[field][[0, 4]] = -1
        assert a["a"]["b"][...].tolist() == [100] * 5 and a["a"]["x/y"].shape == (5,)
        a["a"]["x/y"][2] = 3
        x["a"]["x/y"][2] = 3
        a[["~1", "/"]] = x[["~1", "/"]]
    with cippus.open(name) as f:
        assert f[path][...].tolist() == x.tolist()


def test_what_is_no_field_is_not_taken_for_a_path(tmp_path):
    x = np.zeros(2, [("a", [("b", "<i4")]), ("c", "<i4")])
    with cippus.open(write(tmp_path, "asdf", "r", x), "r+") as f:
        a = f["r"]
        for name in ("a/b", "a~1b", "c/", "/c", "", "~0"):
            with pytest.raises(KeyError):
                a[name]
            with pytest.raises(KeyError):
                a[name] = 1
        assert f["r/a/b"][...].tolist() == [0, 0] and a["a"]["b"].shape == (2,)  # paths of files have steps
        a["a"]["b"] = [4, 5]
        f.commit()
        assert f["r"][...].tolist() == [((4,), 0), ((5,), 0)]


@pytest.mark.parametrize("suffix, path", FORMATS)
def test_xarray_takes_any_names(tmp_path, suffix, path):
    xr = pytest.importorskip("xarray")
    x = records(np.dtype([d for d in DTYPE.descr if d[0] != "."]))
    name = write(tmp_path, suffix, path, x)
    above = f"{path}/" if path else ""
    with xr.open_dataset(name, engine="cippus") as ds:
        assert ds[above + "a/b"].values.tolist() == x["a"]["b"].tolist()
        assert ds[above + "a/x~1y"].values.tolist() == x["a"]["x/y"].tolist()
        assert ds[above + "a~1b"].values.tolist() == x["a/b"].tolist()
        assert ds[above + "~01"].values.tolist() == x["~1"].tolist()
        assert ds[above + "~1"].values.tolist() == x["/"].tolist()
