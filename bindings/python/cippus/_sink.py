# SPDX-License-Identifier: BSD-3-Clause
"""File-likes that files are written to. There are no journals here: what ends the process amid a commit leaves a mixture."""
from __future__ import annotations

import io
import os
from typing import Any, Optional

from . import _fs


class Sink:
    """A new file from a file-like's byte 0 on; one that does not seek gets it in rising order."""

    def __init__(self, file: Any):
        self._file = file
        self._seeks = not hasattr(file, "seekable") or bool(file.seekable())
        self._at: Optional[int] = None if self._seeks else 0
        name = getattr(file, "name", None)
        self.name = os.path.basename(name) if isinstance(name, str) else None

    def write_at(self, offset: int, data: bytes) -> None:
        if self._at != offset:
            self._file.seek(offset)
        self._at = None
        rest = memoryview(data)
        while rest:
            n = self._file.write(rest)
            if n == 0:
                raise OSError(f"expected {len(rest)} bytes to be written at {offset}, found none")
            rest = rest[len(rest) if n is None else n :]
        self._at = offset + len(data)

    def resize(self, nbytes: int) -> None:
        if not self._seeks:
            return
        at, self._at = self._at, None
        try:
            self._file.truncate(nbytes)
        except io.UnsupportedOperation:  # gzip's files, members of a zip: as long as what was written
            if at != nbytes or self._end(at) != nbytes:
                raise
            return
        end = self._end(None)
        if end < nbytes:
            self.write_at(end, bytes(nbytes - end))

    def _end(self, unknown: Optional[int]) -> int:
        try:
            end = self._file.seek(0, os.SEEK_END)
        except (OSError, ValueError):
            if unknown is None:
                raise
            return unknown
        return int(self._file.tell() if end is None else end)

    def sync(self) -> None:
        if hasattr(self._file, "flush"):
            self._file.flush()

    complete = sync

    def __str__(self) -> str:
        return self.name or f"<{type(self._file).__name__}>"


class Store(_fs.Reader):
    """A file-like that is read, and changed in place by commits."""

    writable = True

    def __init__(self, file: Any):
        super().__init__(file)
        self._sink = Sink(file)
        self.version = 0

    def write_at(self, offset: int, data: bytes) -> None:
        with self._lock:
            self._sink._at = None  # reads have moved it
            self._sink.write_at(offset, data)
            self.nbytes = max(self.nbytes, offset + len(data))

    def resize(self, nbytes: int) -> None:
        with self._lock:
            self._sink.resize(nbytes)
            self.nbytes = nbytes

    def sync(self) -> None:
        self._sink.sync()

    def complete(self) -> None:
        self._sink.sync()
        self.version += 1

    def getvalue(self) -> bytes:
        """All bytes as they are now."""
        data = bytearray(self.nbytes)
        self.read_ranges([(0, memoryview(data))])
        return bytes(data)
