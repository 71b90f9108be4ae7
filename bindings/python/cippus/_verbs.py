# SPDX-License-Identifier: BSD-3-Clause
"""Whole files: convert, verify, repair, diff."""
from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple, Optional, Union

import numpy as np

from . import _cippus, _errors, _fs
from ._file import SEVERITIES, File, Finding
from ._opening import open, path_of, source_of
from ._progress import Progress, telling
from ._write import EditableFile, create, options_of
from ._words import keywords

_PIECE = 4 << 20  # bytes that are copied at a time


def _findings(tell: Optional[Callable[[Finding], Any]], found: list[Finding]) -> Callable[..., None]:
    def one(*row: Any) -> None:
        found.append(Finding.of(*row))
        if tell is not None:
            tell(found[-1])

    return one


def _input(file: Any, stack: ExitStack, check: Optional[bool] = None) -> Union[str, File]:
    """A path as it is; anything else as an open file."""
    if isinstance(file, EditableFile) and file._pending:
        raise ValueError("the file has changes that are not committed: call commit() or rollback() first")
    if isinstance(file, File):
        return file
    path = path_of(file)
    return stack.enter_context(open(file, check=check)) if path is None else path


@contextmanager
def _output(target: Any) -> Iterator[Any]:
    """The path to write to: of a file object that of a temporary file, which is then copied into it."""
    if not hasattr(target, "write") or isinstance(target, os.PathLike):
        path = path_of(target) if _fs.is_url(target) else target
        if path is None:
            raise ValueError("URLs are opened for reading; open it for writing by fsspec, and give what that gives")
        yield path
        return
    import shutil
    import tempfile

    with tempfile.TemporaryDirectory(prefix="cippus-") as folder:
        name = getattr(target, "name", None)
        path = os.path.join(folder, os.path.basename(name) if isinstance(name, str) else "file")
        yield path
        if os.listdir(folder) != [os.path.basename(path)] or os.path.isdir(path):
            raise ValueError("the new file consists of several files, which a file object cannot hold: give a path")
        with io.open(path, "rb") as made:
            shutil.copyfileobj(made, target, _PIECE)


@keywords
def convert(
    source: Any,
    target: Any,
    *,
    format: Optional[str] = None,
    path: Optional[str] = None,
    codec: Optional[str] = None,
    byteorder: Optional[str] = None,
    version: Optional[str] = None,
    checksum: Optional[str] = None,
    accept_loss: bool = False,
    overwrite: bool = False,
    options: Optional[Mapping[str, Any]] = None,
    on_loss: Optional[Callable[[Finding], Any]] = None,
    progress: Optional[Progress] = None,
) -> list[Finding]:
    """Write all of a file as a new file, in the same or another format. Returns what was lost, as a list of findings.

    `source`: a path, the bytes of a file, a file object, a URL, or an open File. `target`: a path, or a file object that writes.
    Data are compared with the checksums in the file while they are read (of an open File: if it was opened so).

    `format`: of the new file (default: by its name). `path`: convert this array only. `codec`, `byteorder`, `version`,
    `checksum`, `options`: see create(). `accept_loss`: leave out what the new format cannot hold; otherwise that is an error.
    `overwrite`: replace a file that exists. `on_loss`: a function that is called with each finding. `progress`: a function of
    (done, total) in bytes, or a bar as tqdm makes them; an exception in either stops the call, and no file is left."""
    found: list[Finding] = []
    with ExitStack() as stack:
        file, out = _input(source, stack, check=True), stack.enter_context(_output(target))
        _cippus.convert(
            file, out, format=format, path=path, codec=codec, byteorder=byteorder, version=version, checksum=checksum,
            accept_loss=accept_loss, overwrite=overwrite, options=options_of(options), on_loss=_findings(on_loss, found),
            progress=telling(progress),
        )  # fmt: skip
    return found


@keywords
def verify(
    file: Any,
    *,
    deep: bool = False,
    on_finding: Optional[Callable[[Finding], Any]] = None,
    progress: Optional[Progress] = None,
) -> list[Finding]:
    """Check the structure, the index and every checksum of a file. Returns the problems that were found, as a list of
    findings; it is empty for a good file.

    `file`: a path, the bytes of a file, a file object, a URL, or an open File. `deep`: also decode all data. `on_finding` and
    `progress`: see convert()."""
    found: list[Finding] = []
    with ExitStack() as stack:
        try:
            given = _input(file, stack)
        except (_errors.FormatError, _errors.UnsupportedError, _errors.CorruptError, _errors.TruncatedError, _errors.ChecksumError) as e:
            found.append(Finding("fatal", _errors.status_of(e), e.offset, 0, e.part, e.text, False))
            if on_finding is not None:
                on_finding(found[0])
            return found
        _cippus.verify(given, deep=deep, on_finding=_findings(on_finding, found), progress=telling(progress))
    return found


@contextmanager
def _copied(file: Any) -> Iterator[str]:
    """The path of a file; of bytes, a file object or a URL that of a copy. Errors name what was given."""
    if isinstance(file, File):
        raise TypeError("repair() reads a file itself: give its path or bytes, not an open File")
    path = path_of(file)
    if path is not None:
        yield path
        return
    import tempfile

    _, source, name = source_of(file, None)
    if getattr(source, "is_folder", False):
        raise ValueError("a folder at a URL cannot be repaired: copy it to this machine first")
    with tempfile.NamedTemporaryFile(prefix="cippus-") as copy:
        for at in range(0, source.nbytes, _PIECE):
            part = bytearray(min(_PIECE, source.nbytes - at))
            if isinstance(source, memoryview):
                part[:] = source.cast("B")[at : at + len(part)]
            else:
                source.read_ranges([(at, memoryview(part))])
            copy.write(part)
        copy.flush()
        try:
            yield copy.name
        except _errors.Error as error:
            error.path = name if error.path == copy.name else error.path
            raise


@keywords
def repair(
    source: Any,
    target: Any,
    *,
    fill: Any = None,
    format: Optional[str] = None,
    accept_loss: bool = False,
    overwrite: bool = False,
    on_finding: Optional[Callable[[Finding], Any]] = None,
    progress: Optional[Progress] = None,
) -> list[Finding]:
    """Write what can be read of a damaged file as a new file. Returns what is damaged and lost, as a list of findings. The
    damaged file stays as it is.

    `source`: a path, the bytes of a file, a file object or a URL. All except a path are copied to a temporary file first, without
    the files that lie beside them. `target`: a path, or a file object that writes. `fill`: the value that lost elements get. Without
    it an array with lost elements is left out. `format`, `accept_loss`, `overwrite`, `progress`: see convert(). `on_finding`: a
    function that is called with each finding."""
    found: list[Finding] = []
    with ExitStack() as stack:
        file, out = stack.enter_context(_copied(source)), stack.enter_context(_output(target))
        one = None
        if fill is not None:
            with create(format="npy") as w:
                w[""] = np.asarray([fill])
            one = stack.enter_context(open(w.getvalue(), format="npy")).array
        _cippus.repair(
            file, out, fill=one, format=format, accept_loss=accept_loss, overwrite=overwrite,
            on_finding=_findings(on_finding, found), progress=telling(progress),
        )  # fmt: skip
    return found


KINDS = ("", "only_a", "only_b", "type", "value", "tag", "dtype", "shape", "data", "unreadable")


class Difference(NamedTuple):
    """One difference between two files."""

    kind: str
    """"only_a" or "only_b" (only one file has it); "type", "value" or "tag" of a value in the tree; "dtype", "shape" or "data" of
    an array; "unreadable" (it could not be compared)"""
    path: str
    """the path of the value or array"""
    text: str
    """the difference in words"""
    code: int
    """of "unreadable": the number of the error class"""
    elements: int
    """of "data": the number of elements that were compared"""
    differing: int
    """of "data": how many of them differ"""
    first: Optional[tuple[int, ...]]
    """of "data": the index of the first element that differs"""
    max_abs: float
    """of "data": the largest `abs(a - b)`, or NaN"""
    max_rel: float
    """of "data": the largest `abs(a - b) / abs(b)`, or NaN"""

    @classmethod
    def of(cls, kind: int, path: str, text: str, *rest: Any) -> Difference:
        """Made by the extension."""
        return cls(KINDS[kind], path, _errors.in_python(text), *rest)


@keywords
def diff(
    a: Any,
    b: Any,
    *,
    rtol: float = 0,
    atol: float = 0,
    ignore: Iterable[str] = (),
    path: Optional[str] = None,
    other_path: Optional[str] = None,
    ignore_tags: bool = False,
    bookkeeping: bool = False,
    progress: Optional[Progress] = None,
) -> list[Difference]:
    """Compare metadata and data of two files, which may have different formats. Returns a list of differences; it is empty
    for equal files.

    `a`, `b`: a path, the bytes of a file, a file object, a URL, or an open File. `rtol`, `atol`: numbers are equal as
    numpy.isclose defines it (both 0: they must be the same); NaN equals NaN. `ignore`: patterns of paths that are left out,
    such as "meta/*" or "**/date". `path`: compare this value or array only, with `other_path` of the second file if that is
    given. `ignore_tags`: do not compare tags. `bookkeeping`: also compare how each file was made and stored. `progress`: see
    convert()."""
    found: list[Difference] = []
    patterns = (ignore,) if isinstance(ignore, str) else ignore
    with ExitStack() as stack:
        given = [_input(f, stack) for f in (a, b)]
        files = [f if isinstance(f, File) else stack.enter_context(open(f)) for f in given]
        _cippus.diff(
            *files,
            rtol=rtol,
            atol=atol,
            ignore=tuple(p.encode() for p in patterns),
            path=path,
            other_path=other_path,
            ignore_tags=ignore_tags,
            bookkeeping=bookkeeping,
            on_difference=lambda *row: found.append(Difference.of(*row)),
            progress=telling(progress),
        )
    return found
