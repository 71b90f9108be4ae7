# SPDX-License-Identifier: BSD-3-Clause
"""Files and arrays as notebooks show them. No more than some MiB are read for that, and nothing from far away."""
from __future__ import annotations

import base64
import html
import math
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Optional

from ._array import Array
from ._picture import picture as pixels_of
from ._tree import Map, Seq

if TYPE_CHECKING:
    from ._file import File

MOST_BYTES = 16 << 20  # decoded for the pictures of one cell
_PIXELS = 100  # of a picture's side
_ARRAYS, _SCALARS, _NODES = 20, 20, 500  # of a file: shown, and looked at
_WRITERS = ("asdf_library", "history")  # ASDF's own record of who wrote the file


def _table(rows: Any) -> str:
    cells = "".join(f"<tr><th>{html.escape(str(k))}</th><td>{html.escape(str(v))}</td></tr>" for k, v in rows)
    return f"<table>{cells}</table>"


def of_array(array: Array, room: int = MOST_BYTES) -> tuple[str, int]:
    """An array, and about how many bytes were read or decoded for it, of at most `room`."""
    rows = [
        ("path", array.path),
        ("shape", array.shape),
        ("dtype", array.dtype),
        ("chunks", array.chunks),
        ("codec", array.codec),
        ("ratio", f"{array.cratio:.2f}" if array.stored_nbytes else "-"),
    ]
    pixels, cost = _pixels(array, room)
    drawn = picture(array.shape, array.chunks, pixels)
    return f'<div style="display:flex;gap:1em">{_table(rows)}{drawn}</div>', cost


def _pixels(array: Array, room: int) -> tuple[Optional[str], int]:
    """The URL of a picture of the last two axes, and its cost; what is missing is transparent. None of what is no image, lies
    elsewhere, is damaged or costs too much."""
    if array.ndim < 2 or room <= 0 or hasattr(array.file, "_state"):
        return None, 0
    try:
        made = pixels_of(array, ..., width=_PIXELS, height=_PIXELS, zoom=1, bad="none", axes=False, max_nbytes=room)
    except Exception:  # damaged, too dear, or no numbers: shown without
        return None, 0
    url = "data:image/png;base64," + base64.b64encode(made.png).decode()
    return None if math.isnan(made.low) else url, made.nbytes


def picture(shape: tuple[int, ...], chunks: Optional[tuple[int, ...]], pixels: Optional[str] = None) -> str:
    """The last two axes as a box, with the elements in it if these were read, and lines between chunks."""
    if not shape or 0 in shape:
        return ""
    high, wide = (1, *shape)[-2:]
    scale = 100 / max(high, wide)
    h, w = max(high * scale, 6), max(wide * scale, 6)
    inside = ""
    if pixels:
        inside = f'<image width="{w:.1f}" height="{h:.1f}" preserveAspectRatio="none" href="{pixels}"/>'
    if chunks:
        ch, cw = (1, *chunks)[-2:]
        down = range(ch, high, ch) if ch > 0 and high / ch <= 50 else ()
        across = range(cw, wide, cw) if cw > 0 and wide / cw <= 50 else ()
        inside += "".join(f'<line x1="0" x2="{w:.1f}" y1="{y / high * h:.1f}" y2="{y / high * h:.1f}"/>' for y in down)
        inside += "".join(f'<line y1="0" y2="{h:.1f}" x1="{x / wide * w:.1f}" x2="{x / wide * w:.1f}"/>' for x in across)
    return (
        f'<svg width="{w + 2:.0f}" height="{h + 2:.0f}" stroke="#888" fill="#8883">'
        f'<rect x="0" y="0" width="{w:.1f}" height="{h:.1f}"/>{inside}</svg>'
    )


def _scalars(node: Any, path: str, left: list[int], depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Scalars of a tree by their paths, as far as `left` nodes reach."""
    pairs = node.items() if isinstance(node, Map) else enumerate(node) if isinstance(node, Seq) else ()
    for key, value in pairs:
        if depth == 0 and key in _WRITERS:
            continue
        left[0] -= 1
        if left[0] < 0:
            return
        if isinstance(value, (Map, Seq)):
            if depth < 3:
                yield from _scalars(value, f"{path}{key}/", left, depth + 1)
        elif not isinstance(value, Array):
            text = str(value)
            yield f"{path}{key}", text if len(text) <= 80 else text[:77] + "..."


def of_file(file: File) -> str:
    """The file's facts, scalars of its tree, and its first arrays."""
    if file.closed:
        return html.escape(repr(file))
    paths = file._paths(False)
    count = f"{len(paths)} array{'' if len(paths) == 1 else 's'}"
    parts = [f"<b>{html.escape(str(file.path))}</b>: {file.format} {html.escape(file.version)}, {file.nbytes} bytes, {count}"]
    scalars = list(islice(_scalars(file.tree, "", [_NODES]), _SCALARS + 1))
    parts += [_table(scalars[:_SCALARS])] if scalars else []
    parts += ["<div>more values: f.tree</div>"] if len(scalars) > _SCALARS else []
    room = MOST_BYTES
    for path in paths[:_ARRAYS]:
        text, cost = of_array(file.arrays[path], room)
        parts.append(text)
        room -= cost
    if len(paths) > _ARRAYS:
        parts.append(f"<div>and {len(paths) - _ARRAYS} more arrays: f.arrays</div>")
    return "".join(f"<div>{part}</div>" for part in parts)
