# SPDX-License-Identifier: BSD-3-Clause
"""As typed_mistakes.py, of the parts for dask and xarray."""
from xarray import Dataset

import cippus.dask
import cippus.xarray

cippus.dask.from_file("a.asdf", "x", chek=True)  # wrong
cippus.dask.from_file("a.asdf", "x", check=True, threads=1)
cippus.dask.to_file([], "a.asdf", owerwrite=True)  # wrong
cippus.dask.to_file([], "a.asdf", overwrite=True, codec="lz4", byteorder="big")
cippus.xarray.to_file(Dataset(), "a.asdf", codek="lz4")  # wrong
cippus.xarray.to_file(Dataset(), "a.asdf", codec="lz4", overwrite=True, options={})
