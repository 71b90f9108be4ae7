# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of a file: numpy's way of asking for them."""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, SupportsIndex

import numpy as np

from . import _cippus, _index
from ._attrs import Attrs
from ._errors import PathMissingError, no_key
from ._mask import Mask, masked, missing
from ._progress import Progress, telling
from ._tree import escape_field
from ._words import keywords

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import PictureOptions


class Chunk(NamedTuple):
    """How a chunk of an array is stored; docs/guide/chunks.md explains the words."""

    number: int
    """the index of the chunk"""
    run: int
    """this many chunks, from this one on, hold the same special value; 1 for data"""
    state: str
    """ "data", or a special value: "zero", "nan", "uninit", "value", "missing" """
    start: tuple[int, ...]
    """the first index of its box, along each axis"""
    stop: tuple[int, ...]
    """the index after the last of its box, along each axis"""
    box_exact: bool
    """whether the box holds the elements of this chunk and no others"""
    first: int
    """the number of its first element, counted in C order"""
    nelem: int
    """the number of elements; 0 where it has none of this array"""
    range_exact: bool
    """whether elements `first` to `first + nelem - 1` are those of this chunk and no others"""
    decoded_nbytes: int
    """the number of bytes when decoded"""
    origin: int
    """the byte of element (0, 0, ...) in the decoded bytes, by `strides`"""
    strides: Optional[tuple[int, ...]]
    """the strides in the decoded bytes, or None for n-d chunks"""
    padded: Optional[tuple[int, ...]]
    """the shape with padding, of n-d chunks"""
    block: Optional[tuple[int, ...]]
    """the shape of the blocks, of n-d chunks"""
    place: str
    """where its bytes lie: "file", "memory", "decoded" (within other compressed data) or "none" """
    offset: Optional[int]
    """its first byte in the file, or None where its bytes do not lie there as they are"""
    stored_nbytes: int
    """the number of bytes in the file"""
    member: str
    """the file beside this one that it lies in, or "" for this file"""
    codec: str
    """its filters and codec, in the order of encoding"""
    checksum_kind: Optional[str]
    """the kind of its checksum"""
    checksum: bytes
    """its checksum, most significant byte first"""
    value: bytes
    """the element that every element equals, of the state "value" """
    why: Optional[str]
    """why it is missing"""


class OrthogonalIndex:
    """Orthogonal indexing: in `array.oindex[[1, 5], :, mask]` each item selects along its own axis, as with numpy.ix_."""

    def __init__(self, array: Array):
        self._array = array

    def __getitem__(self, key: Any) -> Any:
        return self._array._with_mask(_index.orthogonal, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array.file._write_array(self._array, key, value, True)


class Array(_cippus.Array):
    """An array in a file. `a[...]` accepts NumPy indexing, and reads and decodes only what it needs. `a["x"]` is the field "x" of
    an array of records, and `a["x"]["y"]` a field of that field. Closing the file ends the use of its arrays."""

    __slots__ = ()

    # --- what it is

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """The bytes of one element in memory."""
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """The bytes of all elements in memory."""
        return self.size * self.itemsize

    @property
    def chunks(self) -> Optional[tuple[int, ...]]:
        """The shape of the chunks, or None where the array has none."""
        return self._storage[3]

    @property
    def blocks(self) -> Optional[tuple[int, ...]]:
        """The shape of the blocks in a chunk, each of which can be decoded alone (n-d arrays of Blosc2), or None."""
        return self.chunk(0).block if self.chunks is not None and self._field_name is None and self.nchunks else None

    @property
    def attrs(self) -> Attrs:
        """The metadata that the file has about the array: see Attrs."""
        return Attrs(self)

    @property
    def codec(self) -> str:
        """The codec and filters of the chunks, as far as the file states them for all chunks together."""
        return self._storage[1]

    @property
    def storage(self) -> str:
        """How the data lie in the file: "internal", "inline", "external", "streamed", ..."""
        return self._storage[0]

    @property
    def stored_nbytes(self) -> int:
        """The bytes in the file; where several arrays share a block, those of the whole block. 0 where they are not known before chunks are looked for (HDF5, Zarr)."""
        return self._storage[2]

    @property
    def cratio(self) -> float:
        """The compression ratio: bytes in memory for each byte in the file."""
        stored = self.stored_nbytes
        return self.nbytes / stored if stored else math.nan

    @property
    def is_masked(self) -> bool:
        """Whether elements may be missing; `read(mask=True)` says which."""
        return self._storage[5]

    @property
    def fields(self) -> Optional[tuple[str, ...]]:
        """The names of the fields of records, or None where elements are no records."""
        names = self.dtype.names
        return None if names is None else tuple(names)

    # --- reading

    @property
    def oindex(self) -> OrthogonalIndex:
        """Orthogonal indexing: `a.oindex[[3, 99], [0, 5]]` selects along each axis by itself."""
        return OrthogonalIndex(self)

    def _fancy(self, key: Any) -> Any:
        """Called by the extension for keys that are not basic, and where elements may be missing."""
        if isinstance(key, str):
            try:
                if key != "":  # the path of all of it
                    return self._field(escape_field(key))
            except PathMissingError:
                pass
            raise no_key(key, lambda: self.fields or ())
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

    @keywords
    def read(
        self,
        key: Any = ...,
        *,
        out: Optional[np.ndarray[Any, Any]] = None,
        mask: Optional[bool] = None,
        progress: Optional[Progress] = None,
    ) -> Any:
        """Read as `a[key]` does (all by default), with options.

        `out`: an array with the shape of the result, which is filled; values are cast by numpy's rule "same_kind".
        `mask`: True gives a masked array; False gives the values under the mask; None (default) gives a masked array where
        elements may be missing, and then `out` needs `mask=False`.
        `progress`: a function of (done, total) in elements, or a bar as tqdm makes them."""
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
        """Read scattered elements: `a.points(i, j)` takes an array of integers for each axis."""
        if len(index) != self.ndim:
            raise IndexError(f"expected {self.ndim} arrays of indices, found {len(index)}")
        return self._with_mask(_index.advanced, tuple(np.asarray(i) for i in index))

    def picture(self, key: Any = ..., **options: Unpack[PictureOptions]) -> bytes:
        """A picture of `a[key]` as a PNG file: two axes are an image, one is a line; of further axes index 0 is shown.

        `width`, `height`: the largest size in pixels (default 1024). `zoom`: pixels of an element's side.
        `limits`: the values of the first and last colour; else `percentile` (default 0.5 and 99.5, of a line 0 and 100).
        `scale`: "linear", "log", "asinh" or "sqrt". `map`: "viridis", "gray_r", ...: names of matplotlib.
        `bad`: the colour of missing values and NaN, as "#ff00ff", or "none". `axes`: with margins that show indices.
        `reduce`: what a pixel shows of several elements: "extremes" (the one farthest from the median), "sample" (the first), "min", "max"
        or "mean". Where reading all elements for "extremes" would exceed `max_nbytes`, it is "sample".
        `max_nbytes`: at most about so much is read or decoded (default 512 MiB); where that needs it, steps become longer."""
        from ._picture import picture

        return picture(self, key, **options).png

    def save_picture(self, path: Any, key: Any = ..., *, overwrite: bool = False, **options: Unpack[PictureOptions]) -> None:
        """Write `picture(key, ...)` to a file, which appears complete under its name."""
        from ._picture import save

        save(self.picture(key, **options), path, overwrite)

    def to_pandas(self) -> Any:
        """An array with one axis as a pandas object: records as a DataFrame with a column for each field, other elements as a
        Series. Missing values are missing there, too. All of the array is read. Needs pandas."""
        from ._export import of_array

        return of_array(self)

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
        """The number of chunks; 1 where the data are one piece."""
        return self._nchunk()

    def chunk(self, index: int) -> Chunk:
        """Where a chunk lies and what it holds; of a field, the chunk of its records."""
        return Chunk(*self._chunk(index))

    def chunk_table(self) -> Iterator[Chunk]:
        """All chunks in the order of the file; a run of chunks with one special value comes as one."""
        at, count = 0, self._nchunk()
        while at < count:
            chunk = self.chunk(at)
            yield chunk
            at += chunk.run

    @keywords
    def read_chunk(self, index: int, *, stored: bool = False) -> bytes:
        """The bytes of a chunk: decoded (in the stored byte order, with padding), or with `stored=True` as they lie in the file."""
        return self._read_chunk(index, stored)

    # --- writing, in a file opened as "r+"

    def __setitem__(self, key: Any, value: Any) -> None:
        self.file._write_array(self, key, value)

    def append(self, rows: Any) -> None:
        """Add rows at the end of the first axis; the next commit writes them."""
        self.file._append_array(self, rows)

    def resize(self, shape: SupportsIndex | tuple[int, ...]) -> None:
        """Change the shape, with the same number of axes; the next commit writes it. Elements keep their indices, new ones are 0."""
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
        from ._html import of_array

        return of_array(self)[0]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.fields or ())

    def __reduce__(self) -> Any:
        raise TypeError("arrays of an open file cannot be pickled; read them, or open the file there")


def _is_zero_d(item: Any) -> bool:
    return isinstance(item, (np.ndarray, Array)) and item.ndim == 0 and item.dtype.kind in "iu"
