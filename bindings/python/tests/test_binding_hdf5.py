# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 files in Python: arrays, attributes, what is refused, and axes in xarray."""
import pathlib

import numpy as np
import pytest

import cippus

FILES = pathlib.Path(__file__).resolve().parents[3] / "src" / "format" / "hdf5" / "corpus" / "fuzz_hdf5"


def test_arrays_and_attributes():
    with cippus.open(FILES / "good-groups.h5") as f:
        assert f.format == "hdf5"
        assert f["a/b/n"][1:].tolist() == [1, 2]
        assert f["second"][:].tolist() == [0, 1, 2]
        assert f["a"]["b"]["attrs"]["n"]["unit"] == "m"


def test_types():
    with cippus.open(FILES / "good-types.h5") as f:
        assert f["time"][0] == np.datetime64("2026-01-01")
        assert f["bool"][:].tolist() == [True, False]
        assert f["complex"][0] == 1 + 2j
        assert f["nested"].dtype["r"].shape == (2, 2)
        with pytest.raises(cippus.UnsupportedError, match="strings of variable length"):
            f["strings"][:]


def test_filters():
    with cippus.open(FILES / "good-filters.h5") as f:
        for path in f.arrays:
            if path != "offset":
                assert f[path][60:].tolist() == list(range(60, 75)), path


def test_axes_in_xarray():
    xr = pytest.importorskip("xarray")
    from cippus.xarray import Backend

    with xr.open_dataset(FILES / "good-scales.h5", engine=Backend) as ds:
        assert ds["n"].dims == ("t", "x")
        assert "NAME" not in ds["t"].attrs and "CLASS" not in ds["t"].attrs  # how netCDF-4 lies in HDF5
        assert ds["n"].sel(t=2, x=1).item() == 5
