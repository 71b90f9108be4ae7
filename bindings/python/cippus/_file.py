# SPDX-License-Identifier: BSD-3-Clause
"""Opening files, and what is in them."""
from __future__ import annotations

import io
import os
from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from typing import Any, NamedTuple, Optional

from . import _cippus, _fs, _sink, _write
from ._array import Array
from ._tree import Map

SEVERITIES = ("note", "warn", "bad", "fatal")


class Finding(NamedTuple):
    """What is not as it should be in a file, or worth knowing."""

    severity: str
    code: int
    offset: Optional[int]
    length: int
    part: str
    text: str
    fixable: bool

    @classmethod
    def of(cls, severity: int, *rest: Any) -> Finding:
        return cls(SEVERITIES[severity], *rest)


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
    """An open file: the mapping at the root of its tree, with paths as keys ("roman/data"), and arrays that no
    tree describes by their own paths ("" of a file that is one array). Opened as "r+" it can be changed: what is
    assigned is read as it was assigned, and comes into the file by commit(), which close() and the end of a `with` do; an
    exception there drops it, and so does rollback()."""

    __slots__ = ("__weakref__", "_edit", "_state", "_store")
    _edit: Optional[_write.Edit]
    _state: tuple[Any, ...]  # of a remote file
    _store: Optional[_sink.Store]

    # --- reading

    @property
    def tree(self) -> Any:
        """The root of the tree, or None of a file without one."""
        return self._tree()

    @property
    def arrays(self) -> Arrays:
        return Arrays(self)

    @property
    def array(self) -> Array:
        """The only array of a file that has one, or the table that the others are columns of."""
        paths = self._paths(False)
        if "" in paths:
            return self.arrays[""]
        if len(paths) != 1:
            raise KeyError(f"expected one array, found {len(paths)}: {', '.join(paths[:5])}")
        return self._array(paths[0])

    def _paths(self, apart: bool) -> list[str]:
        """Those of all arrays, or of arrays that the tree does not describe, as changes so far have them."""
        found = super()._paths(apart)
        edit = getattr(self, "_edit", None)
        return found if edit is None else edit.paths(found, apart)

    def _array(self, path: str) -> Array:
        edit = getattr(self, "_edit", None)
        if edit is None or not edit.pending:
            found = self._array_named(path)
        else:
            found = self._find(path) if path in self._paths(False) else None
        if found is None:
            raise KeyError(path)
        assert isinstance(found, Array)
        return found

    def __getitem__(self, path: str) -> Any:
        root = self._tree()
        found = root._get(path) if isinstance(root, Map) and path != "" else None
        if found is not None:
            return found[0]
        value = self._find(path)
        if value is None:
            raise KeyError(path)
        return value

    def __iter__(self) -> Iterator[Any]:
        root = self._tree()
        yield from root if isinstance(root, Map) else ()
        yield from self._paths(True)

    def __len__(self) -> int:
        root = self._tree()
        return (len(root) if isinstance(root, Map) else 0) + len(self._paths(True))

    def items(self) -> _Items:
        return _Items(self)

    def values(self) -> _Values:
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

    # --- what it is

    @property
    def format(self) -> str:
        return self._info()[0]

    @property
    def version(self) -> str:
        """The version of the format."""
        return self._info()[1]

    @property
    def nbytes(self) -> int:
        """Bytes of the file."""
        return self._info()[2]

    @property
    def facts(self) -> dict[str, str]:
        """What the command `cippus info` says of it."""
        return dict(self._info()[3])

    @property
    def findings(self) -> list[Finding]:
        """What was tolerated while opening and reading so far."""
        return [Finding.of(*row) for row in self._info()[4]]

    @property
    def writable(self) -> bool:
        return getattr(self, "_edit", None) is not None

    def __repr__(self) -> str:
        if self.closed:
            return f"<closed cippus.File {self.path!r}>"
        return f"<cippus.File {self.path!r} {self.format} {self.version}: {len(self._paths(False))} arrays>"

    def _repr_html_(self) -> str:
        return "".join(array._repr_html_() for array in list(self.arrays.values())[:20])

    def __reduce__(self) -> Any:
        raise TypeError("open files cannot be pickled")

    # --- changing

    def _changes(self) -> _write.Edit:
        if self.closed:
            raise ValueError("I/O operation on closed file")
        edit: Optional[_write.Edit] = getattr(self, "_edit", None)
        if edit is None:
            raise ValueError("assignment destination is read-only: the file is open as 'r'")
        return edit

    def __setitem__(self, path: str, value: Any) -> None:
        self._changes()[path] = value

    def __delitem__(self, path: str) -> None:
        self._changes().remove(path)

    def put(self, path: str, value: Any, **options: Any) -> None:
        """As `f[path] = value`, with the array's `chunks`, `codec`, `storage` and `options`."""
        self._changes().put(path, value, **options)

    def move(self, source: str, target: str, *, replace: bool = False) -> None:
        """Gives what is at `source` the path `target`."""
        self._changes().move(source, target, replace)

    def _write_array(self, array: Array, key: Any, value: Any, orthogonal: bool = False) -> None:
        self._changes().write(array, key, value, orthogonal)

    def _append_array(self, array: Array, rows: Any) -> None:
        self._changes().append(array, rows)

    def _resize_array(self, array: Array, shape: Any) -> None:
        self._changes().resize(array, shape)

    def commit(self) -> None:
        """Makes the changes so far, all or none, and shows the file as it is then."""
        self._changes().commit()

    def getvalue(self) -> bytes:
        """The bytes of a file that was opened as "r+" from bytes or a file-like, as they are after the last commit."""
        store: Optional[_sink.Store] = getattr(self, "_store", None)
        if store is None:
            raise ValueError("the file lies at a path, or is open as 'r'")
        return store.getvalue()

    def rollback(self) -> None:
        """Drops the changes since the last commit."""
        self._changes().abort()

    def close(self) -> None:
        edit = getattr(self, "_edit", None)
        try:
            if edit is not None and not self.closed:
                edit.commit()
        finally:
            if edit is not None:
                edit.abort()
            super().close()

    def __enter__(self) -> File:
        if self.closed:
            raise ValueError("I/O operation on closed file")
        return self

    def __exit__(self, kind: Any, *rest: Any) -> None:
        if kind is not None and getattr(self, "_edit", None) is not None:
            self._changes().drop()
        self.close()


def _source(file: Any, storage_options: Optional[dict[str, Any]]) -> tuple[int, Any, Any]:
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
        raise TypeError(f"expected a path, bytes or a file-like, not {type(file).__name__}") from None


def _store_of(kind: int, source: Any) -> _sink.Store:
    """What "r+" changes: a file-like in place, of bytes a copy of them."""
    if kind == 2 and not isinstance(source, _fs.Reader):
        raise ValueError("'r+' needs a path, bytes or a file-like that writes")
    return _sink.Store(io.BytesIO(source) if kind == 1 else source._file)


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
    offset: int = 0,
    storage_options: Optional[dict[str, Any]] = None,
    **create: Any,
) -> Any:
    """Opens a path, a URL that fsspec knows (with its `storage_options`), the bytes of a file, or a file-like that seeks.
    Modes: "r"; "r+" to change it (of bytes a copy, see getvalue()); "w" and "x" write a new one (see create()). `check` compares data with the checksums that the file stores; `threads` 1 uses the caller alone."""
    if mode in ("w", "x"):
        return _write.create(file, format=format, overwrite=mode == "w", threads=threads, **create)
    if mode not in ("r", "r+"):
        raise ValueError(f"invalid mode: {mode!r}; there are 'r', 'r+', 'w', 'x'")
    if create:
        raise TypeError(f"open() got an unexpected keyword argument {next(iter(create))!r}")
    kind, source, name = _source(file, storage_options)
    if mode == "r+" and kind != 0:
        source = _store_of(kind, source)
        kind = 2
    checked = 0 if check is None else 1 if check else 2
    opened = _cippus.open(
        kind, source, name, format, threads, checked, allow_external, force, sidecar, offset
    )
    if isinstance(source, _fs.Remote):
        opened._state = source.state
    if mode == "r+":
        opened._edit = _write.Edit(opened)
        opened._store = source if kind == 2 else None
    return opened
