# SPDX-License-Identifier: BSD-3-Clause
"""xarray on netCDF-4 and Zarr: the engine "cippus" gives what xarray's own engines give of the same files, under every option."""
import itertools

import numpy as np
import pytest

import cippus

xr = pytest.importorskip("xarray")
OPTIONS = [{}, {"mask_and_scale": False}, {"decode_times": False}, {"decode_coords": False}, {"concat_characters": False},
           {"decode_cf": False}, {"decode_timedelta": True}, {"mask_and_scale": {"packed": False}}]  # fmt: skip


def dataset():
    """What climate files have: packed numbers, missing ones, times, their bounds, texts of single characters."""
    rng = np.random.default_rng(7)
    values = rng.normal(280, 20, (5, 4))
    values[1, 2] = np.nan
    hours = np.arange(5) * np.timedelta64(6, "h")
    return xr.Dataset(
        {
            "packed": (("time", "x"), values, {"units": "K", "long_name": "temperature"}),
            "single": (("time", "x"), values.astype("f4"), {"valid_range": np.array([100, 400], "f4")}),
            "wide": (("time", "x"), values),
            "half": (("time", "x"), np.nan_to_num(values)),
            "gaps": ("x", np.array([1, np.nan, 3, -4], "f4")),
            "count": ("x", np.array([1, 2, 250, 255], "u1")),
            "flag": ("x", np.array([True, False, True, True])),
            "late": ("time", hours, {"long_name": "delay"}),
            "station": ("x", np.array(["ab", "c", "", "def"], dtype=object)),
            "time_bnds": (("time", "nv"), np.array("2026-01-01", "M8[ns]") + np.stack([hours, hours + hours[1]], 1)),
            "none": ((), 5),
        },
        coords={
            "time": ("time", np.array("2026-01-01", "M8[ns]") + hours, {"bounds": "time_bnds"}),
            "x": [10.0, 20.0, 30.0, 40.0],
            "area": ("x", [1.5, 2.5, 3.5, 4.5]),
        },
        attrs={"title": "made", "version": np.int32(3), "levels": np.array([1, 2, 3])},
    )


ENCODING = {
    "packed": {"dtype": "int16", "scale_factor": 0.01, "add_offset": 273.15, "_FillValue": -32768},
    "single": {"dtype": "int16", "scale_factor": np.float32(0.01), "add_offset": np.float32(273.15), "_FillValue": np.int16(-1)},
    "half": {"dtype": "int16", "scale_factor": np.float32(0.5)},
    "wide": {"dtype": "int32", "scale_factor": np.float32(0.1), "missing_value": np.int32(-5), "_FillValue": np.int32(-5)},
    "gaps": {"_FillValue": np.float32(-999)},
    "time": {"units": "hours since 2025-12-31 12:00", "dtype": "int32", "calendar": "standard"},
}


def same(path, engine, **options):
    with xr.open_dataset(path, engine=engine, **options) as want, xr.open_dataset(path, engine="cippus", **options) as got:
        xr.testing.assert_identical(got.load(), want.load())
        # that 0.5 was of single precision is not known: the same values, of a type that holds more
        types, theirs = ({n: v.dtype for n, v in ds.variables.items() if n != "half"} for ds in (got, want))
        assert types == theirs, options
        for name, key in itertools.product(types, ("scale_factor", "add_offset", "_FillValue", "missing_value", "units", "calendar")):
            mine, their = got[name].encoding.get(key), want[name].encoding.get(key)
            assert mine == their or mine != mine and their != their, (name, key)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_netcdf_4(tmp_path, options):
    pytest.importorskip("h5netcdf")
    encoding = {**ENCODING, "station": {"dtype": "S1"}}
    dataset().to_netcdf(tmp_path / "a.nc", engine="h5netcdf", encoding=encoding)
    same(tmp_path / "a.nc", "h5netcdf", **options)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_zarr_3(tmp_path, options):
    pytest.importorskip("zarr")
    dataset().drop_vars("station").to_zarr(tmp_path / "a.zarr", encoding=ENCODING, zarr_format=3, consolidated=False)
    same(tmp_path / "a.zarr", "zarr", **options)


def test_the_same_data_in_asdf(tmp_path):
    pytest.importorskip("h5netcdf")
    dataset().drop_vars("station").to_netcdf(tmp_path / "a.nc", engine="h5netcdf", encoding=ENCODING)
    cippus.convert(tmp_path / "a.nc", tmp_path / "a.asdf", accept_loss=True)
    with xr.open_dataset(tmp_path / "a.nc", engine="cippus") as want, xr.open_dataset(tmp_path / "a.asdf", engine="cippus") as got:
        for name in ("packed", "gaps", "time"):
            np.testing.assert_allclose(got[name].values.astype("f8"), want[name].values.astype("f8"))


def test_groups(tmp_path):
    pytest.importorskip("h5netcdf")
    dataset().drop_vars("station").to_netcdf(tmp_path / "a.nc", engine="h5netcdf", encoding=ENCODING)
    dataset().drop_vars("station").to_netcdf(tmp_path / "a.nc", engine="h5netcdf", encoding=ENCODING, group="g", mode="a")
    same(tmp_path / "a.nc", "h5netcdf", group="g")
    with xr.open_datatree(tmp_path / "a.nc", engine="cippus", mask_and_scale=False) as tree:
        assert tree["g/packed"].dtype == "i2" and tree["g/time"].dtype.kind == "M"


def test_times_that_cannot_be_are_said(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.nc", "w") as f:
        f["t"] = np.arange(3)
        f["t"].attrs["units"] = "fortnights since then"
    with pytest.raises(ValueError, match="decode"):
        xr.open_dataset(tmp_path / "a.nc", engine="cippus").load()
    with xr.open_dataset(tmp_path / "a.nc", engine="cippus", decode_times=False) as ds:
        assert ds["t"].values.tolist() == [0, 1, 2]
