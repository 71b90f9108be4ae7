# SPDX-License-Identifier: BSD-3-Clause
"""Files as read-only Zarr v3 stores: metadata made from the tree, chunks as they are when decoded."""
from __future__ import annotations

import asyncio
import itertools
import json
import math
import os
import threading
import warnings
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any, NamedTuple, Optional

import numpy as np

try:
    import zarr
    from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
    from zarr.core.buffer import Buffer, BufferPrototype, default_buffer_prototype
except ImportError as error:
    raise ImportError("cippus.zarr_store needs zarr 3: pip install 'cippus[zarr]'") from error

from . import _errors
from ._array import Array
from ._file import File
from ._opening import open
from ._tree import Map, Seq

META = "zarr.json"
LARGEST_STORED = 256 << 20  # bytes of a stored chunk that is one of Zarr's as well
TARGET = 4 << 20  # bytes of the chunks that others are cut into
MOST_NODES = 10_000  # of the tree in one attribute: aliases can make few bytes of YAML very many


class Grid(NamedTuple):
    """What the metadata of an array say: a store keeps to it."""

    shape: tuple[int, ...]
    dtype: Any
    chunk: tuple[int, ...]

    def counts(self) -> tuple[int, ...]:
        return tuple(-(-n // c) for n, c in zip(self.shape, self.chunk))

    @property
    def chunk_nbytes(self) -> int:
        return math.prod(self.chunk) * int(self.dtype.itemsize)


def cut_rows(array: Array) -> tuple[int, ...]:
    """A chunk of an array that has none of its own: whole rows of its first axes, about TARGET bytes; of linear chunks as
    many rows as they have."""
    shape = [max(n, 1) for n in array.shape]
    nelem = max(TARGET // max(array.itemsize, 1), 1)
    if array.nchunks > 1:
        nelem = max(nelem, array.chunk(0).nelem)
    for axis, n in enumerate(shape):
        row = math.prod(shape[axis + 1 :])
        if n * row <= nelem:
            break
        shape[axis] = max(nelem // row, 1)
        if shape[axis] * row <= nelem:
            break
    return tuple(shape)


def grid_of(array: Array) -> Grid:
    dtype, stored = array.dtype.newbyteorder("<"), array.chunks
    if stored is None or len(stored) != array.ndim:
        return Grid(array.shape, dtype, cut_rows(array))
    chunk = tuple(max(min(c, n), 1) for c, n in zip(stored, array.shape))
    grid = Grid(array.shape, dtype, chunk)
    return grid if grid.chunk_nbytes <= LARGEST_STORED else Grid(array.shape, dtype, cut_rows(array))


def refusal(array: Array) -> Optional[str]:
    """Why Zarr cannot hold the array as it is, or None."""
    try:
        dtype = array.dtype
        masked = array.is_masked
    except _errors.Error as error:
        return str(error)
    if masked:
        return "elements may be missing, which Zarr has no mask for"
    fields = [dtype[name] for name in dtype.names] if dtype.names is not None else []
    if any(f.subdtype is not None or f.names is not None for f in fields) or dtype.itemsize == 0:
        return f"Zarr has no type for {dtype}"
    return None


def _plain(value: Any, left: list[int], depth: int = 0) -> Any:
    """A value of the tree as JSON has it; ValueError for what is none, has arrays in it, or more nodes than are left."""
    left[0] -= 1
    if left[0] < 0 or depth > 16:
        raise ValueError("too many nodes")
    if value is None or isinstance(value, (bool, int, str)):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, Map):
        return {str(k): _plain(v, left, depth + 1) for k, v in value.items()}
    if isinstance(value, Seq):
        return [_plain(v, left, depth + 1) for v in value]
    raise ValueError(f"{type(value).__name__} is nothing of JSON")


def attributes_of(node: Any) -> dict[str, Any]:
    """What a mapping of the tree has beside its arrays: scalars, and collections of up to MOST_NODES of them."""
    found: dict[str, Any] = {}
    for key, value in node.items() if isinstance(node, Map) else ():
        try:
            found[str(key)] = _plain(value, [MOST_NODES])
        except (ValueError, _errors.Error):
            continue
    return found


def _axis_names(shape: tuple[int, ...]) -> list[str]:
    """Axes of one place and length share a name; xarray wants one for each."""
    return [f"dim_{axis}_{n}" for axis, n in enumerate(shape)]


def _array_json(grid: Grid, attributes: dict[str, Any], dims: bool) -> bytes:
    """zarr-python's own words for the array."""
    made = zarr.storage.MemoryStore()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of types that the Zarr specification is still to fix
        zarr.create_array(
            made,
            shape=grid.shape,
            chunks=grid.chunk,
            dtype=grid.dtype,
            filters=None,
            compressors=None,
            fill_value=np.zeros((), grid.dtype)[()],
            attributes=attributes,
            dimension_names=_axis_names(grid.shape) if dims else None,
            zarr_format=3,
        )
    return made._store_dict[META].to_bytes()


class ZarrStore(Store):
    """A read-only store for Zarr v3: see cippus.zarr_store()."""

    supports_writes: bool = False
    supports_deletes: bool = False
    supports_listing: bool = True

    def __init__(self, file: Any, array_path: Optional[str] = None, dims: bool = True, **options: Any):
        super().__init__(read_only=True)
        self._lock = threading.RLock()
        self._owned = not isinstance(file, File)
        self._source, self._path, self._dims, self._options = file, array_path, dims, options
        self._file: File = open(file, **options) if self._owned else file
        self._grids: dict[str, Grid] = {}
        self._meta: dict[str, bytes] = {}
        self.refused: dict[str, str] = {}
        try:
            self._arrays = self._named()
        except BaseException:
            self.close()
            raise
        self._groups = {""} if array_path is None and "" not in self._arrays else set()
        for path in self._arrays:
            steps = path.split("/")
            self._groups.update("/".join(steps[:i]) for i in range(len(steps)) if path)

    def _named(self) -> dict[str, Array]:
        """The arrays by Zarr's paths: one alone at the root; of several all but those below another, and but the records
        that a table's columns are together."""
        if self._path is not None:
            array = self._file[self._path] if self._path else self._file.arrays[""]
            if not isinstance(array, Array):
                raise self._error(_errors.WrongTypeError, self._path, "expected an array")
            why = refusal(array)
            if why is not None:
                raise self._error(_errors.UnsupportedError, self._path, why)
            return {"": array}
        found: dict[str, Array] = {}
        arrays = self._file.arrays
        for path in arrays:
            if path == "" and len(arrays) > 1:
                continue
            steps = path.split("/")
            if any("/".join(steps[:i]) in arrays for i in range(1, len(steps))):
                continue
            why = refusal(arrays[path])
            if why is None and any(s in ("", ".", "..", META) or s.startswith("__") for s in steps if path):
                why = "Zarr has no node of that name"
            if why is None:
                found[path] = arrays[path]
            else:
                self.refused[path] = why
        if "" in self.refused:
            raise self._error(_errors.UnsupportedError, "", self.refused[""])
        return found

    def _error(self, kind: type[_errors.Error], part: str, text: str) -> _errors.Error:
        return _errors._again(kind, text, part, None, self._file.path)

    # --- what there is

    def _grid(self, path: str) -> Grid:
        with self._lock:
            grid = self._grids.get(path)
            if grid is None:
                grid = self._grids[path] = grid_of(self._arrays[path])
        return grid

    def _metadata(self, path: str) -> Optional[bytes]:
        """zarr.json of a node."""
        if path in self.refused:
            raise self._error(_errors.UnsupportedError, path, self.refused[path])
        if path not in self._arrays and path not in self._groups:
            return None
        with self._lock:
            if path in self._meta:
                return self._meta[path]
            if path in self._arrays:
                beside = attributes_of(self._file.tree) if path == "" and self._path is None else {}
                text = _array_json(self._grid(path), beside, self._dims)
            else:
                node = self._file.tree if path == "" else self._file[path]
                group = {"zarr_format": 3, "node_type": "group", "attributes": attributes_of(node)}
                text = json.dumps(group).encode()
            self._meta[path] = text
            return text

    def _chunk_key(self, key: str) -> Optional[tuple[str, tuple[int, ...]]]:
        """The array and the chunk that a key names."""
        steps = key.split("/")
        for at in range(len(steps) - 1, -1, -1):
            path = "/".join(steps[:at])
            if steps[at] == "c" and path in self._arrays:
                numbers = steps[at + 1 :]
                counts = self._grid(path).counts()
                if len(numbers) != len(counts) or not all(n.isdecimal() and n == str(int(n)) for n in numbers):
                    return None
                index = tuple(map(int, numbers))
                return (path, index) if all(i < n for i, n in zip(index, counts)) else None
        return None

    def _chunk(self, path: str, index: tuple[int, ...]) -> Any:
        """The bytes of a chunk, as an array: complete ones, with zeros behind the array's ends."""
        array, grid = self._arrays[path], self._grid(path)
        if array.shape != grid.shape or array.dtype.newbyteorder("<") != grid.dtype:
            raise self._error(_errors.BusyError, path, "the array has another shape or type than when the store was made")
        box = tuple(slice(i * c, min((i + 1) * c, n)) for i, c, n in zip(index, grid.chunk, grid.shape))
        size = tuple(s.stop - s.start for s in box)
        if size == grid.chunk:
            values = array.read(box)
        else:
            values = np.zeros(grid.chunk, array.dtype)
            array.read(box, out=values[tuple(slice(n) for n in size)])
        values = np.asarray(values).astype(grid.dtype, copy=False)
        return np.ascontiguousarray(values).reshape(-1).view(np.uint8)

    def _find(self, key: str) -> Any:
        """The value at a key, as bytes or an array of them, or None."""
        if key == META or key.endswith("/" + META):
            return self._metadata(key[: -len(META) - 1])
        found = self._chunk_key(key)
        return None if found is None else self._chunk(*found)

    def _size(self, key: str) -> Optional[int]:
        found = self._chunk_key(key)
        if found is not None:
            return self._grid(found[0]).chunk_nbytes
        text = self._metadata(key[: -len(META) - 1]) if key == META or key.endswith("/" + META) else None
        return None if text is None else len(text)

    def _below(self, path: str) -> Iterator[str]:
        """The keys of an array's chunks."""
        start = f"{path}/c" if path else "c"
        for index in itertools.product(*(range(n) for n in self._grid(path).counts())):
            yield "/".join((start, *map(str, index)))

    def _keys(self, prefix: str) -> Iterator[str]:
        for path in sorted(self._groups | set(self._arrays)):
            meta = f"{path}/{META}" if path else META
            if meta.startswith(prefix):
                yield meta
            start = f"{path}/c" if path else "c"
            if path in self._arrays and (start.startswith(prefix) or prefix.startswith(start)):
                yield from (key for key in self._below(path) if key.startswith(prefix))

    def _children(self, prefix: str) -> Iterator[str]:
        here = prefix.strip("/")
        if here in self._groups or here in self._arrays:
            yield META
        if here in self._arrays:
            yield "c"
        start = f"{here}/" if here else ""
        nodes = (p[len(start) :] for p in self._groups | set(self._arrays) if p.startswith(start) and p != here)
        yield from dict.fromkeys(p.split("/")[0] for p in nodes)
        steps = here.split("/")
        for at, step in enumerate(steps):  # within the chunks of an array
            path = "/".join(steps[:at])
            if step == "c" and path in self._arrays:
                counts, depth = self._grid(path).counts(), len(steps) - at - 1
                yield from map(str, range(counts[depth])) if depth < len(counts) else ()

    # --- zarr.abc.store.Store

    async def get(
        self, key: str, prototype: Optional[BufferPrototype] = None, byte_range: Optional[ByteRequest] = None
    ) -> Optional[Buffer]:
        value = await asyncio.to_thread(self._find, key)
        if value is None:
            return None
        if isinstance(byte_range, RangeByteRequest):
            value = value[byte_range.start : byte_range.end]
        elif isinstance(byte_range, OffsetByteRequest):
            value = value[byte_range.offset :]
        elif isinstance(byte_range, SuffixByteRequest):
            value = value[max(len(value) - byte_range.suffix, 0) :]
        buffer = (prototype or default_buffer_prototype()).buffer
        found: Buffer = buffer.from_bytes(value) if isinstance(value, bytes) else buffer.from_array_like(value)
        return found

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, Optional[ByteRequest]]]
    ) -> list[Optional[Buffer]]:
        return [await self.get(key, prototype, byte_range) for key, byte_range in key_ranges]

    async def exists(self, key: str) -> bool:
        return await asyncio.to_thread(self._size, key) is not None

    async def getsize(self, key: str) -> int:
        size = await asyncio.to_thread(self._size, key)
        if size is None:
            raise FileNotFoundError(key)
        return size

    async def list(self) -> AsyncIterator[str]:
        for key in self._keys(""):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        for key in self._keys(prefix):
            yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        for name in self._children(prefix):
            yield name

    async def set(self, key: str, value: Buffer) -> None:
        self._check_writable()

    async def delete(self, key: str) -> None:
        self._check_writable()

    def with_read_only(self, read_only: bool = False) -> ZarrStore:
        if not read_only:
            raise ValueError("stores of cippus are read-only")
        return type(self)(self._source, self._path, self._dims, **self._options)

    def close(self) -> None:
        if self._owned:
            self._file.close()
        self._is_open = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ZarrStore) and self._key() == other._key()

    __hash__ = None  # type: ignore[assignment]

    def _key(self) -> tuple[Any, ...]:
        return (self._source, self._path, self._dims, sorted(self._options.items()))

    def __str__(self) -> str:
        return f"cippus://{self._file.path}"

    def __repr__(self) -> str:
        return f"<cippus zarr store {self._file.path!r}: {len(self._arrays)} arrays>"

    def __reduce__(self) -> Any:
        if not isinstance(self._source, (str, os.PathLike)):
            raise TypeError("a store is pickled by its file's path; this one was made of an open file")
        return _reopen, (self._source, self._path, self._dims, self._options)


def _reopen(source: Any, path: Optional[str], dims: bool, options: dict[str, Any]) -> ZarrStore:
    return ZarrStore(source, path, dims, **options)
