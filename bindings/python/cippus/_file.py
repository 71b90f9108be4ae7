# SPDX-License-Identifier: BSD-3-Clause
"""Opening files, and what is in them."""
from __future__ import annotations

import io
import os
from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from contextlib import AbstractContextManager
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Optional, overload

from . import _cippus, _fs, _sink, _write
from ._array import Array
from ._errors import in_python, no_key
from ._options import Chunks, OpenOptions
from ._tree import Map, beside
from ._words import keywords, unexpected

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ._options import NewFileOptions

SEVERITIES = ("note", "warn", "bad", "fatal")


class Finding(NamedTuple):
    """One thing that is wrong with a file, or worth knowing about it."""

    severity: str
    """"note", "warn", "bad" (data are damaged) or "fatal" (the file cannot be read)"""
    code: int
    """the number of the error class, 0 for none"""
    offset: Optional[int]
    """the byte in the file, where one is known"""
    length: int
    """bytes concerned, or 0"""
    part: str
    """the part of the file, such as the path of an array"""
    text: str
    """what was found"""
    fixable: bool
    """whether `repair` or an update puts it right"""

    @classmethod
    def of(cls, severity: int, code: int, offset: Optional[int], length: int, part: str, text: str, fixable: bool) -> Finding:
        """Made by the extension."""
        return cls(SEVERITIES[severity], code, offset, length, part, in_python(text), fixable)


class Arrays(Mapping[str, Array]):
    """All arrays of a file by their paths, in the order of the tree."""

    def __init__(self, file: File):
        self._file = file

    def __getitem__(self, path: str) -> Array:
        return self._file._array(path)

    def __iter__(self) -> Iterator[str]:
        return iter(self._file._paths(False))

    def __len__(self) -> int:
        return len(self._file._paths(False))

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.values()))

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)


class _Items(ItemsView[str, Any]):
    """Of a file: through one node of its tree, as a key by itself is looked for among all."""

    _mapping: File

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        root = self._mapping._tree()
        if isinstance(root, Map):
            yield from root.items()
        for path in self._mapping._paths(True):
            yield path, self._mapping[path]


class _Values(ValuesView[Any]):
    _mapping: File

    def __iter__(self) -> Iterator[Any]:
        return (value for _, value in self._mapping.items())


class File(_cippus.File, Mapping[str, Any]):
    """An open file: a mapping of what is at the root of its tree. Keys are names or paths such as "roman/data". An array that
    no tree describes has a path of its own; the only array of a file without a tree is at ""."""

    __slots__ = ("__weakref__", "_state")
    _state: tuple[Any, ...]  # of a remote file

    # --- reading

    @property
    def tree(self) -> Any:
        """The root of the metadata tree, or None where the file has no tree."""
        return self._tree()

    @property
    def arrays(self) -> Arrays:
        """All arrays of the file by their paths."""
        return Arrays(self)

    @property
    def array(self) -> Array:
        """The only array of the file; of a table (bcolz, BLZ) the array of its rows. KeyError where there are several arrays."""
        paths = self._paths(False)
        if "" in paths:
            return self.arrays[""]
        if len(paths) != 1:
            raise KeyError(f"expected one array, found {len(paths)}: {', '.join(paths[:5])}")
        return self._array(paths[0])

    def _array(self, path: str) -> Array:
        found = self._array_named(path)
        if found is None:
            raise no_key(path, lambda: self._paths(False), self.path)
        assert isinstance(found, Array)
        return found

    def __getitem__(self, path: str) -> Any:
        root = self._tree()
        found = root._get(path) if isinstance(root, Map) and path != "" else None
        if found is not None:
            return found[0]
        value = self._find(path)
        if value is None:
            raise no_key(path, lambda: chain(self._paths(False), beside(self.tree, path)), self.path)
        return value

    def __iter__(self) -> Iterator[Any]:
        root = self._tree()
        yield from root if isinstance(root, Map) else ()
        yield from self._paths(True)

    def __len__(self) -> int:
        root = self._tree()
        return (len(root) if isinstance(root, Map) else 0) + len(self._paths(True))

    def items(self) -> _Items:
        """The keys at the root of the tree with their values."""
        return _Items(self)

    def values(self) -> _Values:
        """The values at the root of the tree."""
        return _Values(self)

    def __contains__(self, path: object) -> bool:
        try:
            self[path]  # type: ignore[index]
        except KeyError:
            return False
        return True

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def to_dict(self, *, read: bool = True) -> dict[Any, Any]:
        """All of the file as plain dicts and lists. Arrays are read into memory; with `read=False` they stay arrays of the file,
        which need the file to be open. A value that occurs several times in the tree is one object in the result, too."""
        from ._export import plain

        root = self.tree
        seen: dict[Any, Any] = {}
        if root is not None and not isinstance(root, Map):
            raise TypeError(f"the root of the tree is a {type(root).__name__}, not a mapping: use f.tree")
        made: dict[Any, Any] = {} if root is None else plain(root, read, seen)
        return {**made, **{path: plain(self[path], read, seen) for path in self._paths(True)}}

    def to_pandas(self) -> Any:
        """The only array (or the table) of the file as a pandas object: see Array.to_pandas()."""
        return self.array.to_pandas()

    # --- what it is

    @property
    def format(self) -> str:
        """The name of the format, such as "asdf"."""
        return self._info()[0]

    @property
    def version(self) -> str:
        """The version of the format."""
        return self._info()[1]

    @property
    def nbytes(self) -> int:
        """The size of the file in bytes."""
        return self._info()[2]

    @property
    def facts(self) -> dict[str, str]:
        """The facts that the command `cippus info` prints."""
        return dict(self._info()[3])

    @property
    def findings(self) -> list[Finding]:
        """Problems that were found, and tolerated, while the file was opened and read so far."""
        return [Finding.of(*row) for row in self._info()[4]]

    @property
    def writable(self) -> bool:
        """Whether the file can be changed: it is open as "r+"."""
        return False

    def __repr__(self) -> str:
        if self.closed:
            return f"<closed cippus.{type(self).__name__} {self.path!r}>"
        return f"<cippus.{type(self).__name__} {self.path!r} {self.format} {self.version}: {len(self._paths(False))} arrays>"

    def _repr_html_(self) -> str:
        from ._html import of_file

        return of_file(self)

    def _ipython_key_completions_(self) -> list[str]:
        return list(dict.fromkeys(chain((key for key in self if isinstance(key, str)), self._paths(False))))

    def __reduce__(self) -> Any:
        raise TypeError("open files cannot be pickled")

    def __enter__(self) -> Self:
        if self.closed:
            raise ValueError("I/O operation on closed file")
        return self

    def __exit__(self, kind: Any, *rest: Any) -> None:
        self.close()

    # --- of a file that is open as "r": no type checker finds these, and a program that calls one is told why it cannot

    if not TYPE_CHECKING:

        def _refuse(self, *args, **options):
            """Needs a file that is open as "r+"."""
            if self.closed:
                raise ValueError("I/O operation on closed file")
            raise ValueError("the file is read-only: it is open as 'r'; open it as 'r+' to change it")

        __setitem__ = __delitem__ = put = move = commit = rollback = _refuse
        _write_array = _append_array = _resize_array = getvalue = _refuse

        def __dir__(self):
            return [name for name in super().__dir__() if getattr(type(self), name, None) is not File._refuse]


class EditableFile(File):
    """A file that is open as "r+". It reads as a File does, with the changes so far. Nothing is written before commit(), which
    close() and the end of a `with` block call; an exception in the `with` block drops the changes, as rollback() does."""

    __slots__ = ("_edit", "_store")
    _edit: _write.Edit
    _store: Optional[_sink.Store]

    # --- reading, as the changes so far have it

    def _paths(self, apart: bool) -> list[str]:
        return self._edit.paths(super()._paths(apart), apart)

    def _array(self, path: str) -> Array:
        if not self._edit.pending:
            return super()._array(path)
        found = self._find(path) if path in self._paths(False) else None
        if found is None:
            raise no_key(path, lambda: self._paths(False), self.path)
        assert isinstance(found, Array)
        return found

    @property
    def writable(self) -> bool:
        """Whether the file can be changed: it is open as "r+"."""
        return True

    # --- changing

    def _changes(self) -> _write.Edit:
        if self.closed:
            raise ValueError("I/O operation on closed file")
        return self._edit

    def __setitem__(self, path: str, value: Any) -> None:
        self._changes()[path] = value

    def __delitem__(self, path: str) -> None:
        self._changes().remove(path)

    @keywords
    def put(
        self,
        path: str,
        value: Any,
        *,
        chunks: Chunks = None,
        codec: Optional[str] = None,
        storage: Optional[str] = None,
        options: Optional[Mapping[str, Any]] = None,
    ) -> None:
        """As `f[path] = value`, with a say in how an array is stored: see Writer.put()."""
        self._changes().put(path, value, chunks=chunks, codec=codec, storage=storage, options=options)

    @keywords
    def move(self, source: str, target: str, *, replace: bool = False) -> None:
        """Move a value or an array to the path `target`. `replace=True` replaces what is there."""
        self._changes().move(source, target, replace)

    def _write_array(self, array: Array, key: Any, value: Any, orthogonal: bool = False) -> None:
        self._changes().write(array, key, value, orthogonal)

    def _append_array(self, array: Array, rows: Any) -> None:
        self._changes().append(array, rows)

    def _resize_array(self, array: Array, shape: Any) -> None:
        self._changes().resize(array, shape)

    def step(self) -> AbstractContextManager[None]:
        """A `with` block of changes that are made together: an exception takes back those that were made in it, and no others.
        Steps can contain steps."""
        return self._changes().step()

    def commit(self) -> None:
        """Write the changes so far into the file: all of them, or none where it fails."""
        self._changes().commit()

    def rollback(self) -> None:
        """Drop the changes since the last commit."""
        self._changes().abort()

    def getvalue(self) -> bytes:
        """The bytes after the last commit, of a file that was opened from bytes or a file object."""
        if self._store is None:
            raise ValueError("the file lies at a path: read it from there")
        return self._store.getvalue()

    def close(self) -> None:
        """Commit the changes, and close the file."""
        try:
            if not self.closed:
                self._edit.commit()
        finally:
            self._edit.abort()
            super().close()

    def __exit__(self, kind: Any, *rest: Any) -> None:
        if kind is not None:
            self._changes().drop()
        self.close()


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
def open(file: Any, mode: Literal["r+"], **options: Unpack[OpenOptions]) -> EditableFile: ...
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
        EditableFile if mode == "r+" else File,
        kind, source, name, format, threads, checked, allow_external, force, sidecar, mmap, offset,
    )  # fmt: skip
    if isinstance(source, _fs.Remote):
        opened._state = source.state
    if mode == "r+":
        opened._edit = _write.Edit(opened)
        opened._store = source if kind == 2 else None
    return opened
