# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of a file: numpy's way of asking for them."""
from __future__ import annotations

import html
import math
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional, SupportsIndex

import numpy as np

from . import _cippus, _index
from ._attrs import Attrs
from ._mask import Mask, masked, missing
from ._progress import Progress, telling
from ._tree import escape_field


class Chunk(NamedTuple):
    """A chunk of an array as it is stored (docs/guide/chunks.md has the words). `run` chunks from this one on are the same
    special value; `start` and `stop` are its box; `offset` is None for bytes that do not lie in a file as they are."""

    number: int
    run: int
    state: str
    start: tuple[int, ...]
    stop: tuple[int, ...]
    box_exact: bool
    first: int
    nelem: int
    range_exact: bool
    decoded_nbytes: int
    origin: int
    strides: Optional[tuple[int, ...]]
    padded: Optional[tuple[int, ...]]
    block: Optional[tuple[int, ...]]
    place: str
    offset: Optional[int]
    stored_nbytes: int
    member: str
    codec: str
    checksum_kind: Optional[str]
    checksum: bytes
    value: bytes
    why: Optional[str]


class OrthogonalIndex:
    """`array.oindex[[1, 5], :, mask]`: each item counts for its own axis, as numpy.ix_."""

    def __init__(self, array: Array):
        self._array = array

    def __getitem__(self, key: Any) -> Any:
        return self._array._with_mask(_index.orthogonal, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array.file._write_array(self._array, key, value, True)


class Array(_cippus.Array):
    """An array in a file. `a[...]` reads into numpy arrays, and only what is asked for; `a["x"]` is the array of a
    record's field, by its name as it is ("a/b" too); one of its own fields is `a["x"]["y"]`. It keeps its file alive, but not open."""

    __slots__ = ()

    # --- what it is

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """Bytes of its elements in memory."""
        return self.size * self.itemsize

    @property
    def chunks(self) -> Optional[tuple[int, ...]]:
        """The shape of its chunks, or None where it has none."""
        return self._storage[3]

    @property
    def blocks(self) -> Optional[tuple[int, ...]]:
        """The shape of the blocks in its chunks that are decoded alone (Blosc2's n-d arrays), or None."""
        return self.chunk(0).block if self.chunks is not None and self._field_name is None and self.nchunks else None

    @property
    def attrs(self) -> Attrs:
        """What the file says of it besides: see Attrs."""
        return Attrs(self)

    @property
    def codec(self) -> str:
        """What its chunks are encoded with, filters included, as far as the file says it for all of them."""
        return self._storage[1]

    @property
    def storage(self) -> str:
        """How it lies in the file: "internal", "inline", "external", "streamed", ..."""
        return self._storage[0]

    @property
    def stored_nbytes(self) -> int:
        """Bytes in the file, of the whole block where several arrays share one."""
        return self._storage[2]

    @property
    def cratio(self) -> float:
        """How many bytes in memory come from one in the file."""
        stored = self.stored_nbytes
        return self.nbytes / stored if stored else math.nan

    @property
    def is_masked(self) -> bool:
        """Whether elements of it may be missing: `read(mask=True)` tells which."""
        return self._storage[5]

    @property
    def fields(self) -> Optional[tuple[str, ...]]:
        names = self.dtype.names
        return None if names is None else tuple(names)

    # --- reading

    @property
    def oindex(self) -> OrthogonalIndex:
        return OrthogonalIndex(self)

    def _fancy(self, key: Any) -> Any:
        """Called by the extension for keys that are not basic, and where elements may be missing."""
        if isinstance(key, str):
            if key == "":  # the path of all of it
                raise KeyError(key)
            return self._field(escape_field(key))
        if isinstance(key, list) and key and all(isinstance(name, str) for name in key):
            return self[...][key]
        if isinstance(key, tuple):  # arrays without axes are integers in numpy
            if any(map(_is_zero_d, key)):
                return self[tuple(int(i) if _is_zero_d(i) else i for i in key)]
        elif _is_zero_d(key):
            return self[int(key)]
        if not self.is_masked:
            return _index.advanced(self, key)
        found = self._read(key, None, True, None)
        if found is NotImplemented:
            return self._with_mask(_index.advanced, key)
        array = masked(*found)
        return array if array.ndim or any(i is Ellipsis for i in (key if isinstance(key, tuple) else (key,))) else array[()]

    def _with_mask(self, read: Any, key: Any) -> Any:
        """A reading of _index, and where elements may be missing the same of the mask."""
        found = read(self, key)
        return masked(found, read(Mask(self), key)) if self.is_masked else found

    def read(
        self,
        key: Any = ...,
        *,
        out: Optional[np.ndarray[Any, Any]] = None,
        mask: Optional[bool] = None,
        progress: Optional[Progress] = None,
    ) -> Any:
        """As `a[key]`, into `out` (of the selection's shape; cast as numpy's same_kind), with `progress(done, total)`, or a bar
        of tqdm, told how many elements are done. `mask`: True gives a masked array, False what lies under the mask, None
        (the default) a masked array where elements may be missing, which needs `mask=False` for `out`."""
        if isinstance(key, str):
            return self[key].read(out=out, mask=mask, progress=progress)
        progress = telling(progress)
        if mask is None:
            mask = self.is_masked
        if mask:
            if out is not None:
                raise TypeError("elements may be missing, which out has no place for: mask=False reads what lies under the mask")
            found = self._read(key, None, True, progress)
            if found is NotImplemented:
                return np.ma.asarray(self[key])
            return masked(*found)
        direct = out is not None and out.dtype == self.dtype and out.flags.writeable and out.flags.aligned
        if out is None or direct:
            found = self._read(key, out, False, progress)
            if found is not NotImplemented:
                return found
        if out is None:
            if not self.is_masked:
                return np.asarray(self[key])
            names = isinstance(key, list) and key and isinstance(key[0], str)
            return self.read(mask=False)[key] if names else _index.advanced(self, key)
        np.copyto(out, self.read(key, progress=progress, mask=False), casting="same_kind")
        return out

    def points(self, *index: Any) -> Any:
        """Scattered elements: one integer array for each axis."""
        if len(index) != self.ndim:
            raise IndexError(f"expected {self.ndim} arrays of indices, found {len(index)}")
        return self._with_mask(_index.advanced, tuple(np.asarray(i) for i in index))

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        if copy is False:
            raise ValueError("reading from a file makes a copy; view() does not")
        found = self._whole()
        return found if dtype is None else found.astype(dtype, copy=False)

    def _whole(self) -> Any:
        """All of it as an array of numpy, which has no place for missing elements."""
        found = self.read()
        if count := missing(found):
            raise TypeError(
                f"{count} elements of {self.path!r} are missing, which a plain array cannot say: "
                "use a[...], a masked array, or a.read(mask=False), what lies under the mask"
            )
        return np.ma.getdata(found)

    def __dlpack__(self, **options: Any) -> Any:
        return self._whole().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # the memory of the host

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: object) -> bool:
        return value in self.read()

    def __bool__(self) -> bool:
        return bool(self.read())

    def __int__(self) -> int:
        return int(self.read())

    def __float__(self) -> float:
        return float(self.read())

    def __index__(self) -> int:
        found = self.read()
        if found.ndim or found.dtype.kind not in "iu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(found)

    # --- its chunks

    @property
    def nchunks(self) -> int:
        """How many chunks it is stored in: 1 where its data are one piece."""
        return self._nchunk()

    def chunk(self, index: int) -> Chunk:
        """Where a chunk lies and what it holds. (Of a record's field: the records' chunk.)"""
        return Chunk(*self._chunk(index))

    def chunk_table(self) -> Iterator[Chunk]:
        """All chunks in the order of the file's own table, a run of one special value as one."""
        at, count = 0, self._nchunk()
        while at < count:
            chunk = self.chunk(at)
            yield chunk
            at += chunk.run

    def read_chunk(self, index: int, *, stored: bool = False) -> bytes:
        """A chunk's bytes as they are stored, or decoded: in the stored byte order, padding included."""
        return self._read_chunk(index, stored)

    # --- writing, in a file opened as "r+"

    def __setitem__(self, key: Any, value: Any) -> None:
        self.file._write_array(self, key, value)

    def append(self, rows: Any) -> None:
        """Adds rows along the first axis, at the file's next commit."""
        self.file._append_array(self, rows)

    def resize(self, shape: SupportsIndex | tuple[int, ...]) -> None:
        """Another shape of as many axes, at the next commit: elements stay where they are, new ones are zeros."""
        self.file._resize_array(self, shape)

    # --- words

    def __repr__(self) -> str:
        try:
            what = f"shape={self.shape} dtype={self.dtype} codec={self.codec}"
            chunks = f" chunks={self.chunks}" if self.chunks else ""
        except Exception as error:  # a closed file, one that is damaged: a repr says so
            return f"<cippus.Array {self.path!r}: {error}>"
        field = f" field={self._field_name!r}" if self._field_name is not None else ""
        return f"<cippus.Array {self.path!r}{field} {what}{chunks}>"

    def _repr_html_(self) -> str:
        rows = [
            ("path", self.path),
            ("shape", self.shape),
            ("dtype", self.dtype),
            ("chunks", self.chunks),
            ("codec", self.codec),
            ("ratio", f"{self.cratio:.2f}" if self.stored_nbytes else "-"),
        ]
        cells = "".join(f"<tr><th>{k}</th><td>{html.escape(str(v))}</td></tr>" for k, v in rows)
        return f'<div style="display:flex;gap:1em"><table>{cells}</table>{_picture(self.shape, self.chunks)}</div>'

    def __reduce__(self) -> Any:
        raise TypeError("arrays of an open file cannot be pickled; read them, or open the file there")


def _is_zero_d(item: Any) -> bool:
    return isinstance(item, (np.ndarray, Array)) and item.ndim == 0 and item.dtype.kind in "iu"


def _picture(shape: tuple[int, ...], chunks: Optional[tuple[int, ...]]) -> str:
    """The last two axes as a box with lines between chunks."""
    if not shape or 0 in shape:
        return ""
    high, wide = (1, *shape)[-2:]
    scale = 100 / max(high, wide)
    h, w = max(high * scale, 6), max(wide * scale, 6)
    lines = ""
    if chunks:
        ch, cw = (1, *chunks)[-2:]
        down = range(ch, high, ch) if ch > 0 and high / ch <= 50 else ()
        across = range(cw, wide, cw) if cw > 0 and wide / cw <= 50 else ()
        lines += "".join(f'<line x1="0" x2="{w:.1f}" y1="{y / high * h:.1f}" y2="{y / high * h:.1f}"/>' for y in down)
        lines += "".join(f'<line y1="0" y2="{h:.1f}" x1="{x / wide * w:.1f}" x2="{x / wide * w:.1f}"/>' for x in across)
    return (
        f'<svg width="{w + 2:.0f}" height="{h + 2:.0f}" stroke="#888" fill="#8883">'
        f'<rect x="0" y="0" width="{w:.1f}" height="{h:.1f}"/>{lines}</svg>'
    )
