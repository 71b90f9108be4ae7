# SPDX-License-Identifier: BSD-3-Clause
"""Whole files: convert, verify, repair. `progress` is a function of (done, total), or a bar of tqdm."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Optional

import numpy as np

from . import _cippus
from ._file import Finding, open
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
