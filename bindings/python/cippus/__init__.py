# SPDX-License-Identifier: BSD-3-Clause
"""Files of scientific n-d arrays (ASDF, Blosc2, bloscpack, BLZ, bcolz, Zarr, HDF5, FITS, RawArray, npy, npz) as numpy arrays.

    with cippus.open("night.asdf") as f:
        window = f["roman/data"][200:300, 400:500]
"""
from __future__ import annotations

import typing as _typing
from collections.abc import Callable as _Callable
from typing import Any as _Any
from typing import Optional as _Optional

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
from ._file import File, Finding
from ._opening import open
from ._tree import Map, Seq, TaggedStr
from ._verbs import Difference, convert, diff, repair, verify
from ._words import keywords as _keywords
from ._words import meant as _meant
from ._write import EditableFile, Slab, Writer, create

if _typing.TYPE_CHECKING:
    from typing_extensions import Unpack as _Unpack

    from ._options import OpenOptions as _OpenOptions

_cippus.bind(Map, Seq, Array, _errors.make_error, _tree.scalar, _numpy)

__version__ = _cippus.version
"""The version of the package and of the library in it."""


def formats() -> dict[str, tuple[str, str]]:
    """The formats of this build: a dict of names with (title, what it can do)."""
    return {name: (title, caps) for name, title, caps in _cippus.formats()}


def codecs() -> dict[str, str | None]:
    """The codecs of this build: a dict of names with the version of the library, or None."""
    return {name: version for name, there, version in _cippus.codecs() if there}


@_keywords
def refs(
    file: _Any,
    out: _Any = None,
    *,
    format: str = "json",
    path: _Optional[str] = None,
    url: _Optional[str] = None,
    inline: int = 64 << 10,
    on_finding: _Optional[_Callable[[Finding], _Any]] = None,
    overwrite: bool = False,
    record_size: int = 100_000,
) -> dict[str, _Any]:
    """References to the chunks of a file's arrays, as kerchunk makes them, for `fsspec.filesystem("reference", fo=refs)`.

    `file`: a path, a URL, or an open File; the bytes of a file or a file object need `url`. `out`: also write them to this path,
    with `format` "json", or as a folder with `format` "parquet" (needs pyarrow) and `record_size` references in a file.
    `path`: this array only. `url`: where readers find the file (default: its full path). `inline`: values that do not lie in
    the file as they are needed are copied into the references, up to this many bytes. `on_finding`: a function that is called
    for each array that is left out. `overwrite`: replace `out` if it exists."""
    from . import _refs

    return _refs.refs(
        file, out, format=format, path=path, url=url, inline=inline, on_finding=on_finding, overwrite=overwrite, record_size=record_size
    )


def zarr_store(
    file: _Any, array_path: _Optional[str] = None, *, dims: bool = True, **options: _Unpack[_OpenOptions]
) -> _Any:
    """A read-only Zarr v3 store of a file, for `zarr.open_array(store)` and `zarr.open_group(store)`. Needs zarr.

    `file`: a path, the bytes of a file, a file object, a URL, or an open File. `array_path`: this array only, at the root of the
    store. `dims`: give axes names, which xarray needs. `options`: see open(). `store.refused` names the arrays that Zarr cannot
    hold."""
    from ._zarr import ZarrStore

    return ZarrStore(file, array_path, dims, **options)


_PARTS = ("asdf", "dask", "ra", "xarray", "zarr_codecs")  # imported when they are asked for, with what they need

if not _typing.TYPE_CHECKING:  # type checkers know what there is

    def __getattr__(name):
        if name in _PARTS:
            from importlib import import_module

            return import_module(f"{__name__}.{name}")
        near = "" if name.startswith("_") else _meant(name, __dir__())
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{near}")

    def __dir__():
        return sorted([*__all__, *_PARTS, "__version__"])


__all__ = [
    "ArgumentError", "Array", "BusyError", "CancelledError", "ChecksumError", "Chunk", "CorruptError", "Error", "ExistsError",
    "Difference", "EditableFile", "File", "FileMissingError", "Finding", "FormatError", "LimitError", "Map", "NotFoundError", "OutOfMemoryError",
    "PathMissingError", "RangeError", "ReadError", "ReadOnlyError", "Seq", "Slab", "StaleError", "TaggedStr", "TruncatedError",
    "UnsupportedError", "Writer", "WrongTypeError", "codecs", "convert", "create", "diff", "formats", "open", "repair", "verify",
    "refs", "zarr_store",
]  # fmt: skip
