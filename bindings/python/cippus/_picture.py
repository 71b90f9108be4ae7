# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of arrays: PNG files of an image or a line."""
from __future__ import annotations

import operator
import os
import re
import tempfile
from typing import Any, NamedTuple, Optional

from . import _cippus
from ._progress import Progress, telling
from ._words import keywords

_SCALES = ("linear", "log", "asinh", "sqrt")
_REDUCES = ("extremes", "sample", "min", "max", "mean")


class Made(NamedTuple):
    png: bytes
    low: float
    high: float
    nbytes: int
    """about how many bytes were read or decoded"""


def _number(name: str, value: int, most: int = 2**32 - 1) -> int:
    number = operator.index(value)
    if not 0 <= number <= most:
        raise ValueError(f"{name}: expected a number from 0 to {most}, found {value}")
    return number


def _index(name: str, value: str, known: tuple[str, ...]) -> int:
    if value not in known:
        raise ValueError(f"{name}: expected one of {', '.join(known)}, found {value!r}")
    return known.index(value)


def _colour(bad: Optional[str]) -> int:
    """0xRRGGBBAA, 0 for the default."""
    if bad is None or bad == "none":
        return 0
    if not isinstance(bad, str) or not re.fullmatch("#([0-9a-fA-F]{6}|[0-9a-fA-F]{8})", bad):
        raise ValueError(f"bad: expected a colour, as '#ff00ff', or 'none', found {bad!r}")
    return int(bad[1:].ljust(8, "f"), 16) or 0x01000000  # 0 is the default; what is not opaque has any colour


@keywords
def picture(
    array: Any,
    key: Any,
    *,
    width: int = 0,
    height: int = 0,
    zoom: int = 0,
    scale: str = "linear",
    limits: Optional[tuple[float, float]] = None,
    percentile: Optional[tuple[float, float]] = None,
    map: str = "viridis",
    bad: Optional[str] = None,
    reduce: str = "extremes",
    axes: bool = True,
    max_nbytes: int = 0,
    progress: Optional[Progress] = None,
) -> Made:
    if limits is not None and percentile is not None:
        raise TypeError("limits and percentile cannot be combined")
    if percentile is not None and not percentile[0] < percentile[1]:  # the library takes (0, 0) for the default
        raise ValueError(f"percentile: expected two rising numbers from 0 to 100, found {percentile}")
    low, high = limits or (0.0, 0.0)
    first, last = percentile or (0.0, 0.0)
    found = array._picture(
        key,
        _number("width", width),
        _number("height", height),
        _number("zoom", zoom),
        _index("scale", scale, _SCALES),
        _index("reduce", reduce, _REDUCES),
        map,
        limits is not None,
        low,
        high,
        first,
        last,
        _colour(bad),
        bad == "none",
        axes,
        _number("max_nbytes", max_nbytes, 2**64 - 1),
        telling(progress),
    )
    if found is NotImplemented:
        raise TypeError("a picture takes integers, slices, ... and None as its key")
    return Made(*found)


def save(png: bytes, path: Any, overwrite: bool) -> None:
    """Complete under its name, or not at all."""
    path = os.path.abspath(os.fsdecode(path))
    with tempfile.TemporaryDirectory(prefix=".cippus-", dir=os.path.dirname(path)) as folder:
        made = os.path.join(folder, "picture")
        with open(made, "wb") as f:
            f.write(png)
        _cippus.publish(made, path, overwrite, True)
