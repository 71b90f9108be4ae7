# SPDX-License-Identifier: BSD-3-Clause
"""Codecs for numcodecs and Zarr: Blosc chunks of both generations, and what references of `cippus zarr-refs` need beside
numcodecs' own codecs. Both packages find them by their names once cippus is installed."""
from __future__ import annotations

import asyncio
import math
import struct
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Optional

import numpy as np

try:
    import numcodecs.lz4  # type: ignore[import-untyped]
    from numcodecs.abc import Codec  # type: ignore[import-untyped]
    from numcodecs.compat import ensure_bytes, ensure_contiguous_ndarray, ndarray_copy  # type: ignore[import-untyped]
    from zarr.abc.codec import BytesBytesCodec
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import Buffer
except ImportError as error:
    raise ImportError("cippus.zarr_codecs needs zarr 3 and numcodecs: pip install 'cippus[zarr]'") from error

from . import _cippus

MOST = 2**31 - 1  # bytes of a Blosc chunk


def _give(data: Any, out: Any) -> Any:
    return data if out is None else ndarray_copy(np.frombuffer(data, "u1"), out)


class Blosc(Codec):  # type: ignore[misc]
    """Blosc for numcodecs and Zarr v2. It writes chunks of Blosc2, or with `blosc1=True` those that Blosc 1.x reads too, and
    reads both. `cname`: "blosclz", "lz4", "lz4hc", "zlib" or "zstd". `clevel`: 0 to 9. `filter`: "shuffle", "bitshuffle",
    "delta+shuffle", "none", ... `typesize`: bytes of an element, 0 for that of the data. `blocksize`: 0 chooses one."""

    codec_id = "cippus_blosc"

    def __init__(
        self,
        cname: str = "zstd",
        clevel: int = 5,
        filter: str = "shuffle",
        typesize: int = 0,
        blocksize: int = 0,
        blosc1: bool = False,
    ):
        self.cname, self.clevel, self.filter = cname, clevel, filter
        self.typesize, self.blocksize, self.blosc1 = typesize, blocksize, blosc1

    def encode(self, buf: Any) -> bytes:
        """Encode one chunk."""
        data = ensure_contiguous_ndarray(buf, max_buffer_size=MOST)
        return _cippus.blosc_encode(
            data.view("u1"), self.cname, self.clevel or -1, self.typesize or data.dtype.itemsize, self.filter,
            self.blocksize, self.blosc1,
        )  # fmt: skip

    def decode(self, buf: Any, out: Any = None) -> Any:
        """Decode one chunk, into `out` if that is given."""
        return _give(_cippus.blosc_decode(ensure_contiguous_ndarray(buf).view("u1"), MOST), out)


class Pad(Codec):  # type: ignore[misc]
    """For references: decoding adds zeros to a last chunk that is shorter than `nbytes`."""

    codec_id = "cippus_pad"

    def __init__(self, nbytes: int):
        self.nbytes = nbytes

    def encode(self, buf: Any) -> Any:
        """Give a chunk as it is."""
        return buf

    def decode(self, buf: Any, out: Any = None) -> Any:
        """Decode one chunk, into `out` if that is given."""
        data = ensure_bytes(buf)
        if len(data) > self.nbytes:
            raise ValueError(f"expected at most {self.nbytes} bytes, found {len(data)}")
        return _give(data + bytes(self.nbytes - len(data)), out)


class Blocks(Codec):  # type: ignore[misc]
    """For references: the order of elements in chunks of Blosc2 arrays and of tiles. A chunk is the first corner of an array
    of the shape `padded`, which lies in blocks of the shape `block`, each in C order. `itemsize`: bytes of an element."""

    codec_id = "cippus_blocks"

    def __init__(self, chunk: list[int], padded: list[int], block: list[int], itemsize: int):
        self.chunk, self.padded, self.block, self.itemsize = chunk, padded, block, itemsize
        outer = [n // max(b, 1) for n, b in zip(padded, block)]
        if [o * b for o, b in zip(outer, block)] != list(padded) or any(c > p for c, p in zip(chunk, padded)):
            raise ValueError(f"expected chunks of {chunk} in {padded} of whole blocks of {block}")
        self._shape = (*outer, *block, itemsize)
        n = len(chunk)
        self._order = (*(axis for pair in zip(range(n), range(n, 2 * n)) for axis in pair), 2 * n)
        self._corner = tuple(slice(c) for c in chunk)

    def get_config(self) -> dict[str, Any]:
        """The parameters, as numcodecs stores them."""
        names = ("chunk", "padded", "block", "itemsize")
        return {"id": self.codec_id, **{name: getattr(self, name) for name in names}}

    def encode(self, buf: Any) -> bytes:
        """Encode one chunk."""
        n = len(self.chunk)
        whole = np.zeros((*self.padded, self.itemsize), "u1")
        whole[self._corner] = np.frombuffer(ensure_bytes(buf), "u1").reshape(*self.chunk, self.itemsize)
        halves = [m for pair in zip(self._shape[:n], self._shape[n : 2 * n]) for m in pair]
        return bytes(whole.reshape(*halves, self.itemsize).transpose(np.argsort(self._order)).tobytes())

    def decode(self, buf: Any, out: Any = None) -> Any:
        """Decode one chunk, into `out` if that is given."""
        data = np.frombuffer(ensure_bytes(buf), "u1")
        if data.size != math.prod(self._shape):
            raise ValueError(f"expected {math.prod(self._shape)} bytes, found {data.size}")
        whole = data.reshape(self._shape).transpose(self._order).reshape(*self.padded, self.itemsize)
        return _give(whole[self._corner].tobytes(), out)


class Lz4(Codec):  # type: ignore[misc]
    """For references: one LZ4 block without a header, which decodes to `nbytes` bytes."""

    codec_id = "cippus_lz4"

    def __init__(self, nbytes: int):
        self.nbytes = nbytes

    def encode(self, buf: Any) -> bytes:
        """Encode one chunk."""
        return bytes(numcodecs.lz4.compress(ensure_bytes(buf)))[4:]

    def decode(self, buf: Any, out: Any = None) -> Any:
        """Decode one chunk, into `out` if that is given."""
        return _give(bytes(numcodecs.lz4.decompress(struct.pack("<I", self.nbytes) + ensure_bytes(buf))), out)


class Lz4Blocks(Codec):  # type: ignore[misc]
    """For references: an ASDF block with the compression "lz4", which is pieces of up to `piece` bytes one after the other."""

    codec_id = "cippus_asdf_lz4"

    def __init__(self, piece: int = 1 << 22):
        self.piece = piece

    def encode(self, buf: Any) -> bytes:
        """Encode one chunk."""
        data = ensure_bytes(buf)
        pieces = (numcodecs.lz4.compress(data[i : i + self.piece]) for i in range(0, len(data), self.piece))
        return b"".join(struct.pack(">I", len(p)) + bytes(p) for p in pieces)

    def decode(self, buf: Any, out: Any = None) -> Any:
        """Decode one chunk, into `out` if that is given."""
        data, at, found = memoryview(ensure_bytes(buf)), 0, []
        while at < len(data):
            n = struct.unpack_from(">I", data, at)[0] if at + 4 <= len(data) else len(data)
            if n < 4 or n > len(data) - at - 4:
                raise ValueError(f"expected a piece of LZ4 at byte {at}, found {n} bytes of {len(data) - at}")
            found.append(bytes(numcodecs.lz4.decompress(data[at + 4 : at + 4 + n])))
            at += 4 + n
        return _give(b"".join(found), out)


@dataclass(frozen=True)
class BloscCodec(BytesBytesCodec):
    """Blosc for Zarr v3: `compressors=BloscCodec(cname="lz4")`. It reads and writes chunks as Blosc does."""

    is_fixed_size = False
    codec_name: ClassVar[str] = "cippus_blosc"
    """The name in Zarr's metadata."""

    cname: str = "zstd"
    """"blosclz", "lz4", "lz4hc", "zlib" or "zstd"."""
    clevel: int = 5
    """The level, 0 to 9."""
    filter: str = "shuffle"
    """"shuffle", "bitshuffle", "delta+shuffle", "none", ..."""
    typesize: int = 0
    """Bytes of an element; 0 for that of the array."""
    blocksize: int = 0
    """Bytes of a block; 0 chooses one."""
    blosc1: bool = False
    """Whether Blosc 1.x can read the chunks."""

    @classmethod
    def from_dict(cls, data: Any) -> BloscCodec:
        """The codec of Zarr's metadata."""
        return cls(**data.get("configuration", {}))

    def to_dict(self) -> dict[str, Any]:
        """Zarr's metadata of the codec."""
        names = ("cname", "clevel", "filter", "typesize", "blocksize", "blosc1")
        return {"name": self.codec_name, "configuration": {name: getattr(self, name) for name in names}}

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> BloscCodec:
        """The same with the array's bytes of an element, where no typesize was given."""
        return self if self.typesize else replace(self, typesize=int(getattr(array_spec.dtype, "item_size", 1)))

    def _codec(self) -> Blosc:
        return Blosc(**self.to_dict()["configuration"])

    async def _decode_single(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> Buffer:
        data = await asyncio.to_thread(self._codec().decode, chunk_bytes.as_numpy_array())
        found: Buffer = chunk_spec.prototype.buffer.from_bytes(data)
        return found

    async def _encode_single(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> Optional[Buffer]:
        data = await asyncio.to_thread(self._codec().encode, chunk_bytes.as_numpy_array())
        found: Buffer = chunk_spec.prototype.buffer.from_bytes(data)
        return found

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Not known before a chunk is encoded."""
        raise NotImplementedError
