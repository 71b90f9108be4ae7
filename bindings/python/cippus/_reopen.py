# SPDX-License-Identifier: BSD-3-Clause
"""Files that lazy arrays open where they are read, in whatever process, and never in another state than they were made of."""
from __future__ import annotations

import collections
import os
import threading
import weakref
from collections.abc import Iterator
from typing import Any, Optional

from . import _errors, _fs, _opening


def _stat(path: str) -> tuple[int, int, int]:
    s = os.stat(path)
    return s.st_ino, s.st_size, s.st_mtime_ns


def _walk(path: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(entry.path)
            elif not entry.name.startswith("."):
                yield entry


def state_of(path: str) -> tuple[Any, ...]:
    """Tells one content of a file, or of a folder with all that is in it, from another one."""
    if not os.path.isdir(path):
        return _stat(path)
    return (_stat(path)[0], *sorted((entry.path[len(path) :], *_stat(entry.path)) for entry in _walk(path)))


_open_files: weakref.WeakValueDictionary[Any, Any] = weakref.WeakValueDictionary()
_far_files: collections.deque[Any] = collections.deque(maxlen=16)  # stay open for a while: opening takes requests
_open_lock = threading.Lock()


def opened(path: str, state: Optional[tuple[Any, ...]], options: tuple[tuple[str, Any], ...]) -> Any:
    """The file, which is open as long as anybody reads it: tasks that run at a time share it, and afterwards it is in nobody's way.
    A remote one tells its state, which may be asked for by None."""
    key = (os.getpid(), path, state, repr(options))
    with _open_lock:
        file = _open_files.get(key)
    if file is None:  # two may open it at a time
        file = _opening.open(path, **dict(options))
        if _fs.is_url(path):
            if state is not None and file._state != state:
                raise changed(path)
            key = (*key[:2], file._state, key[3])
        with _open_lock:
            file = _open_files.setdefault(key, file)
            if _fs.is_url(path):
                _far_files.append(file)
    return file


def changed(path: str) -> _errors.Error:
    return _errors._again(_errors.BusyError, "the file has changed since it was opened: open it again", "", None, path)


class Lazy:
    """A file by its path or URL, which can be pickled and is opened again where it is read."""

    def __init__(self, path: str, options: dict[str, Any]):
        found = _fs.locate(path, options.get("storage_options"))
        local = path if found is None else _fs.local_path(*found)
        self.path = path if local is None else os.path.abspath(local)
        self.options = tuple(sorted((k, v) for k, v in options.items() if local is None or k != "storage_options"))
        self._pid = os.getpid()
        if local is None:
            self._held = opened(path, None, self.options)
            self.state: tuple[Any, ...] = self._held._state
        else:
            self.state = state_of(self.path)
            self._held = opened(self.path, self.state, self.options)
            self.check()

    def check(self) -> None:
        """That it is what it was. A remote file looks after that itself."""
        if not _fs.is_url(self.path) and state_of(self.path) != self.state:
            raise changed(self.path)

    def file(self) -> Any:
        file = self._held
        if file is None or self._pid != os.getpid():
            file = opened(self.path, self.state, self.options)
            self.check()
            self._held, self._pid = file, os.getpid()
        return file

    def release(self) -> None:
        self._held = None

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "options": self.options, "state": self.state, "_held": None, "_pid": 0}


class Given:
    """A file that was opened from bytes or a file-like: there is nothing to open elsewhere."""

    path = ""

    def __init__(self, file: Any, owned: bool):
        self._file, self._owned = file, owned

    def file(self) -> Any:
        return self._file

    def check(self) -> None:
        pass

    def release(self) -> None:
        if self._owned:
            self._file.close()

    def __reduce__(self) -> Any:
        raise TypeError("what was opened from bytes or a file-like cannot be pickled; a path or URL can")
