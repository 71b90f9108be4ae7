# SPDX-License-Identifier: BSD-3-Clause
"""New files, and changes of files that are there."""
from __future__ import annotations

import contextlib
import math
import os
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, Optional, SupportsIndex

import numpy as np

from . import _assign, _cippus, _fs, _value
from ._array import Array
from ._errors import Error, UnsupportedError, _again
from ._mask import missing
from ._options import Chunks
from ._sink import Sink
from ._tree import Map, Seq, escape
from ._value import chunks_of, data_of, is_array, packed
from ._words import keywords
from ._yaml import flow


def _plain(path: str) -> str:
    """As arrays are listed: without the slash that a path may begin with."""
    return path[1:] if path.startswith("/") else path


def options_of(options: Optional[Mapping[str, Any]]) -> Optional[tuple[bytes, ...]]:
    """Options that only a format has, as "KEY=VALUE"."""
    if options is None:
        return None
    return tuple(f"{k}={v}".encode() for k, v in options.items())


def _dtype_text(dtype: Any) -> str:
    return str(dtype.descr) if dtype.names else str(dtype.str)


def _lengths(shape: Any) -> tuple[int, ...]:
    return tuple(map(int, shape)) if isinstance(shape, (tuple, list)) else (int(shape),)


def _emptied(value: Any) -> Any:
    """The same with arrays of no elements, where they have axes."""
    if isinstance(value, Mapping):
        return {key: _emptied(part) for key, part in value.items()}
    if not is_array(value):
        return [_emptied(part) for part in value] if _value.has_arrays(value) else value
    if value.ndim == 0 or isinstance(value, np.ndarray) and type(value) not in (np.ndarray, np.ma.MaskedArray):
        return value
    made = np.ma.empty if isinstance(value, np.ma.MaskedArray) or isinstance(value, Array) and value.is_masked else np.empty
    return made((0, *value.shape[1:]), value.dtype)


class Slab:
    """An array of a new file that is filled part by part: `slab[0:100] = rows`. Fill each element once; elements that are not
    filled are 0. Several threads may fill different parts at the same time. See Writer.declare()."""

    def __init__(self, slab: _cippus.Slab, shape: tuple[int, ...], dtype: Any):
        self._slab = slab
        self.shape = shape
        """The shape of the whole array."""
        self.dtype = dtype
        """The dtype of the elements."""

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Fill a part, by integers and slices without steps. Values are broadcast and cast as NumPy does."""
        start, stop = self._box(key)
        shape = _assign.dummy(self.shape)[key].shape
        if missing(value):
            raise TypeError("slabs have no masks: fill the missing elements first, or put() the whole array")
        data = np.asarray(value)
        if data.shape != shape or data.dtype != self.dtype or not data.flags.c_contiguous:
            data = np.ascontiguousarray(_assign.filled(shape, self.dtype, data))
        self._slab.write(start, stop, _assign.as_bytes(data))

    def _box(self, key: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
        items = key if isinstance(key, tuple) else (key,)
        if not _assign.is_basic(items) or any(i is None for i in items):
            raise IndexError("a part of a slab is selected by integers and slices")
        _assign.dummy(self.shape)[key]  # numpy's exceptions
        rest = self.ndim - sum(i is not Ellipsis for i in items)
        at = next((n for n, i in enumerate(items) if i is Ellipsis), len(items))
        start, stop = [], []
        for item, n in zip((*items[:at], *[slice(None)] * rest, *items[at + 1 :]), self.shape):
            if isinstance(item, slice):
                first, last, step = item.indices(n)
                if step != 1:
                    raise IndexError("a part of a slab is selected by slices without steps")
            else:
                first = int(item) % n
                last = first + 1
            start.append(first)
            stop.append(max(first, last))
        return tuple(start), tuple(stop)

    def __repr__(self) -> str:
        return f"<cippus.Slab shape={self.shape} dtype={self.dtype}>"


class _Target:
    """Where a tree and arrays go to: a path names each."""

    _change: _cippus.Change
    _torn: Optional[BaseException] = None  # what a value was put halfway for
    _done = 0  # calls that set or put something

    def _begin(self) -> _cippus.Change:
        raise NotImplementedError

    @property
    def _version(self) -> str:
        """Of ASDF's standard, for tags."""
        raise NotImplementedError

    def __setitem__(self, path: str, value: Any) -> None:
        self.put(path, value)

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
        """As `w[path] = value`, with a say in how an array is stored. `value` is an array, a number, a str, None, a date, or a
        mapping or list of these; the keywords then apply to all arrays in it.

        `chunks`: the shape of a chunk. `codec`: "lz4", "zlib:9", "none", ... `storage`: "internal", "inline", "external" or
        "streamed". `options`: a mapping of options that only this format has."""
        if not isinstance(path, str):
            raise TypeError(f"paths are strings, not {type(path).__name__}")
        value = _value.as_quantity(value, self._version)
        if is_array(value):
            data, mask = data_of(value)
            chunk = chunks_of(chunks, data.ndim)
            self._begin().put(
                path, _dtype_text(data.dtype), data.dtype.itemsize, data.shape, data, mask, codec, storage, chunk, options_of(options)
            )
            self._note(path)
            self._done += 1
        elif not _value.has_arrays(value):
            plain = type(value) is str and "\0" not in value
            self._begin().set(path, value if plain else flow(value), not plain)
            self._done += 1
        else:
            self._put_whole(path, value, {"chunks": chunks, "codec": codec, "storage": storage, "options": options})

    def _put_parts(self, path: str, value: Any, same: dict[str, Any]) -> None:
        first, parts = _value.parts(value)
        if path or first != "{}":
            self._begin().set(path, first, True)
            self._done += 1
        for step, part in parts:
            part, below = _value.as_quantity(part, self._version), f"{path}/{step}" if path else step
            if _value.has_arrays(part) and not is_array(part):
                self._put_parts(below, part, same)
            else:
                _Target.put(self, below, part, **same)

    def _put_whole(self, path: str, value: Any, same: dict[str, Any]) -> None:
        """All of its parts, or none."""
        raise NotImplementedError

    def _note(self, path: str) -> None:
        """An array came to `path`."""

    @keywords
    def declare(
        self,
        path: str,
        shape: SupportsIndex | tuple[int, ...],
        dtype: Any,
        *,
        chunks: Chunks = None,
        codec: Optional[str] = None,
        storage: Optional[str] = None,
        options: Optional[Mapping[str, Any]] = None,
    ) -> Slab:
        """Add an array that is filled later, part by part, and never has to be in memory as a whole. Keywords: see put()."""
        dtype = packed(np.dtype(dtype))
        lengths = _lengths(shape)
        chunk = chunks_of(chunks, len(lengths))
        return Slab(
            self._begin().declare(path, _dtype_text(dtype), lengths, codec, storage, chunk, options_of(options)), lengths, dtype
        )

    def update(self, tree: Mapping[str, Any]) -> None:
        """Put each value of a mapping under its key. A key is a name here, not a path."""
        for key, value in tree.items():
            if not isinstance(key, str):
                raise TypeError(f"keys are strings, not {type(key).__name__}")
            self.put(escape(key), value)


class Writer(_Target):
    """A new file that is being written: `w["a/b"] = value`. The file appears when commit(), close() or the `with` block ends; on
    an exception, or by abort(), nothing is left. See create()."""

    def __init__(self, path: Any, **options: Any):
        self.path = path
        """The path of the file, what it is written to, or None in memory."""
        self._asked = options.get("version")
        self._options = options
        self._change = _cippus.create(path, **options)

    def _begin(self) -> _cippus.Change:
        return self._change

    @property
    def _version(self) -> str:
        return self._asked or "1.6.0"

    def _put_whole(self, path: str, value: Any, same: dict[str, Any]) -> None:
        if same["storage"] != "external":
            self._rehearse(path, value, same)
        done = self._done
        try:
            self._put_parts(path, value, same)
        except BaseException as error:
            if self._done != done:
                self._torn = error
            raise

    def _rehearse(self, path: str, value: Any, same: dict[str, Any]) -> None:
        """Into a file in memory, without the elements of arrays: what is refused there leaves no trace here."""
        name = self._options.get("format")
        if name is None:
            path = os.fsdecode(getattr(self.path, "name", None) or self.path)
            name = os.path.splitext(path)[1][1:].lower()
        like = {k: v for k, v in self._options.items() if k not in ("overwrite", "sync", "threads")}
        try:
            w = Writer(None, **{**like, "format": name})
        except (Error, TypeError):  # a format that is not written into memory
            return
        try:
            w._put_parts(path, _emptied(value), same)
        finally:
            w.abort()

    def commit(self) -> None:
        """Complete the file."""
        if self._torn is not None:
            raise ValueError("a value was put halfway, so there is nothing to commit") from self._torn
        self._change.commit()

    def abort(self) -> None:
        """Give the file up; nothing is left of it."""
        self._change.abort()

    def close(self) -> None:
        """Complete the file, unless commit() or abort() ended it before."""
        if self._change.open:
            self.commit()

    @property
    def closed(self) -> bool:
        """Whether the file is complete, or was given up."""
        return not self._change.open

    def getvalue(self) -> bytes:
        """The bytes of a complete file that was created in memory."""
        found = self._change.bytes()
        if found is None:
            raise ValueError("there are no bytes: the file is not in memory, or not complete")
        if not found:
            raise ValueError("the format's files are folders, which have no bytes of their own: create it at a path")
        return found

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: Any, *rest: Any) -> None:
        if kind is not None:
            self._change.abort()
        else:
            self.close()

    def __repr__(self) -> str:
        return f"<{'closed ' if self.closed else ''}cippus.Writer {self.path!r}>"


class Edit(_Target):
    """The changes of an open file that are not committed yet."""

    def __init__(self, file: Any):
        self._file = file
        self._open: Optional[_cippus.Change] = None
        self._came: dict[str, None] = {}  # paths to which arrays were put or moved
        self._dropped = False  # given up, also where that could not be done at once

    def __del__(self) -> None:  # files that are only read have none: Python drops a Ctrl-C that comes within one
        if self.pending and not self._file.closed:
            warnings.warn(f"changes of {self._file.path!r} were never committed", ResourceWarning, stacklevel=2)

    @property
    def _version(self) -> str:
        return str(self._file.version)

    @property
    def pending(self) -> bool:
        return self._open is not None

    def _begin(self) -> _cippus.Change:
        if self._open is None:
            self._open = _cippus.edit(self._file)
        return self._open

    def paths(self, found: list[str], apart: bool) -> list[str]:
        """Of arrays, as the changes so far have them, from those of the file as it was."""
        if self._open is None:
            return found
        has = self._open.has
        now = dict.fromkeys(path for path in found if has(path))
        now.update(dict.fromkeys(path for path in self._came if has(path) and not (apart and self._in_tree(path))))
        return list(now)

    def _in_tree(self, path: str) -> bool:
        root = self._file.tree
        try:
            return isinstance(root, (Map, Seq)) and root._step(path) is not None
        except Error:  # it cannot be looked at before the commit
            return True

    def put(self, path: str, value: Any, **options: Any) -> None:
        """Replaces what is there: an array takes new elements where dtype and shape are the same."""
        value = _value.as_quantity(value, self._version)
        there = self._file._find(path) if is_array(value) else None
        if isinstance(there, Array) and there._field_name is not None:
            asked = [name for name, v in options.items() if v is not None]
            if asked:
                raise _again(
                    UnsupportedError, f"a field is stored with its records: {asked[0]} applies to whole arrays", path, None, self._file.path
                )
            self.write(there, ..., value)
            return
        if isinstance(there, Array) and _plain(path) not in self._came and not any(v is not None for v in options.values()):
            data, mask = data_of(value)
            if mask is None and not there.is_masked and there.dtype == data.dtype and there.shape == data.shape:
                self._begin().write(path, "", data)
                return
        super().put(path, value, **options)

    def _put_whole(self, path: str, value: Any, same: dict[str, Any]) -> None:
        value = _value.taken(value, self._file)
        with self.step():
            self._put_parts(path, value, same)

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        change, came = self._begin(), dict(self._came)
        mark = change.mark()
        try:
            yield
        except BaseException:
            if self._open is change:  # it was not committed or dropped within
                change.undo(mark)
                change.release(mark)
                self._came = came
            raise
        if self._open is change:
            change.release(mark)

    def _note(self, path: str) -> None:
        self._came[_plain(path)] = None

    def write(self, array: Array, key: Any, value: Any, orthogonal: bool = False) -> None:
        if isinstance(key, str):
            self.write(array[key], ..., value)
            return
        if isinstance(key, list) and key and all(isinstance(name, str) for name in key):
            whole = _assign.filled(array.shape, array.dtype[key], value)
            for name in key:
                self.write(array[name], ..., whole[name])
            return
        self._check_missing(array, key, orthogonal)
        to = _assign.Target(array, self._begin)
        if not orthogonal and _assign.is_basic(key) and self._comes_as_stored(value, to.dtype):
            self._begin().write_array(to.path, _assign.selection(_assign.items_of(key), to.shape), value)
            return
        if isinstance(value, Array):
            value = value.read()
        if missing(value):
            self._write_masked(to, key, value, orthogonal)
        else:
            (_assign.assign_orthogonal if orthogonal else _assign.assign)(to, key, value)

    def _check_missing(self, array: Array, key: Any, orthogonal: bool) -> None:
        """Where a mask is an array of its own, what it hides stays hidden, whatever is assigned."""
        node = array.node if array.is_masked else None
        if node is None or not isinstance(node.get("mask"), (Map, Array)):
            return
        hidden = missing(array.oindex[key] if orthogonal else array[key])
        if hidden:
            raise ValueError(f"{hidden} of these elements of {array.path!r} are missing by its mask, which an assignment does not change")

    def _write_masked(self, to: _assign.Target, key: Any, value: Any, orthogonal: bool) -> None:
        """Missing elements become what the array has in their place; the library knows what that is."""
        if orthogonal or not _assign.is_basic(key):
            raise TypeError("masked elements are assigned by integers and slices only")
        chosen = np.ma.empty(_assign.dummy(to.shape)[key].shape, to.dtype)
        chosen[...] = value
        self._write_missing(to.path, _assign.selection(_assign.items_of(key), to.shape), chosen)

    def _write_missing(self, path: str, selection: Optional[str], value: Any) -> None:
        with create(format="asdf") as w:
            w["x"] = value
        from ._file import open

        with open(w.getvalue()) as file:
            self._begin().write_array(path, selection, file["x"])

    def _comes_as_stored(self, value: Any, dtype: Any) -> bool:
        """Whether it is an array of another file whose chunks may go over as they are."""
        return (
            isinstance(value, Array)
            and value.file is not self._file
            and value._field_name is None
            and value.dtype == dtype
            and not value.is_masked
        )

    def append(self, array: Array, rows: Any) -> None:
        if self._comes_as_stored(rows, array.dtype) and rows.shape[1:] == array.shape[1:] and rows.ndim == array.ndim:
            self._begin().write_array(array.path, None, rows)
            return
        if isinstance(rows, Array):
            rows = rows.read()
        elif isinstance(rows, (list, tuple)):
            rows = np.array(rows, array.dtype)  # which refuses what it does not hold, as an assignment does
        found = np.shape(rows)
        shape = (1, *found) if len(found) == array.ndim - 1 else found
        if len(shape) != array.ndim or shape[1:] != array.shape[1:]:
            raise ValueError(f"could not append rows of shape {found} to an array of shape {array.shape}")
        if missing(rows):
            self._write_missing(array.path, None, rows.reshape(shape).astype(array.dtype))
        elif math.prod(shape[1:]) * array.itemsize == 0:  # bytes do not tell how many rows these are
            self.resize(array, (array.shape[0] + shape[0], *shape[1:]))
        else:
            self._begin().write(array.path, None, _assign.as_bytes(_assign.filled(shape, array.dtype, rows)))

    def resize(self, array: Array, shape: Any) -> None:
        self._begin().resize(array.path, _lengths(shape))

    def remove(self, path: str) -> None:
        try:
            self._file[path]
        except UnsupportedError:  # it is there, though it cannot be read before the commit
            pass
        self._begin().remove(path)

    def move(self, source: str, target: str, replace: bool) -> None:
        self._begin()
        was, now = _plain(source), _plain(target)
        moved = [path for path in self._file._paths(False) if path == was or path.startswith(f"{was}/")]
        self._begin().move(source, target, replace)
        self._came.update(dict.fromkeys(now + path[len(was) :] for path in moved))

    def commit(self) -> None:
        change = self._open
        if self._dropped:
            self.abort()
        elif change is not None:
            try:
                change.commit()
            finally:
                if not change.open:
                    self._end()

    def abort(self) -> None:
        if self._open is not None:
            self._open.abort()
        self._end()

    def drop(self) -> None:
        """As abort(); where a reading thread keeps that from being done now, nothing is committed later either."""
        self._dropped = True
        self.abort()

    def _end(self) -> None:
        self._open = None
        self._dropped = False
        self._came.clear()


@keywords
def create(
    path: Any = None,
    *,
    format: Optional[str] = None,
    overwrite: bool = False,
    version: Optional[str] = None,
    codec: Optional[str] = None,
    byteorder: Optional[str] = None,
    checksum: Optional[str] = None,
    accept_loss: bool = False,
    sync: bool = True,
    threads: int = 0,
    options: Optional[Mapping[str, Any]] = None,
) -> Writer:
    """Write a new file. `path` is a path (str or os.PathLike), a file object that writes, or None for a file in memory (see
    Writer.getvalue()). The file appears when the `with` block ends; on error nothing is left.

    `format`: "asdf", "blosc2", ... (default: by the name of the file). `overwrite`: replace a file that exists. `version`: of the
    format, such as "1.5.0". `codec`: of all arrays, such as "zstd:3". `byteorder`: "little" or "big". `checksum`: "md5", "none",
    ... `accept_loss`: leave out what the format cannot hold, instead of an error. `sync=False`: do not wait for the disk, so
    that a power failure may lose the file. `threads`: 0 for one per core. `options`: a mapping of options that only this format
    has."""
    if path is None and format is None:
        raise TypeError("create() in memory needs a format")
    found = _fs.locate(path, None) if _fs.is_url(path) else None
    if found is not None and (path := _fs.local_path(*found)) is None:
        raise ValueError("URLs are opened for reading; open it for writing by fsspec, and create the file in what that gives")
    if hasattr(path, "write") and not isinstance(path, (str, os.PathLike)):
        path = Sink(path)
    return Writer(
        path, format=format, overwrite=overwrite, version=version, codec=codec, byteorder=byteorder, checksum=checksum,
        accept_loss=accept_loss, sync=sync, threads=threads, options=options_of(options),
    )  # fmt: skip
