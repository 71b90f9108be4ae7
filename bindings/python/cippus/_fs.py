# SPDX-License-Identifier: BSD-3-Clause
"""What bytes are read from that is no path: file-likes, and whatever fsspec has a filesystem for."""
from __future__ import annotations

import io
import os
import pickle
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Optional

from . import _errors

Ranges = Sequence[tuple[int, memoryview]]

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(::[A-Za-z][A-Za-z0-9+.-]*)*://")
_STATE = ("etag", "versionid", "version_id", "generation", "md5hash", "content-md5", "last-modified", "lastmodified",
          "last_modified", "mtime", "modified", "updated", "created", "crc")  # fmt: skip
PIECE = 16 << 20  # of one request: more is asked for side by side
AT_ONCE = 64 << 20  # of all requests of one call
HEAD, TAIL = 64 << 10, 16 << 10  # kept from the first read on: what opening needs lies there


class Reader:
    """Positional reads of a file-like, one at a time."""

    has_members = False

    def __init__(self, file: Any):
        self._file = file
        self._lock = threading.Lock()
        self.nbytes = file.seek(0, io.SEEK_END)
        if self.nbytes is None:
            self.nbytes = file.tell()

    def read_ranges(self, ranges: Ranges) -> None:
        with self._lock:
            for offset, into in ranges:
                self._read(offset, into)

    def _read(self, offset: int, into: memoryview) -> None:
        done = 0
        self._file.seek(offset)
        while done < len(into):
            part = self._file.read(len(into) - done)
            if not part:
                raise EOFError(f"expected {len(into)} bytes at {offset}, found {done}")
            into[done : done + len(part)] = part
            done += len(part)


def is_url(file: Any) -> bool:
    return isinstance(file, str) and _URL.match(file) is not None


def locate(file: Any, options: Optional[dict[str, Any]]) -> Optional[tuple[Any, str]]:
    """The filesystem and the path there of a URL, or of a file of fsspec's; None of what is neither."""
    if is_url(file):
        try:
            from fsspec import core  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            raise ImportError(f"{file!r} is opened by fsspec, which is not installed: pip install fsspec") from None
        fs, path = core.url_to_fs(file, **(options or {}))
        return fs, path
    if options:
        raise ValueError("storage_options belong to URLs")
    fs, path = getattr(file, "fs", None), getattr(file, "path", None)
    if isinstance(file, os.PathLike) or not hasattr(fs, "cat_ranges") or not isinstance(path, str):
        return None
    if getattr(file, "compression", None) or not set(getattr(file, "mode", None) or "rb") <= set("rb"):
        return None
    return fs, path


def local_path(fs: Any, path: str) -> Optional[str]:
    """The path on this machine, if it is one."""
    return path if "file" in _protocols(fs) else None


def _protocols(fs: Any) -> tuple[str, ...]:
    return (fs.protocol,) if isinstance(fs.protocol, str) else tuple(fs.protocol)


def _is_archive(fs: Any) -> bool:
    """Where a read at a position may mean decoding from the start: its files are kept open."""
    archive = sys.modules.get("fsspec.archive")
    return archive is not None and isinstance(fs, archive.AbstractArchiveFileSystem)


def _state(info: dict[str, Any]) -> dict[str, Any]:
    """What tells that a file is another one."""
    return {k.lower(): v for k, v in info.items() if k.lower() in (*_STATE, "size") and v is not None}


def _pieces(ranges: Ranges) -> Iterator[list[tuple[int, memoryview]]]:
    """The ranges in calls of not too many bytes each."""
    call: list[tuple[int, memoryview]] = []
    room = AT_ONCE
    for offset, into in ranges:
        for at in range(0, len(into), PIECE):
            piece = into[at : at + PIECE]
            if call and len(piece) > room:
                yield call
                call, room = [], AT_ONCE
            call.append((offset + at, piece))
            room -= len(piece)
    if call:
        yield call


def _take(ends: Sequence[tuple[int, bytearray]], at: int, into: memoryview) -> bool:
    for start, kept in ends:
        if start <= at and at + len(into) <= start + len(kept):
            into[:] = memoryview(kept)[at - start : at - start + len(into)]
            return True
    return False


class Remote:
    """A file or folder of a filesystem of fsspec. Each answer is of the file that was opened: of another one since
    then (its size, entity tag or time differs) it is refused as BUSY."""

    def __init__(self, fs: Any, path: str, name: str, info: Optional[dict[str, Any]] = None):
        self._fs, self._pid, self._path, self._name = fs, os.getpid(), path, name
        self._lock = threading.Lock()
        self._file: Optional[Reader] = None
        self._is_http = bool({"http", "https"} & set(_protocols(fs)))
        self._ends: Optional[list[tuple[int, bytearray]]] = None
        self._listings: dict[str, dict[str, dict[str, Any]]] = {}
        info = self._info() if info is None else info
        self.is_folder = info.get("type") == "directory"
        self.nbytes = self._size_of(info)
        self.has_members = self.is_folder or self.nbytes != 0
        self._known = _state(info)
        self._headers = self._conditions(info)
        if _is_archive(fs) and not self.is_folder:
            self._file = Reader(fs.open(path, "rb"))

    @property
    def state(self) -> tuple[Any, ...]:
        return tuple(sorted((k, str(v)) for k, v in self._known.items()))

    def _size_of(self, info: dict[str, Any]) -> int:
        if self.is_folder:
            return 0
        if info.get("size") is None or info.get("partial") is False:
            why = "its size is not known" if info.get("size") is None else "the server does not support range requests"
            raise self._error(_errors.UnsupportedError, f"{why}: try 'simplecache::{self._name}'")
        return int(info["size"])

    def _conditions(self, info: dict[str, Any]) -> Optional[dict[str, str]]:
        """Headers by which a server of HTTP itself refuses ranges of another file; None where it cannot."""
        condition = {}
        if self._is_http and info.get("ETag", "").startswith('"'):  # not a weak one
            condition = {"If-Match": info["ETag"]}
        elif self._is_http and "Last-Modified" in info:
            condition = {"If-Unmodified-Since": info["Last-Modified"]}
        return {**(self._fs.kwargs.get("headers") or {}), **condition} if condition else None

    # --- what the extension calls

    def read_ranges(self, ranges: Ranges) -> None:
        if self._file is not None:
            self._try(self._file.read_ranges, ranges)
            return
        with self._lock:
            first, ends = self._ends is None, self._ends or self._read_ends()
            self._ends = ends
        left = [(at, into) for at, into in ranges if not _take(ends, at, into)]
        for call in _pieces(left):
            self._read(call)
        if self._headers is None and (left or first):
            self._check()

    def member(self, name: str) -> Remote:
        if self._is_http:
            from urllib.parse import quote

            return Remote(self._filesystem(), self._beside(quote(name)), f"{self._name}: {name}")
        path, info = self._beside(name), None
        if self.is_folder:  # one request for all of them
            folder, _, last = path.rpartition("/")
            info = self._listing(folder).get(last)
            if info is None:
                raise self._error(_errors.FileMissingError, f"there is no {name!r}")
        return Remote(self._filesystem(), path, f"{self._name}: {name}", info)

    def names(self, path: str) -> list[tuple[str, bool]]:
        found = self._listing(self._beside(path) if path else self._beside("").rstrip("/"))
        return [(name, info.get("type") == "directory") for name, info in found.items()]

    # --- beneath

    def _read_ends(self) -> list[tuple[int, bytearray]]:
        """The first and the last bytes, asked for together; all of a small file."""
        whole = self.nbytes <= HEAD + TAIL
        ends = [(0, self.nbytes)] if whole else [(0, HEAD), (self.nbytes - TAIL, TAIL)]
        found = [(at, bytearray(n)) for at, n in ends]
        self._read([(at, memoryview(kept)) for at, kept in found])
        return found

    def _beside(self, name: str) -> str:
        folder = self._path.rstrip("/") if self.is_folder else self._path.partition("?")[0].rpartition("/")[0]
        return f"{folder}/{name}"

    def _listing(self, folder: str) -> dict[str, dict[str, Any]]:
        with self._lock:
            if folder not in self._listings:
                rows = self._try(self._filesystem().ls, folder, detail=True)
                self._listings[folder] = {row["name"].rstrip("/").rpartition("/")[2]: row for row in rows}
            return self._listings[folder]

    def _filesystem(self) -> Any:
        """The one of this process: those with an event loop do not outlive a fork."""
        if self._pid != os.getpid():
            self._fs, self._pid = pickle.loads(pickle.dumps(self._fs)), os.getpid()
        return self._fs

    def _info(self) -> dict[str, Any]:
        fs = self._filesystem()
        if self._is_http and self._path.endswith("/"):
            return {"type": "directory"}
        fs.invalidate_cache(self._path)  # listings of earlier times
        return dict(self._try(fs.info, self._path))

    def _check(self) -> None:
        now = _state(self._info())
        for key, was in self._known.items():  # a listing may say the same in another type
            if type(now.get(key)) is type(was) and now[key] != was:
                self._changed(f"its {key} is {now[key]} now, not {was}")

    def _changed(self, why: str) -> None:
        raise self._error(_errors.BusyError, f"file changed since open: {why}")

    def _read(self, call: list[tuple[int, memoryview]]) -> None:
        more = {"headers": self._headers} if self._headers else {}
        starts, ends = [at for at, _ in call], [at + len(into) for at, into in call]
        found = self._try(self._filesystem().cat_ranges, [self._path] * len(call), starts, ends, on_error="raise", **more)
        for (at, into), part in zip(call, found):
            if self._is_http and len(part) > len(into):
                text = f"the server does not support range requests (it sent {len(part)} bytes for {len(into)})"
                raise self._error(_errors.UnsupportedError, f"{text}: try 'simplecache::{self._name}'")
            if len(part) != len(into):
                text = f"expected {len(into)} bytes, found {len(part)}: the file is another one now"
                raise self._error(_errors.ReadError, text, at)
            into[:] = part

    def _error(self, kind: type[_errors.Error], text: str, offset: Optional[int] = None) -> _errors.Error:
        return _errors._again(kind, text, "", offset, self._name)

    def _try(self, call: Any, *args: Any, **more: Any) -> Any:
        try:
            return call(*args, **more)
        except _errors.Error:
            raise
        except FileNotFoundError as error:
            raise self._error(_errors.FileMissingError, "there is no such file") from error
        except Exception as error:  # each filesystem has its own
            if getattr(error, "status", None) == 412:  # of the conditions
                self._changed("the server has another one")
            raise self._error(_errors.ReadError, f"{type(error).__name__}: {error}") from error
