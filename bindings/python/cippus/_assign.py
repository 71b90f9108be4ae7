# SPDX-License-Identifier: BSD-3-Clause
"""Elements of an array that is changed: what a key of numpy's names, in as few basic writes as that takes.

Where elements lie scattered, boxes of the array are read as the update has them so far, assigned to by numpy and written
back, so that an assignment costs a few calls for each chunk (or some MiB) that it touches.
"""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import _cippus, _index

_BASIC = (int, np.integer, slice, type(None), type(Ellipsis))
_TILE = 4 << 20  # bytes of a box, at most
_BATCH = 1 << 20  # elements whose places are held at once
_APART = 8 << 10  # bytes of a box for each element in it, above which elements are written one by one


class Target:
    """An array (or a field of one) of an update, which begins with the first write."""

    def __init__(self, array: Any, begin: Callable[[], _cippus.Change]):
        field = array._field_name
        self.path = array.path if field is None else f"{array.path}/{field}"
        self.shape: tuple[int, ...] = array.shape
        self.dtype = array.dtype
        chunks = array.chunks
        self.chunked = chunks is not None and len(chunks) <= len(self.shape)
        self.tile = _cut((*(chunks or ()), *self.shape[len(chunks or ()) :]) if self.chunked else self.shape, self.dtype.itemsize)
        self._begin = begin

    def write(self, selection: str, data: Any) -> None:
        self._begin().write(self.path, selection, as_bytes(data))

    def read(self, selection: str, shape: tuple[int, ...]) -> Any:
        box = np.empty(shape, self.dtype)
        self._begin().read(self.path, selection, as_bytes(box))
        return box


def _cut(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """A box of that shape, or of the part of it in C order that a tile holds."""
    room, out = _TILE // max(itemsize, 1), []
    for n in reversed(shape):
        out.append(max(1, min(n, room)))
        room //= out[-1]
    return tuple(reversed(out))


def as_bytes(data: Any) -> Any:
    """Packed, for the extension: numpy has no buffers of dates."""
    data = np.ascontiguousarray(data).reshape(-1)
    return data.view("u1") if data.dtype.itemsize else np.empty(0, "u1")


def items_of(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def dummy(shape: tuple[int, ...]) -> Any:
    return np.broadcast_to(np.zeros((), "u1"), shape)


def filled(shape: tuple[int, ...], dtype: Any, value: Any) -> Any:
    """As numpy assigns: broadcast and cast."""
    if isinstance(value, (list, tuple)):
        data = np.empty(shape, dtype)
        data[...] = value
        return data
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        value = np.asarray(value)
        while value.ndim > len(shape) and value.shape[0] == 1:
            value = value[0]
    data = np.empty(np.shape(value), dtype)
    data[...] = value
    try:
        return np.broadcast_to(data, shape)
    except ValueError:
        words = f"could not broadcast input array from shape {data.shape} into shape {shape}"
        raise ValueError(words.replace(", ", ",")) from None


def selection(items: tuple[Any, ...], shape: tuple[int, ...]) -> str:
    """A basic key, which numpy has taken, as the library's text; new axes change nothing in what is packed."""
    taken = sum(i is not None and i is not Ellipsis for i in items)
    words, axis = [], 0
    for item in items:
        if item is Ellipsis:
            words += [":"] * (len(shape) - taken)
            axis += len(shape) - taken
        elif isinstance(item, slice):
            start, stop, step = item.indices(shape[axis])
            words.append(f"{start}:{stop if stop >= 0 else ''}:{step}" if len(range(start, stop, step)) else "0:0")
            axis += 1
        elif item is not None:
            words.append(str(int(item)))
            axis += 1
    return "[" + ", ".join(words) + "]"


def is_basic(key: Any) -> bool:
    return all(isinstance(i, _BASIC) and not isinstance(i, bool) for i in items_of(key))


def assign(to: Target, key: Any, value: Any) -> None:
    """`array[key] = value` as numpy has it."""
    items = items_of(key)
    key = items[0] if len(items) == 1 and isinstance(items[0], np.ndarray) else key
    if is_basic(key):
        chosen = dummy(to.shape)[key]
        if isinstance(chosen, np.generic):  # an element, of which numpy takes no sequence
            data = np.empty((1,) * len(to.shape), to.dtype)
            data[(0,) * len(to.shape)] = value
        else:
            data = filled(chosen.shape, to.dtype, value)
        to.write(selection(items, to.shape), data)
    elif isinstance(key, np.ndarray) and key.dtype == bool and key.shape == to.shape != ():
        _assign_mask(to, key, value)
    elif not to.shape:
        box = to.read("", ())
        box[key] = value
        to.write("", box)
    elif not _assign_one_axis(to, items, value):
        coords = [axis[key] for axis in _places([np.arange(n) for n in to.shape])]
        _scatter(to, [c.reshape(-1) for c in coords], _flat(filled(coords[0].shape, to.dtype, value)))


def _places(rows: list[Any]) -> list[Any]:
    """For each axis the indices of the elements where those of all axes meet."""
    return list(np.broadcast_arrays(*np.ix_(*rows)))


def _flat(values: Any) -> Any:
    """In C order; one element, without axes, if all are the same. (An element of numpy's own has no more than its text needs.)"""
    same = values.size != 0 and not any(s for s, n in zip(values.strides, values.shape) if n > 1)
    return values[(slice(1),) * values.ndim].reshape(()) if same else values.reshape(-1)


def _slabs(shape: tuple[int, ...]) -> Iterator[tuple[slice, ...]]:
    """Boxes of at most a batch of elements (or one), in C order."""
    axis, row = len(shape) - 1, 1
    while axis > 0 and row * shape[axis] <= _BATCH:
        row *= shape[axis]
        axis -= 1
    step = max(1, _BATCH // max(row, 1))
    for prefix in np.ndindex(*shape[:axis]):
        for start in range(0, shape[axis], step):
            yield (*(slice(i, i + 1) for i in prefix), slice(start, min(start + step, shape[axis])))


def _assign_mask(to: Target, mask: Any, value: Any) -> None:
    count = int(np.count_nonzero(mask))
    if np.ndim(value) > 1:
        np.empty(count, to.dtype)[np.ones(count, bool)] = value  # numpy takes none, and has its own words for it
    values = filled((count,), to.dtype, value)
    done = 0
    for slab in _slabs(to.shape):
        part = mask[slab].nonzero()
        n = len(part[0])
        coords = [p + (slab[axis].start if axis < len(slab) else 0) for axis, p in enumerate(part)]
        _scatter(to, coords, _flat(values[done : done + n]))
        done += n


def _assign_one_axis(to: Target, items: tuple[Any, ...], value: Any) -> bool:
    """Where one axis has an array of one axis, and the others have slices: rows. False: that is not the key."""
    listed = _index.items_of(items, len(to.shape))
    arrays = [i for i in listed if isinstance(i, np.ndarray)]
    if len(arrays) != 1 or arrays[0].ndim != 1 or any(i is None or i is Ellipsis for i in listed):
        return False
    return assign_orthogonal(to, tuple(listed), value)


def assign_orthogonal(to: Target, key: Any, value: Any) -> bool:
    """`array.oindex[key] = value`; where an index comes twice the last one counts."""
    rows = _index.rows_of(key, to.shape)
    lengths = [len(range(*r.indices(n))) if isinstance(r, slice) else r.size for r, n in zip(rows, to.shape)]
    kept = [n for n, r in zip(lengths, rows) if isinstance(r, slice) or r.ndim]
    values = filled(tuple(kept), to.dtype, value).reshape(lengths)
    for axis, r in enumerate(rows):
        if not isinstance(r, slice):
            found, last = np.unique(r.reshape(-1)[::-1], return_index=True)
            rows[axis], last = found, r.size - 1 - last
            values = values[(slice(None),) * axis + (last if values.strides[axis] else slice(0, len(last)),)]
    _write_rows(to, rows, values)
    return True


def _write_rows(to: Target, rows: list[Any], values: Any) -> None:
    """Slices, or rising indices, of each axis: by runs of neighbours, or where these are short, by places."""
    runs = [[(slice(None), r)] if isinstance(r, slice) else [(slice(at, at + s.stop - s.start), s) for at, s in _index.runs(r)] for r in rows]
    count = int(np.prod([len(r) for r in runs], dtype=object))
    if values.size == 0:
        return
    if count == 1 or values.size * to.dtype.itemsize >= count * _APART:
        for run in itertools.product(*runs):
            to.write(selection(tuple(s for _, s in run), to.shape), values[tuple(at for at, _ in run)])
        return
    each = [np.arange(n)[r] if isinstance(r, slice) else r for r, n in zip(rows, to.shape)]
    for slab in _slabs(values.shape):
        part = [r[slab[axis]] if axis < len(slab) else r for axis, r in enumerate(each)]
        _scatter(to, [c.reshape(-1) for c in _places(part)], _flat(values[slab]))


def _scatter(to: Target, coords: list[Any], values: Any) -> None:
    """Elements (or one for all) to their places, the last one where a place comes twice; tile by tile."""
    tile = np.zeros(len(coords[0]), np.int64)
    for c, t, n in zip(coords, to.tile, to.shape):
        tile = tile * -(-n // t) + c // t
    order = np.argsort(tile, kind="stable")
    ends = np.flatnonzero(np.diff(tile[order])) + 1
    for part in np.split(order, ends) if len(order) else ():
        _scatter_in(to, [c[part] for c in coords], values if np.ndim(values) == 0 else values[part])


def _scatter_in(to: Target, coords: list[Any], values: Any) -> None:
    low = [int(c.min()) for c in coords]
    shape = tuple(int(c.max()) + 1 - lo for c, lo in zip(coords, low))
    nbytes = int(np.prod(shape, dtype=object)) * to.dtype.itemsize
    n = len(coords[0])
    if n <= 2 if to.chunked else nbytes > n * _APART:
        for i in range(n):
            to.write("[" + ", ".join(str(int(c[i])) for c in coords) + "]", values if np.ndim(values) == 0 else values[i : i + 1])
        return
    where = selection(tuple(slice(lo, lo + k) for lo, k in zip(low, shape)), to.shape)
    box = to.read(where, shape)
    box[tuple(c - lo for c, lo in zip(coords, low))] = values
    to.write(where, box)
