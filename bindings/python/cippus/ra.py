# SPDX-License-Identifier: BSD-3-Clause
"""RawArray files by the three functions of the RawArray document's own Python binding (`import cippus.ra as ra`).

Shapes are the stored dimensions, as in that binding, in Julia and in Matlab: `a[i, j]` is the same element everywhere.
`cippus.open()` has the dimensions reversed, in C order over the same bytes.
"""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from ._opening import open as _open
from ._write import create as _create

_TYPES = ("user", "int", "uint", "float", "complex")


def read(filename: str | os.PathLike[str]) -> Any:
    """Read the array of a file; if its elements have a type that RawArray does not know, as bytes."""
    with _open(filename, format="rawarray") as file:
        found = file.array.read()
    return found.tobytes() if found.dtype.kind == "V" else found.transpose()


def write(data: Any, filename: str | os.PathLike[str]) -> None:
    """Write an array as a file, in its own byte order. Booleans, texts and records are written as bytes. A file that exists is
    replaced when the new one is complete."""
    data = np.asarray(data)
    big = data.dtype.str[0] == ">"
    if data.dtype.kind not in "iufc":
        data = np.ascontiguousarray(data).reshape(data.shape).view(f"V{data.dtype.itemsize}")
    with _create(filename, format="rawarray", overwrite=True, byteorder="big" if big else "little") as w:
        w[""] = data.transpose()


def query(filename: str | os.PathLike[str]) -> str:
    """The header of a file as YAML."""
    with _open(filename, format="rawarray") as file:
        h = file.tree
        lines = ["---", f"name: {os.fspath(filename)}", f"endian: {'big' if h['flags'] & 1 else 'little'}"]
        lines += [f"type: {_TYPES[h['eltype']]}{8 * h['elbyte']}", f"size: {h['size']}", f"dimension: {len(h['dims'])}"]
        lines += ["shape:", *(f"  - {n}" for n in h["dims"]), "..."]
    return "\n".join(lines)
