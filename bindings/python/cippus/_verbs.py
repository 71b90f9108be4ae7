# SPDX-License-Identifier: BSD-3-Clause
"""Whole files: convert, verify, repair, diff. `progress` is a function of (done, total), or a bar of tqdm."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from typing import Any, NamedTuple, Optional

import numpy as np

from . import _cippus
from ._file import File, Finding, open
from ._progress import Progress, telling
from ._write import create, options_of


def _findings(tell: Optional[Callable[[Finding], Any]], found: list[Finding]) -> Callable[..., None]:
    def one(*row: Any) -> None:
        found.append(Finding.of(*row))
        if tell is not None:
            tell(found[-1])

    return one


def convert(
    source: Any,
    target: Any,
    *,
    on_loss: Optional[Callable[[Finding], Any]] = None,
    progress: Optional[Progress] = None,
    options: Optional[Mapping[str, Any]] = None,
    **more: Any,
) -> list[Finding]:
    """Writes all of a file as another one. Keywords: `format`, `path` (one array only), `codec`, `byteorder`, `version`,
    `checksum`, `accept_loss`, `overwrite`, `options` of the format. Gives what got lost, if that is accepted."""
    found: list[Finding] = []
    _cippus.convert(
        source, target, on_loss=_findings(on_loss, found), progress=telling(progress), options=options_of(options), **more
    )
    return found


def verify(
    path: Any,
    *,
    deep: bool = False,
    on_finding: Optional[Callable[[Finding], Any]] = None,
    progress: Optional[Progress] = None,
) -> list[Finding]:
    """Checks structure, index and every checksum (`deep`: decodes all); an empty list is a file that is as it should be."""
    found: list[Finding] = []
    _cippus.verify(path, deep=deep, on_finding=_findings(on_finding, found), progress=telling(progress))
    return found


def repair(
    source: Any,
    target: Any,
    *,
    fill: Any = None,
    on_finding: Optional[Callable[[Finding], Any]] = None,
    progress: Optional[Progress] = None,
    **more: Any,
) -> list[Finding]:
    """Writes what can be read of a file as a new one; lost elements become `fill`, where it is given. Keywords: `format`,
    `accept_loss`, `overwrite`. Gives what is damaged and lost."""
    found: list[Finding] = []
    tell = _findings(on_finding, found)
    if fill is None:
        _cippus.repair(source, target, on_finding=tell, progress=telling(progress), **more)
        return found
    with create(format="npy") as one:
        one[""] = np.asarray([fill])
    with open(one.getvalue(), format="npy") as file:
        _cippus.repair(source, target, fill=file.array, on_finding=tell, progress=telling(progress), **more)
    return found


KINDS = ("", "only_a", "only_b", "type", "value", "tag", "dtype", "shape", "data", "unreadable")


class Difference(NamedTuple):
    """Of two files: a node or array that one alone has (`kind` "only_a", "only_b"), nodes of another "type", "value" or
    "tag", arrays of another "dtype" or "shape", "data" that differ, or an array that is "unreadable" in one of them."""

    kind: str
    path: str
    text: str
    code: int
    """of "unreadable": the status"""
    elements: int
    """of "data", as all below: elements compared"""
    differing: int
    first: Optional[tuple[int, ...]]
    max_abs: float
    max_rel: float

    @classmethod
    def of(cls, kind: int, *rest: Any) -> Difference:
        return cls(KINDS[kind], *rest)


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
    """What differs in tree and data of two files: open ones, or whatever open() takes. Numbers are equal as numpy.isclose
    has it (both 0: exactly), NaN equals NaN. `ignore`: patterns of paths ("meta/*", "**/date"); `path`: this node or array
    alone, against `other_path` of the second file; `bookkeeping`: also what tells how a file came about."""
    found: list[Difference] = []
    patterns = (ignore,) if isinstance(ignore, str) else ignore
    with ExitStack() as stack:
        files = [f if isinstance(f, File) else stack.enter_context(open(f)) for f in (a, b)]
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
