# SPDX-License-Identifier: BSD-3-Clause
"""Opening files."""
from __future__ import annotations

import io
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Optional, overload

from . import _cippus, _fs, _sink, _write
from ._file import File
from ._words import keywords, unexpected

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import NewFileOptions, OpenOptions


def source_of(file: Any, storage_options: Optional[dict[str, Any]]) -> tuple[int, Any, Any]:
    """How the extension is to read `file` (0: a path, 1: bytes, 2: a source of _fs.py), from what, and its name."""
    if (found := _fs.locate(file, storage_options)) is not None:
        fs, path = found
        local = _fs.local_path(fs, path)
        name = file if isinstance(file, str) else fs.unstrip_protocol(path)
        return (2, _fs.Remote(fs, path, name), name) if local is None else (0, local, local)
    if isinstance(file, (str, os.PathLike)):
        return 0, os.fspath(file), os.fspath(file)
    if hasattr(file, "open") and hasattr(file, "fs"):  # an OpenFile that decompresses
        file = file.open()
    if hasattr(file, "read") and hasattr(file, "seek") and not isinstance(file, memoryview):
        return 2, _fs.Reader(file), getattr(file, "name", f"<{type(file).__name__}>")
    try:
        return 1, memoryview(file), f"<{type(file).__name__}>"
    except TypeError:
        raise TypeError(f"expected a path, bytes or a file object, not {type(file).__name__}") from None


def path_of(file: Any) -> Optional[str]:
    """The path on this machine of what open() takes, or None where it has none."""
    if (found := _fs.locate(file, None)) is not None:
        return _fs.local_path(*found)
    return os.fspath(file) if isinstance(file, (str, os.PathLike)) else None


def _store_of(kind: int, source: Any) -> _sink.Store:
    """What "r+" changes: a file object in place, a copy of bytes."""
    if kind == 2 and not isinstance(source, _fs.Reader):
        raise ValueError("mode 'r+' needs a path, bytes or a file object that writes")
    return _sink.Store(io.BytesIO(source) if kind == 1 else source._file)


@overload
def open(file: Any, mode: Literal["r"] = "r", **options: Unpack[OpenOptions]) -> File: ...
@overload
def open(file: Any, mode: Literal["r+"], **options: Unpack[OpenOptions]) -> _write.EditableFile: ...
@overload
def open(file: Any, mode: Literal["w", "x"], **options: Unpack[NewFileOptions]) -> _write.Writer: ...
@keywords
def open(
    file: Any,
    mode: str = "r",
    *,
    format: Optional[str] = None,
    threads: int = 0,
    check: Optional[bool] = None,
    allow_external: bool = False,
    force: bool = False,
    sidecar: bool = False,
    mmap: bool = False,
    offset: int = 0,
    storage_options: Optional[dict[str, Any]] = None,
    version: Optional[str] = None,
    codec: Optional[str] = None,
    byteorder: Optional[str] = None,
    checksum: Optional[str] = None,
    accept_loss: bool = False,
    sync: bool = True,
    options: Optional[Mapping[str, Any]] = None,
) -> Any:
    """Open a file. `file` is a path (str or os.PathLike), the bytes of a file, or a file object that reads and seeks. With fsspec
    it may also be a URL ("s3://...", with its `storage_options`), or what fsspec.open() gives.

    Modes:

    - "r" reads.
    - "r+" changes the file. If `file` is bytes, it changes a copy: see getvalue().
    - "w" writes a new file, and replaces one that exists.
    - "x" writes a new file, and fails if one exists.

    Keywords of all modes:

    - `format`: by default detected from the bytes, or from the name of a new file.
    - `threads`: 0 is one per core, 1 is only the calling thread.

    Keywords of "r" and "r+" (those of "w" and "x": see create()):

    - `check=True` compares data with the checksums in the file.
    - `allow_external` allows external files outside the file's folder.
    - `force` ignores unknown versions and flags.
    - `sidecar` keeps decoder checkpoints in a file beside this one.
    - `mmap` (only "r") maps the file, so that small windows and elements of plain data are read faster. If another program makes
      the file shorter meanwhile, this process ends (SIGBUS).
    - `offset` is the byte where the file starts."""
    reading = {
        "check": check is not None,
        "allow_external": allow_external,
        "force": force,
        "sidecar": sidecar,
        "mmap": mmap,
        "offset": offset != 0,
        "storage_options": storage_options is not None,
    }
    writing = {
        "version": version is not None,
        "codec": codec is not None,
        "byteorder": byteorder is not None,
        "checksum": checksum is not None,
        "accept_loss": accept_loss,
        "sync": not sync,
        "options": options is not None,
    }
    if mode not in ("r", "r+", "w", "x"):
        raise ValueError(f"invalid mode: {mode!r}; there are 'r', 'r+', 'w', 'x'")
    for name, given in (reading if mode in ("w", "x") else writing).items():
        if given:
            raise unexpected("open", name, (), f" in mode {mode!r}")
    if mmap and mode == "r+":
        raise unexpected("open", "mmap", (), " in mode 'r+'")
    if mode in ("w", "x"):
        return _write.create(
            file, format=format, overwrite=mode == "w", threads=threads, version=version, codec=codec, byteorder=byteorder,
            checksum=checksum, accept_loss=accept_loss, sync=sync, options=options,
        )  # fmt: skip
    kind, source, name = source_of(file, storage_options)
    if mode == "r+" and kind != 0:
        source = _store_of(kind, source)
        kind = 2
    checked = 0 if check is None else 1 if check else 2
    opened = _cippus.open(
        _write.EditableFile if mode == "r+" else File,
        kind, source, name, format, threads, checked, allow_external, force, sidecar, mmap, offset,
    )  # fmt: skip
    if isinstance(source, _fs.Remote):
        opened._state = source.state
    if mode == "r+":
        opened._begun(source if kind == 2 else None)
    return opened
