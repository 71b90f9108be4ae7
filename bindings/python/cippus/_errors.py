# SPDX-License-Identifier: BSD-3-Clause
"""One exception for each status of the library, also below the one that Python programs expect."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Optional

from . import _cippus
from ._words import meant

# How C programs spell what Python has a keyword or a function for; of what Python has nothing the advice is left out.
_QUOTED = r"(?<!\w)'[^']*'"
_ADVICE = re.compile(rf"({_QUOTED})|; [^;']*(?<=[ ])(?:\.(?:break_links|by_position|max_elements|overflow)|cip_read_args\.\w+)\b[^;']*")
_FIELD = re.compile(rf"({_QUOTED})|(?<=[ (])\.(accept_loss|fill|format|max_nbytes|overwrite|path)\b")
_CALL = re.compile(rf"({_QUOTED})|(?<=[ (])(cip_recover|cip_convert|cip_verify|cip_change_defrag)\b")
_CALLS = {
    "cip_recover": "the command 'cippus recover'",
    "cip_convert": "cippus.convert()",
    "cip_verify": "cippus.verify()",
    "cip_change_defrag": "the command 'cippus defrag'",
}


def in_python(text: str) -> str:
    """A message of the library in the words of this package."""
    text = _ADVICE.sub(lambda m: m[1] or "", text)
    text = _FIELD.sub(lambda m: m[1] or ("accept_loss=True" if m[2] == "accept_loss" else f"{m[2]}=..."), text)
    return _CALL.sub(lambda m: m[1] or _CALLS[m[2]], text)


class Error(Exception):
    """The base of all errors of this package."""

    status: str = "error"
    """The kind of error in words, such as "not found"."""
    text: str = ""
    """What went wrong: what was expected, and what was found."""
    path: Any = None
    """The path of the file, or a description of what was opened."""
    offset: Optional[int] = None
    """The byte in the file where it was noticed, where one is known."""
    part: str = ""
    """The part of the file: the path of an array, "block 3", ..."""

    def __str__(self) -> str:
        known = self.path in (None, "") or f"'{self.path}'" in self.text
        place = [] if known else [str(self.path)]
        place += [self.part] if self.part and self.part != str(self.path) else []
        place += [f"offset {self.offset}"] if self.offset is not None else []
        return ": ".join([", ".join(place), self.text] if place else [self.text])

    def __reduce__(self) -> Any:
        return _again, (type(self), self.text, self.part, self.offset, self.path)


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory."""


class ReadError(Error, OSError):
    """The system failed to read or write."""


class NotFoundError(Error, LookupError):
    """There is no such file, or nothing at this path in it."""


class FileMissingError(NotFoundError, FileNotFoundError):
    """There is no such file."""


class PathMissingError(NotFoundError, KeyError):
    """There is nothing at this path in the file."""

    _known: Optional[Callable[[], Iterable[Any]]] = None

    def __str__(self) -> str:
        if self._known is None:
            return super().__str__()
        try:  # looked up when the message is shown: most programs only catch it
            return super().__str__() + meant(self.args[0], self._known())
        except Exception:  # the file was closed meanwhile
            return super().__str__()


class FormatError(Error, ValueError):
    """The file has none of the known formats."""


class UnsupportedError(Error, NotImplementedError):
    """The file may be good, but the format or this build cannot do it."""


class CorruptError(Error, ValueError):
    """The file is damaged: it contradicts itself or its format."""


class TruncatedError(Error, EOFError):
    """The file is damaged: it ends too early."""


class ChecksumError(Error, ValueError):
    """Data do not match the checksum that is stored with them."""


class LimitError(Error, RuntimeError):
    """More data than a limit allows."""


class RangeError(Error, IndexError):
    """An index or a value is out of range."""


class WrongTypeError(Error, TypeError):
    """A value has another type than is needed."""


class ArgumentError(Error, ValueError):
    """The call is wrong: an argument makes no sense."""


class ReadOnlyError(Error, PermissionError):
    """The file or its format cannot be written."""


class BusyError(Error, BlockingIOError):
    """Another program or thread uses the file; try again later."""


class CancelledError(Error, RuntimeError):
    """A callback stopped the call."""


class ExistsError(Error, FileExistsError):
    """The file exists already; `overwrite=True` replaces it."""


class StaleError(Error, OSError):
    """Another program replaced or removed the file since it was opened. Nothing was written; open it again, or call `refresh()`."""


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
for _number, _kind in BY_STATUS.items():
    _kind.status = _cippus.status_name(_number)


def _again(kind: type[Error], text: str, part: str, offset: Optional[int], path: Any) -> Error:
    error = kind(text)
    error.text, error.part, error.offset, error.path = text, part, offset, path
    return error


def status_of(error: Error) -> int:
    """The number of an error's class."""
    return next((number for number, kind in BY_STATUS.items() if isinstance(error, kind)), 0)


def no_key(key: Any, known: Callable[[], Iterable[Any]], path: Any = None) -> PathMissingError:
    """The KeyError of a key that is not there; `known` gives the keys that may have been meant."""
    error = PathMissingError(key)
    error.text, error.path, error._known = f"there is nothing at {key!r}", path, known
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
    text = in_python(text)
    if isinstance(path, bytes):
        path = path.decode("utf-8", "surrogateescape")
    error = _again(kind, text or kind.status, part, offset, path)
    if errno and isinstance(error, OSError):
        error.errno = errno
    return error
