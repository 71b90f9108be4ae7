# SPDX-License-Identifier: BSD-3-Clause
"""New files, and changes of files: EditableFile reads and changes either."""
from __future__ import annotations

import contextlib
import math
import os
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, Optional, SupportsIndex

import numpy as np

from . import _assign, _cippus, _fs, _sink, _value
from ._array import Array
from ._errors import ArgumentError, Error, UnsupportedError, _again, no_key
from ._file import File
from ._mask import missing
from ._options import Chunks
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
    """An array that is filled part by part: `slab[0:100] = rows`. Fill each element once; elements that are not
    filled are 0. Several threads may fill different parts at the same time. See EditableFile.declare()."""

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


class EditableFile(File):
    """A file that can be changed: one that is open as "r+", or a new one (a Writer). It reads as a File does, with the changes so
    far. Nothing is written before commit(), which close() and the end of a `with` block call; an exception in the `with` block
    drops the changes, as rollback() does."""

    __slots__ = ("_change", "_came", "_moved", "_done", "_dropped", "_store")
    _change: Optional[_cippus.Change]  # what is being put together
    _came: dict[str, None]  # paths to which arrays were put
    _moved: bool  # whether anything was, or was declared: arrays lie at paths that `_came` does not have
    _done: int  # calls that set or put something
    _dropped: bool  # given up, also where that could not be done at once
    _store: Optional[_sink.Store]

    def _begun(self, store: Optional[_sink.Store], change: Optional[_cippus.Change] = None) -> None:
        self._change, self._came, self._moved, self._done, self._dropped, self._store = change, {}, False, 0, False, store

    def __del__(self) -> None:  # files that are only read have none: Python drops a Ctrl-C that comes within one
        if not self.closed and self._pending:
            warnings.warn(f"changes of {self.path!r} were never committed", ResourceWarning, stacklevel=2)

    # --- reading, as the changes so far have it

    @property
    def _pending(self) -> bool:
        return self._change is not None

    def _array(self, path: str) -> Array:
        if not self._pending:
            return super()._array(path)
        found = self._find(path) if path in self._paths(False) else None
        if found is None:
            raise no_key(path, lambda: self._paths(False), self.path)
        assert isinstance(found, Array)
        return found

    @property
    def writable(self) -> bool:
        """Whether the file can be changed: it is open as "r+", or new."""
        return True

    # --- changing

    def _begin(self) -> _cippus.Change:
        if self.closed:
            raise ValueError("I/O operation on closed file")
        if self._change is None:
            self._change = _cippus.edit(self)
        return self._change

    @property
    def _standard(self) -> str:
        """The version of ASDF's standard, for tags."""
        return str(self.version)

    def __setitem__(self, path: str, value: Any) -> None:
        self.put(path, value)

    def __delitem__(self, path: str) -> None:
        self._begin()
        try:
            self[path]
        except UnsupportedError:  # it is there, though it cannot be read before the commit
            pass
        self._begin().remove(path)

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
        """As `f[path] = value`, with a say in how an array is stored. `value` is an array, a number, a str, None, a date, or a
        mapping or list of these; the keywords then apply to all arrays in it.

        `chunks`: the shape of a chunk. `codec`: "lz4", "zlib:9", "none", ... `storage`: "internal", "inline", "external" or
        "streamed". `options`: a mapping of options that only this format has."""
        self._put(path, value, {"chunks": chunks, "codec": codec, "storage": storage, "options": options})

    def _put(self, path: str, value: Any, how: dict[str, Any]) -> None:
        if not isinstance(path, str):
            raise TypeError(f"paths are strings, not {type(path).__name__}")
        value = _value.as_quantity(value, self._standard)
        if is_array(value):
            seen = self._change is None or self._change.shown
            if not seen or not self._put_in_place(path, value, how):
                self._put_array(path, value, how)
        elif _value.has_arrays(value):
            self._put_whole(path, value, how)
        else:
            self._set(path, value)

    def _set(self, path: str, value: Any) -> None:
        plain = type(value) is str and "\0" not in value
        self._begin().set(path, value if plain else flow(value), not plain)
        self._done += 1

    def _put_array(self, path: str, value: Any, how: dict[str, Any]) -> None:
        data, mask = data_of(value)
        change = self._begin()
        change.put(
            path, _dtype_text(data.dtype), data.dtype.itemsize, data.shape, data, mask,
            how["codec"], how["storage"], chunks_of(how["chunks"], data.ndim), options_of(how["options"]),
        )  # fmt: skip
        if change.shown:
            self._came[_plain(path)] = None
        self._done += 1

    def _put_in_place(self, path: str, value: Any, how: dict[str, Any]) -> bool:
        """As new elements of what is there, where dtype and shape are the same. False: it is another array."""
        there = self._find(path) if self._may_be_there(path) else None
        asked = [name for name, v in how.items() if v is not None]
        if not isinstance(there, Array):
            return False
        if there._field_name is not None:
            if asked:
                raise _again(
                    UnsupportedError, f"a field is stored with its records: {asked[0]} applies to whole arrays", path, None, self.path
                )
            self._write_array(there, ..., value)
            return True
        if asked or there.storage == "external":  # what is in another file is no part of this one's changes
            return False
        data, mask = data_of(value)
        same = mask is None and not there.is_masked and there.dtype == data.dtype and there.shape == data.shape
        if same:
            self._begin().write(path, "", data)
        return same

    def _may_be_there(self, path: str) -> bool:
        """Whether an array can lie at a path. To see that it does, all changes so far are made in the tree, which takes as long as
        the tree is large: arrays that are added one after another need not wait for it."""
        steps = _plain(path).split("/")
        return self._moved or self._had(path) or any("/".join(steps[:n]) in self._came for n in range(1, len(steps) + 1))

    def _put_whole(self, path: str, value: Any, how: dict[str, Any]) -> None:
        """All of its parts, or none."""
        value = _value.taken(value, self)
        with self.step():
            self._put_parts(path, value, how)

    def _put_parts(self, path: str, value: Any, how: dict[str, Any]) -> None:
        first, parts = _value.parts(value)
        if path or first != "{}":
            self._begin().set(path, first, True)
            self._done += 1
        for step, part in parts:
            part, below = _value.as_quantity(part, self._standard), f"{path}/{step}" if path else step
            if not _value.has_arrays(part):
                self._set(below, part)
            else:
                (self._put_array if is_array(part) else self._put_parts)(below, part, how)

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
        """Add an array that is filled later, part by part, and never has to be in memory as a whole. Before the commit
        `f[path]` reads what was filled so far, and refuses (UnsupportedError) what was not. Keywords: see put()."""
        dtype = packed(np.dtype(dtype))
        lengths = _lengths(shape)
        chunk = chunks_of(chunks, len(lengths))
        slab = self._begin().declare(path, _dtype_text(dtype), lengths, codec, storage, chunk, options_of(options))
        self._moved = True
        return Slab(slab, lengths, dtype)

    def update(self, tree: Mapping[str, Any]) -> None:
        """Put each value of a mapping under its key. A key is a name here, not a path."""
        for key, value in tree.items():
            if not isinstance(key, str):
                raise TypeError(f"keys are strings, not {type(key).__name__}")
            self.put(escape(key), value)

    @keywords
    def move(self, source: str, target: str, *, replace: bool = False) -> None:
        """Move a value or an array to the path `target`. `replace=True` replaces what is there."""
        self._begin().move(source, target, replace)
        self._moved = True

    # --- changing arrays

    def _write_array(self, array: Array, key: Any, value: Any, orthogonal: bool = False) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed file")
        if isinstance(key, str):
            self._write_array(array[key], ..., value)
            return
        if isinstance(key, list) and key and all(isinstance(name, str) for name in key):
            whole = _assign.filled(array.shape, array.dtype[key], value)
            for name in key:
                self._write_array(array[name], ..., whole[name])
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
        from ._opening import open

        with open(w.getvalue()) as file:
            self._begin().write_array(path, selection, file["x"])

    def _comes_as_stored(self, value: Any, dtype: Any) -> bool:
        """Whether it is an array of another file whose chunks may go over as they are."""
        return (
            isinstance(value, Array)
            and value.file is not self
            and value._field_name is None
            and value.dtype == dtype
            and not value.is_masked
        )

    def _append_array(self, array: Array, rows: Any) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed file")
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
            self._resize_array(array, (array.shape[0] + shape[0], *shape[1:]))
        else:
            self._begin().write(array.path, None, _assign.as_bytes(_assign.filled(shape, array.dtype, rows)))

    def _resize_array(self, array: Array, shape: Any) -> None:
        self._begin().resize(array.path, _lengths(shape))

    # --- the end

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """A `with` block of changes that are made together: an exception takes back those that were made in it, and no others.
        Steps can contain steps."""
        change, came = self._begin(), dict(self._came)
        mark = change.mark()
        try:
            yield
        except BaseException:
            if self._change is change:  # it was not committed or dropped within
                change.undo(mark)
                change.release(mark)
                self._came = came
            raise
        if self._change is change:
            change.release(mark)

    def commit(self) -> None:
        """Write the changes so far into the file: all of them, or none where it fails."""
        if self.closed:
            raise ValueError("I/O operation on closed file")
        change = self._change
        if self._dropped:
            self._give_up()
        elif change is not None:
            try:
                change.commit()
            finally:
                if not change.open:
                    self._end()

    def rollback(self) -> None:
        """Drop the changes since the last commit."""
        if self.closed:
            raise ValueError("I/O operation on closed file")
        self._give_up()

    def _give_up(self) -> None:
        if self._change is not None:
            self._change.abort()
        self._end()

    def _end(self) -> None:
        self._change = None
        self._dropped = self._moved = False
        self._came.clear()

    def getvalue(self) -> bytes:
        """The bytes after the last commit, of a file that was opened from bytes or a file object."""
        if self._store is None:
            raise ValueError("the file lies at a path: read it from there")
        return self._store.getvalue()

    def close(self) -> None:
        """Commit the changes, and close the file."""
        try:
            if not self.closed:
                self.commit()
        finally:
            self._give_up()
            super().close()

    def __exit__(self, kind: Any, *rest: Any) -> None:
        if kind is not None and not self.closed:
            self._dropped = True  # where a reading thread keeps that from being done now, nothing is committed later either
            self._give_up()
        self.close()


class Writer(EditableFile):
    """A new file that is being written: `w["a/b"] = value`. The file appears when commit(), close() or the `with` block ends; on
    an exception, or by abort(), nothing is left. See create().

    Before that it can be read and changed as a file that is open as "r+": `w["a/b"][2:4] = 0`. Arrays are written as they come
    until the first such look; after it they wait in a temporary file for the end, which takes longer for large ones."""

    __slots__ = ("_made", "_options", "_torn")
    _made: _cippus.Change
    _options: dict[str, Any]
    _torn: Optional[BaseException]  # what a value was put halfway for

    @property
    def _standard(self) -> str:
        return self._options.get("version") or "1.6.0"

    @property
    def _format(self) -> str:
        """By its name, or that of the file."""
        name = self._options.get("format") or os.fsdecode(getattr(self.path, "name", None) or self.path)
        return str(name).rpartition(".")[2].lower()

    def __bool__(self) -> bool:
        return True  # whatever is in it, which only a look would tell

    def _put(self, path: str, value: Any, how: dict[str, Any]) -> None:
        try:
            super()._put(path, value, how)
        except ArgumentError:  # something may be there already, which is replaced where all of it can be seen
            if self._change is None or self._change.shown or self._torn is not None or self._format != "asdf":
                raise
            self._tree()
            super()._put(path, value, how)

    def _put_whole(self, path: str, value: Any, how: dict[str, Any]) -> None:
        if self._begin().shown:
            super()._put_whole(path, value, how)
            return
        if how["storage"] != "external":
            self._rehearse(path, value, how)
        done = self._done
        try:
            self._put_parts(path, value, how)
        except BaseException as error:
            if self._done != done:
                self._torn = error
            raise

    def _rehearse(self, path: str, value: Any, how: dict[str, Any]) -> None:
        """Into a file in memory, without the elements of arrays: what is refused there leaves no trace here."""
        like = {k: v for k, v in self._options.items() if k not in ("overwrite", "sync", "threads")}
        try:
            w = _new(None, {**like, "format": self._format})
        except (Error, TypeError):  # a format that is not written into memory
            return
        try:
            w._put_parts(path, _emptied(value), how)
        finally:
            w.abort()

    def commit(self) -> None:
        """Complete the file."""
        if self._torn is not None and not self.closed:
            self._give_up()
            raise ValueError("a value was put halfway, so there is nothing to commit") from self._torn
        super().commit()

    def abort(self) -> None:
        """Give the file up; nothing is left of it."""
        if not self.closed:
            self._give_up()

    def close(self) -> None:
        """Complete the file, unless commit() or abort() ended it before."""
        if not self.closed:
            self.commit()

    def getvalue(self) -> bytes:
        """The bytes of a complete file that was created in memory."""
        found = self._made.bytes()
        if found is None:
            raise ValueError("there are no bytes: the file is not in memory, or not complete")
        if not found:
            raise ValueError("the format's files are folders, which have no bytes of their own: create it at a path")
        return found

    def __repr__(self) -> str:
        return f"<{'closed ' if self.closed else ''}cippus.Writer {self.path!r}>"

    def _repr_html_(self) -> str:
        from html import escape as text

        return f"<code>{text(repr(self))}</code>"


def _new(path: Any, options: dict[str, Any]) -> Writer:
    w: Writer
    w, change = _cippus.create(Writer, path, **options)
    w._begun(None, change)
    w._made, w._options, w._torn = change, options, None
    return w


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
    Writer.getvalue()). The file appears when the `with` block ends; on error nothing is left. Until then it can be read and changed
    as with open(path, "r+").

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
        path = _sink.Sink(path)
    how = {
        "format": format, "overwrite": overwrite, "version": version, "codec": codec, "byteorder": byteorder, "checksum": checksum,
        "accept_loss": accept_loss, "sync": sync, "threads": threads, "options": options_of(options),
    }  # fmt: skip
    return _new(path, how)
