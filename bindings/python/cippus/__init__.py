# SPDX-License-Identifier: BSD-3-Clause
"""Files of scientific n-d arrays (ASDF, Blosc2, bloscpack, BLZ, bcolz, RawArray, npy) as numpy arrays.

    with cippus.open("night.asdf") as f:
        window = f["roman/data"][200:300, 400:500]
"""
from typing import Any as _Any

import numpy as _numpy

from . import _cippus, _errors, _tree
from ._array import Array, Chunk
from ._errors import (
    ArgumentError,
    BusyError,
    CancelledError,
    ChecksumError,
    CorruptError,
    Error,
    ExistsError,
    FileMissingError,
    FormatError,
    LimitError,
    NotFoundError,
    OutOfMemoryError,
    PathMissingError,
    RangeError,
    ReadError,
    ReadOnlyError,
    StaleError,
    TruncatedError,
    UnsupportedError,
    WrongTypeError,
)
from ._file import File, Finding, open
from ._refs import refs
from ._tree import Map, Seq, TaggedStr
from ._verbs import Difference, convert, diff, repair, verify
from ._write import Slab, Writer, create

_cippus.bind(File, Map, Seq, Array, _errors.make_error, _tree.scalar, _numpy)

__version__ = _cippus.version


def formats() -> dict[str, tuple[str, str]]:
    """The formats of this build: name -> (title, what it can do)."""
    return {name: (title, caps) for name, title, caps in _cippus.formats()}


def codecs() -> dict[str, str | None]:
    """The codecs of this build: name -> the version of its library."""
    return {name: version for name, there, version in _cippus.codecs() if there}


def zarr_store(file: _Any, array_path: str | None = None, *, dims: bool = True, **options: _Any) -> _Any:
    """A read-only Zarr v3 store of a file, for `zarr.open_array(store)` and `zarr.open_group(store)`: of a path or what else
    open() takes (with its `options`), or of an open File. `array_path`: that array alone, at the root. `dims`: axes get
    names made of their place and length, which xarray needs. `store.refused` tells arrays that Zarr cannot hold."""
    from ._zarr import ZarrStore

    return ZarrStore(file, array_path, dims, **options)


__all__ = [
    "ArgumentError", "Array", "BusyError", "CancelledError", "ChecksumError", "Chunk", "CorruptError", "Error", "ExistsError",
    "Difference", "File", "FileMissingError", "Finding", "FormatError", "LimitError", "Map", "NotFoundError", "OutOfMemoryError",
    "PathMissingError", "RangeError", "ReadError", "ReadOnlyError", "Seq", "Slab", "StaleError", "TaggedStr", "TruncatedError",
    "UnsupportedError", "Writer", "WrongTypeError", "codecs", "convert", "create", "diff", "formats", "open", "repair", "verify",
    "refs", "zarr_store",
]  # fmt: skip
