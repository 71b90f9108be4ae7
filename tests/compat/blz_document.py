# SPDX-License-Identifier: BSD-3-Clause
"""Folders as BLZ's document has them, made of struct, json and python-blosc alone."""
import hashlib
import json
import struct
import zlib

import blosc
import numpy as np

OFFSETS, METADATA = 1, 2
DIGESTS = [None, lambda b: struct.pack("<I", zlib.adler32(b)), lambda b: struct.pack("<I", zlib.crc32(b))] + [
    (lambda name: lambda b: hashlib.new(name, b).digest())(name)
    for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")]


def chunk_of(raw, typesize, cname="blosclz", shuffle=blosc.SHUFFLE):
    if not raw:  # python-blosc refuses nothing at all
        return struct.pack("<BBBBiii", 2, 1, 0x13, 1, 0, 1, 16)
    return blosc.compress(raw, typesize=typesize if typesize < 256 else 1, shuffle=shuffle, cname=cname)


def superchunk(raws, typesize, *, checksum=0, offsets=True, metadata=None, spare=0, chunk_size=None, last=None, nchunks=None,
               unset=False, garbage=None, final=False, free=0, cname="blosclz"):
    """The bytes of a superchunk's file, and of its Blosc chunks. raws: the decoded bytes of each chunk; None for chunk_size, last
    and nchunks: as it is; metadata: bytes; final: the metadata as version 3 has them in the end; spare: bytes behind each
    chunk; garbage: what these are filled with; unset: offsets that were never written."""
    chunks = [chunk_of(r, typesize, cname) for r in raws]
    meta = b"" if metadata is None else metadata
    if final:
        meta = struct.pack("<8sBBBBIII8s", b"JSON", 0, 1, 0, 0, len(meta), len(meta) + 10, len(meta), b"") + meta \
            + bytes(10) + DIGESTS[1](meta)
    options = (OFFSETS if offsets else 0) | (METADATA if metadata is not None else 0)
    sizes = [len(r) for r in raws]
    header = struct.pack("<4sBBBBiiq", b"blpk", 3, options, checksum, min(typesize, 255) if typesize < 256 else 1,
                         (sizes[0] if sizes else 0) if chunk_size is None else chunk_size,
                         (sizes[-1] if sizes else 0) if last is None else last, len(raws) if nchunks is None else nchunks)
    header += struct.pack("<ii", len(meta), 0) if metadata is not None and not final else struct.pack("<q", free)
    at = 32 + len(meta) + (8 * (len(raws) + free) if offsets else 0)
    places, body = [], b""
    for c in chunks:
        places.append(at + len(body))
        body += c + (DIGESTS[checksum](c) if checksum else b"") + (garbage or b"\0") * spare
    table = b"".join(struct.pack("<q", -1 if unset else p) for p in places) + b"\xff" * (8 * free) if offsets else b""
    return header + meta + table + body, sum(map(len, chunks))


def encoded(name):
    """A field's name as a folder's."""
    out = "".join(f"%{b:02X}" if b < 0x20 or b in (0x2f, 0x25, 0x7f) else chr(b) for b in name.encode("latin-1")) \
        if all(ord(c) < 0x80 for c in name) else name
    if out.startswith(".") or out in (".", ".."):
        out = "%2E" + out[1:]
    return out


def columns(dtype, array, prefix=""):
    """(folder, array) of each field that is no record."""
    if dtype.names is None:
        yield prefix, array
        return
    for name in dtype.names:
        sub = array[name]
        base = dtype[name].base
        yield from columns(base, sub, f"{prefix}{encoded(name)}/")


def write_column(folder, array, chunklen, per, options, shards):
    """The superchunks of one column; `shards`: folders that take turns. The bytes of its chunks."""
    rows = np.ascontiguousarray(array)
    size = rows.dtype.itemsize
    pieces = [rows[i:i + chunklen].tobytes() for i in range(0, len(rows), chunklen)]
    total = 0
    for n in range(0, len(pieces), per):
        group = pieces[n:n + per]
        data, cbytes = superchunk(group, size, **options)
        at = shards[(n // per) % len(shards)] / "data" / folder
        at.mkdir(parents=True, exist_ok=True)
        (at / f"__{n // per + 1}__.bin").write_bytes(data)
        total += cbytes
    return total


def write(root, array, *, chunklen=100, per=3, key=True, shards=None, attributes=None, dtype=None, dflt=0,
          **options):
    """A whole folder. key: meta/storage says how many chunks a superchunk has."""
    (root / "meta").mkdir(parents=True)
    (root / "data").mkdir()
    total = sum(write_column(folder, column, chunklen, per, options, shards or [root])
                for folder, column in columns(array.dtype, array))
    (root / "meta/sizes").write_text(json.dumps(
        {"shape": list(array.shape), "nbytes": array.size * array.dtype.itemsize, "cbytes": total}) + "\n")
    if dtype is None:
        dtype = array.dtype.str if array.dtype.names is None else json.loads(json.dumps(array.dtype.descr))
    storage = {"dtype": dtype, "cparams": {"shuffle": True, "clevel": 5}, "chunklen": chunklen, "dflt": dflt,
               "expectedlen": len(array)}
    if key:
        storage["superchunk"] = per
    (root / "meta/storage").write_text(json.dumps(storage) + "\n")
    if attributes is not None:
        (root / "meta/attributes").write_text(json.dumps(attributes) + "\n")
