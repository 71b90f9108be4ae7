# SPDX-License-Identifier: BSD-3-Clause
"""Files and arrays as notebooks show them. No more than some MiB are read for that, and nothing from far away."""
from __future__ import annotations

import base64
import html
import math
import struct
import zlib
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from ._array import Array
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
    """An array, and how many bytes were decoded for it, of at most `room`."""
    rows = [
        ("path", array.path),
        ("shape", array.shape),
        ("dtype", array.dtype),
        ("chunks", array.chunks),
        ("codec", array.codec),
        ("ratio", f"{array.cratio:.2f}" if array.stored_nbytes else "-"),
    ]
    cost = _cost(array)
    cost = cost if cost is not None and cost <= room else 0
    drawn = picture(array.shape, array.chunks, _pixels(array) if cost else None)
    return f'<div style="display:flex;gap:1em">{_table(rows)}{drawn}</div>', cost


def _cost(array: Array) -> Optional[int]:
    """The bytes that are decoded where all of an image is read; None of what is no image, or lies elsewhere."""
    if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "biuf" or hasattr(array.file, "_state"):
        return None
    try:
        chunk = array.chunk(0)
    except Exception:  # it is not committed yet, or damaged
        return None
    return max(array.nbytes, chunk.decoded_nbytes * array.nchunks)


def _pixels(array: Array) -> Optional[str]:
    """Some elements as a picture in shades of grey, from the 1st to the 99th percentile; what is missing is transparent."""
    try:
        values = np.ma.asarray(array.read())
    except Exception:  # damaged: shown without
        return None
    values = values[tuple(slice(None, None, max(1, math.ceil(n / _PIXELS))) for n in values.shape)]
    data = np.ma.getdata(values).astype("f8")
    known = np.isfinite(data) & ~np.ma.getmaskarray(values)
    if not known.any():
        return None
    low, high = np.percentile(data[known], (1, 99))
    if not low < high:
        low, high = data[known].min(), data[known].max()
    with np.errstate(all="ignore"):
        scaled = (data / 2 - low / 2) / (high / 2 - low / 2)  # halves: their difference does not overflow
    shades = np.clip(np.where(known, np.nan_to_num(scaled), 0), 0, 1)
    grey = (shades * 255).astype("u1")[..., None]
    return _png(grey if known.all() else np.concatenate([grey, np.where(known, 255, 0).astype("u1")[..., None]], axis=-1))


def _png(pixels: Any) -> str:
    """Grey of 8 bits, or grey and alpha, as the URL of a PNG."""

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    high, wide, samples = pixels.shape
    lines = np.zeros((high, 1 + samples * wide), "u1")  # each begins with its filter: none
    lines[:, 1:] = pixels.reshape(high, -1)
    head = struct.pack(">IIBBBBB", wide, high, 8, 0 if samples == 1 else 4, 0, 0, 0)
    data = part(b"IHDR", head) + part(b"IDAT", zlib.compress(lines.tobytes())) + part(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + data).decode()


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
