# SPDX-License-Identifier: BSD-3-Clause
"""Keys that are not basic: integer and boolean arrays as numpy reads them, and orthogonal ones.

Both come down to basic reads (a slice for each run of neighbouring rows) and points, so only what is asked for is read.
"""
from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

_WORDS = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices"
)


def _as_array(item: Any) -> Any:
    array = np.asarray(item)
    if array.size == 0 and array.dtype.kind == "f" and not isinstance(item, np.ndarray):
        array = array.astype(np.intp)  # [] is no float
    if array.dtype.kind not in "iub":
        if isinstance(item, np.ndarray):
            raise IndexError("arrays used as indices must be of integer (or boolean) type")
        raise IndexError(_WORDS)
    return array


def items_of(key: Any, ndim: int) -> list[Any]:
    """The items with arrays for lists, the ellipsis written out as slices, one for each axis; one that stands for no
    axis stays, as numpy's indices on its two sides are apart all the same."""
    items = [
        item if item is None or item is Ellipsis or isinstance(item, slice) else _as_array(item)
        for item in (key if isinstance(key, tuple) else (key,))
    ]
    if sum(item is Ellipsis for item in items) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    taken = sum(_axes(item) for item in items)
    if taken > ndim:
        raise IndexError(f"too many indices for array: array is {ndim}-dimensional, but {taken} were indexed")
    whole: list[Any] = [slice(None)] * (ndim - taken)
    for i, item in enumerate(items):
        if item is Ellipsis:
            return items[:i] + (whole or [Ellipsis]) + items[i + 1 :]
    return items + whole


def _axes(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    if isinstance(item, slice):
        return 1
    return int(item.ndim) if item.dtype.kind == "b" else 1


def _check_bool(item: Any, axis: int, shape: tuple[int, ...]) -> None:
    for i, n in enumerate(item.shape):
        if n != shape[axis + i]:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis + i}; size of axis is {shape[axis + i]} "
                f"but size of corresponding boolean axis is {n}"
            )


def _wrapped(index: Any, axis: int, n: int) -> Any:
    bad = (index < -n) | (index >= n)
    if bad.any():
        found = int(index[bad].flat[0] if index.ndim else index)
        raise IndexError(f"index {found} is out of bounds for axis {axis} with size {n}")
    index = index.astype(np.int64)
    return np.where(index < 0, index + n, index)


def runs(rows: Any) -> Iterator[tuple[int, slice]]:
    """(where it goes, what is read) for each run of neighbours among rising row numbers."""
    if len(rows):
        ends = np.flatnonzero(np.diff(rows) != 1) + 1
        for first, last in zip([0, *ends.tolist()], [*ends.tolist(), len(rows)]):
            yield first, slice(int(rows[first]), int(rows[last - 1]) + 1)


def _read_rows(array: Any, rows: list[Any]) -> Any:
    """The box of some rows of each axis (rising, each once; or a slice), read by runs."""
    if all(isinstance(r, slice) for r in rows):
        return array._read(tuple(rows), None, False, None)
    lengths = [len(range(*r.indices(n))) if isinstance(r, slice) else len(r) for r, n in zip(rows, array.shape)]
    box = np.empty((*lengths, *array.shape[len(rows) :]), array.dtype)
    parts = [[(None, r)] if isinstance(r, slice) else list(runs(r)) for r in rows]
    for run in itertools.product(*parts):
        where = tuple(slice(None) if at is None else slice(at, at + r.stop - r.start) for at, r in run)
        array._read(tuple(r for _, r in run), box[where], False, None)
    return box


def rows_of(key: Any, shape: tuple[int, ...]) -> list[Any]:
    """For each axis a slice, or an integer array of one axis or none."""
    rows: list[Any] = []
    for axis, item in enumerate(i for i in items_of(key, len(shape)) if i is not Ellipsis):
        if item is None:
            raise IndexError("oindex takes no new axes")
        if isinstance(item, slice):
            rows.append(item)
            continue
        if item.ndim > 1:
            raise IndexError("oindex takes arrays of one axis")
        if item.dtype.kind == "b":
            if item.ndim == 0:
                raise IndexError(_WORDS)
            _check_bool(item, axis, shape)
            item = np.flatnonzero(item)
        rows.append(_wrapped(item, axis, shape[axis]))
    return rows


def orthogonal(array: Any, key: Any) -> Any:
    """Each item for its own axis: integers, slices, lists of integers or booleans of one axis."""
    items = rows_of(key, array.shape)
    rows: list[Any] = []
    back: list[Any] = []
    for axis, item in enumerate(items):
        if isinstance(item, slice) and item.step not in (None, 1):  # rows, turned where they fall
            index = np.arange(*item.indices(array.shape[axis]), dtype=np.int64)
            rows.append(index if item.step > 0 else index[::-1])
            back.append(slice(None) if item.step > 0 else slice(None, None, -1))
        elif isinstance(item, slice):
            rows.append(item)
            back.append(slice(None))
        else:
            found, inverse = np.unique(item, return_inverse=True)
            rows.append(found)
            back.append(inverse.reshape(item.shape) if item.ndim else 0)
    box = _read_rows(array, rows)
    for axis in reversed(range(len(back))):
        if not isinstance(back[axis], slice) or back[axis] != slice(None):
            box = box[(slice(None),) * axis + (back[axis],)]
    return box


class _Key:
    """An advanced key: where in the array each index stands, and how numpy lays the result out."""

    def __init__(self, items: list[Any], shape: tuple[int, ...]):
        self.slices: dict[int, slice] = {}  # axis -> basic slice
        self.index: list[tuple[int, Any]] = []  # (axis, integer array)
        self.layout: list[Any] = []  # in order: an axis of a slice, None, an empty ellipsis, or "at" for an index
        empty: list[Any] = []
        axis = 0
        for item in items:
            if item is None or item is Ellipsis:
                self.layout.append(item)
            elif isinstance(item, slice):
                self.slices[axis] = item
                self.layout.append(axis)
                axis += 1
            elif item.dtype.kind == "b":
                _check_bool(item, axis, shape)
                if item.ndim == 0:
                    empty.append(np.zeros(int(item), np.int64))
                found = item.nonzero() if item.ndim else ()
                self.index += [(axis + i, part) for i, part in enumerate(found)]
                self.layout.append("at")
                axis += item.ndim
            else:
                self.index.append((axis, item))
                self.layout.append("at")
                axis += 1
        try:
            self.shape = np.broadcast_shapes(*(i.shape for _, i in self.index), *(e.shape for e in empty))
        except ValueError:
            shapes = " ".join(str(i.shape) for _, i in self.index)
            raise IndexError(f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes}") from None
        nothing = 0 in self.shape  # then numpy looks at integers, but at no arrays
        self.index = [
            (axis, np.zeros((), np.int64) if nothing and item.ndim else _wrapped(item, axis, shape[axis]))
            for axis, item in self.index
        ]
        self.coords = [np.broadcast_to(i, self.shape).reshape(-1) for _, i in self.index]

    def place(self, gathered: Any) -> Any:
        """From (points, slices in order) to numpy's order of axes."""
        out = gathered.reshape(self.shape + gathered.shape[1:])
        at = [i for i, x in enumerate(self.layout) if isinstance(x, str)]
        together = at[-1] - at[0] + 1 == len(at)
        before = [x for x in self.layout[: at[0]] if x is not Ellipsis] if together else []
        n = len(self.shape)
        kept = [x for x in before if x is not None]
        out = np.moveaxis(out, range(n, n + len(kept)), range(len(kept))) if kept else out
        rest = [x for x in self.layout[at[0] if together else 0 :] if not isinstance(x, str) and x is not Ellipsis]
        key = [None if x is None else slice(None) for x in before] + [slice(None)] * n
        key += [None if x is None else slice(None) for x in rest]
        return out[tuple(key)]


def advanced(array: Any, key: Any) -> Any:
    """numpy's reading of integer and boolean arrays."""
    items = items_of(key, len(array.shape))
    k = _Key(items, array.shape)
    if not k.index:  # True and False alone
        rest = array._read(tuple(k.slices[a] for a in sorted(k.slices)), None, False, None)
        n = int(np.prod(k.shape))
        return k.place(np.repeat(rest[None], n, axis=0))
    return k.place(_gather(array, k))


def _gather(array: Any, k: _Key) -> Any:
    npoint = len(k.coords[0])
    if not k.slices and array._field_name is None and array.dtype.itemsize:
        order = [axis for axis, _ in k.index]
        coords = np.empty((npoint, len(order)), np.int64)
        for axis, index in zip(order, k.coords):
            coords[:, axis] = index
        out = np.empty(npoint, array.dtype)
        array._points(coords, out)
        return out
    if len(k.index) == 1:
        axis, (index,) = k.index[0][0], k.coords
        found, inverse = np.unique(index, return_inverse=True)
        box = orthogonal(array, tuple(found if a == axis else k.slices[a] for a in range(axis + len(k.slices) + 1) if a == axis or a in k.slices))
        return np.moveaxis(box, axis, 0)[inverse.reshape(-1)]
    return _gather_slabs(array, k, npoint)


def _gather_slabs(array: Any, k: _Key, npoint: int) -> Any:
    """A basic read for each point that several indices name."""
    coords = np.stack(k.coords, axis=1) if npoint else np.empty((0, len(k.index)), np.int64)
    found, inverse = np.unique(coords, axis=0, return_inverse=True)
    axes = [axis for axis, _ in k.index]
    named = len(axes) + len(k.slices)
    whole = tuple(slice(0, 0) if a in axes else k.slices[a] for a in range(named))
    slab = [n for a, n in enumerate(array._read(whole, None, False, None).shape) if a not in axes]
    out = np.empty((len(found), *slab), array.dtype)
    for i, point in enumerate(found.tolist()):
        at = dict(zip(axes, point))
        array._read(tuple(at[a] if a in at else k.slices[a] for a in range(named)), out[i, ...], False, None)
    return out[inverse.reshape(-1)]
