# SPDX-License-Identifier: BSD-3-Clause
"""One exception for each status of the library, also below the one that Python programs expect."""
from __future__ import annotations

import re
from typing import Any, Optional

_KEYWORD = re.compile(r"(?<!\S)\.accept_loss\b")  # as C programs spell it


class Error(Exception):
    """What a call of the library ended with: `status` is its name, `text` says what was expected and
    what was found, `path` is the file's (or what it was opened from), `offset` the byte in it, `part` what it happened in."""

    status: str = "error"
    text: str = ""
    path: Any = None
    offset: Optional[int] = None
    part: str = ""

    def __str__(self) -> str:
        known = self.path in (None, "") or f"'{self.path}'" in self.text
        place = [] if known else [str(self.path)]
        place += [self.part] if self.part and self.part != str(self.path) else []
        place += [f"offset {self.offset}"] if self.offset is not None else []
        return ": ".join([", ".join(place), self.text] if place else [self.text])

    def __reduce__(self) -> Any:
        return _again, (type(self), self.text, self.part, self.offset, self.path)


class OutOfMemoryError(Error, MemoryError):
    """The memory did not suffice."""

    status = "out of memory"


class ReadError(Error, OSError):
    """The system could not read or write."""

    status = "i/o error"


class NotFoundError(Error, LookupError):
    """There is no such file, or nothing at a path in it."""

    status = "not found"


class FileMissingError(NotFoundError, FileNotFoundError):
    """NotFoundError of a file."""


class PathMissingError(NotFoundError, KeyError):
    """NotFoundError of a path in a file."""


class FormatError(Error, ValueError):
    """None of the formats: not a file that is known."""

    status = "unknown format"


class UnsupportedError(Error, NotImplementedError):
    """The format, or this build, has nothing of the kind."""

    status = "unsupported"


class CorruptError(Error, ValueError):
    """The file says what cannot be."""

    status = "corrupt"


class TruncatedError(Error, EOFError):
    """The file ends too early."""

    status = "truncated"


class ChecksumError(Error, ValueError):
    """Data that differ from the checksum stored with them."""

    status = "checksum mismatch"


class LimitError(Error, RuntimeError):
    """More than a limit of the caller's, or of the library, allows."""

    status = "limit reached"


class RangeError(Error, IndexError):
    """An index, or a value, that is out of range."""

    status = "out of range"


class WrongTypeError(Error, TypeError):
    """A dtype that does not fit."""

    status = "wrong type"


class ArgumentError(Error, ValueError):
    """A call that means nothing."""

    status = "wrong argument"


class ReadOnlyError(Error, PermissionError):
    """What cannot be written."""

    status = "read-only"


class BusyError(Error, BlockingIOError):
    """Somebody else has the file; it can be tried again."""

    status = "busy"


class CancelledError(Error, RuntimeError):
    """A callback stopped the call."""

    status = "cancelled"


class ExistsError(Error, FileExistsError):
    """The file that was to be made is there already."""

    status = "exists"


class StaleError(Error, OSError):
    """Another file, or none, has the name of the one that was opened; nothing was written. Open it again, or `refresh()`."""

    status = "stale"


BY_STATUS: dict[int, type[Error]] = {
    1: OutOfMemoryError,
    2: ReadError,
    3: NotFoundError,
    4: FormatError,
    5: UnsupportedError,
    6: CorruptError,
    7: TruncatedError,
    8: ChecksumError,
    9: LimitError,
    10: RangeError,
    11: WrongTypeError,
    12: ArgumentError,
    13: ReadOnlyError,
    14: BusyError,
    15: CancelledError,
    16: ExistsError,
    17: StaleError,
}


def _again(kind: type[Error], text: str, part: str, offset: Optional[int], path: Any) -> Error:
    error = kind(text)
    error.text, error.part, error.offset, error.path = text, part, offset, path
    return error


def make_error(
    status: int, errno: int, text: str, part: str, offset: Optional[int], path: Any, of_file: bool
) -> Error:
    """Called by the extension: the exception of a status (a cip_status)."""
    kind = BY_STATUS.get(status, Error)
    if kind is NotFoundError:
        kind = FileMissingError if of_file else PathMissingError
    if text == "the output exists":
        text += "; overwrite=True, or mode 'w', replaces it"
    text = _KEYWORD.sub("accept_loss=True", text)
    if isinstance(path, bytes):
        path = path.decode("utf-8", "surrogateescape")
    error = _again(kind, text or kind.status, part, offset, path)
    if errno and isinstance(error, OSError):
        error.errno = errno
    return error
