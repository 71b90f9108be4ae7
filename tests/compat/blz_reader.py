# SPDX-License-Identifier: BSD-3-Clause
"""Folders of BLZ, in its three forms, read by struct, json, python-blosc and the sheet of the format alone. Whatever is not
as it says is an assertion."""
import ast
import json
import struct
import zlib
from hashlib import new
from urllib.parse import unquote_to_bytes

import blosc
import numpy as np

DIGESTS = {0: None, 1: lambda b: struct.pack("<I", zlib.adler32(b)), 2: lambda b: struct.pack("<I", zlib.crc32(b)),
           **{i: (lambda n: lambda b: new(n, b).digest())(n)
              for i, n in enumerate(("md5", "sha1", "sha224", "sha256", "sha384", "sha512"), 3)}}


def text(path):
    data = path.read_bytes()
    assert data.isascii() and data.endswith(b"\n") and data.count(b"\n") == 1
    return json.loads(data)


def descr(value):
    """A dtype as JSON has it: text, or fields."""
    if isinstance(value, str):
        return np.dtype(ast.literal_eval(value) if value.startswith("[") else value)
    return np.dtype([(n, descr(t), *map(tuple, shape)) for n, t, *shape in value])


def said(dtype):
    """How meta/storage has it to say the type."""
    return str(dtype) if dtype.names is None else str(dtype.descr)


def fields(dtype):
    return [[n, dtype[n].base.str if dtype[n].base.names is None else fields(dtype[n].base),
             *([list(dtype[n].shape)] if dtype[n].shape else [])] for n in dtype.names]


def zero(dtype, document):
    if dtype.names is not None:
        return [zero(dtype[n].base, document) for n in dtype.names]
    if dtype.kind == "c":
        return [0.0, 0.0] if document else 0.0
    return {"b": False, "f": 0.0, "S": "", "U": "", "V": ""}.get(dtype.kind, 0)


def typesize(dtype, document):
    if dtype.itemsize > 255 or (dtype.kind == "S" and not document):
        return 1
    return 4 if dtype.kind == "U" and not document else dtype.itemsize


def decode(chunk, nbytes, dtype, document):
    version, _, flags, size, raw, _, stored = struct.unpack("<BBBBiii", chunk[:16])
    assert version == 2 and stored == len(chunk) and raw == nbytes
    assert flags & 2 or size == typesize(dtype, document)
    data = blosc.decompress(chunk)
    assert len(data) == nbytes
    return data


# --- the old programs' -------------------------------------------------------------------------

def read_files(root, dtype, shape, chunklen):
    row = dtype.itemsize * int(np.prod(shape[1:], dtype=object))
    left, parts = shape[0] if row else 0, []
    while left:
        data = (root / f"data/__{len(parts)}.blp").read_bytes()
        assert data[:16] == b"blpk\x01\0\0\0" + struct.pack("<q", 1)
        parts.append(decode(data[16:], min(left, chunklen) * row, dtype, False))
        left -= min(left, chunklen)
    names = {f.name for f in (root / "data").iterdir()} if (root / "data").exists() else set()
    assert names == {f"__{i}.blp" for i in range(len(parts))}
    return np.frombuffer(b"".join(parts), dtype).reshape(shape), sum(
        (root / f"data/__{i}.blp").stat().st_size - 16 for i in range(len(parts)))


def read_array(root, kind):
    """(array, attributes) of the folder of an array; kind: blz-dir or bcolz."""
    storage, sizes = text(root / "meta/storage"), text(root / "meta/sizes")
    params = "bparams" if kind == "blz-dir" else "cparams"
    assert list(storage) == ["dtype", params, "chunklen", "expectedlen", "dflt"]
    assert list(storage[params]) == ["clevel", "shuffle"] + (["cname", "quantize"] if kind == "bcolz" else [])
    assert list(sizes) == ["shape", "nbytes", "cbytes"]
    dtype = descr(storage["dtype"])
    assert storage["dtype"] == said(dtype) and storage["dflt"] == zero(dtype, False)
    assert storage["expectedlen"] == sizes["shape"][0]
    array, cbytes = read_files(root, dtype, tuple(sizes["shape"]), storage["chunklen"])
    assert sizes["nbytes"] == array.nbytes and sizes["cbytes"] == cbytes
    assert {f.name for f in root.iterdir()} - {"data"} == {"__attrs__", "meta"}
    return array, text(root / "__attrs__")


def read_table(root, kind):
    """({name: array}, attributes, {name: attributes})."""
    names = text(root / "__rootdirs__")
    assert list(names) == ["names"] + (["dirs"] if kind == "blz-dir" else [])
    assert names.get("dirs", {n: n for n in names["names"]}) == {n: n for n in names["names"]}
    assert {f.name for f in root.iterdir()} == {"__rootdirs__", "__attrs__", *names["names"]}
    columns = {n: read_array(root / n, kind) for n in names["names"]}
    return {n: c[0] for n, c in columns.items()}, text(root / "__attrs__"), {n: c[1] for n, c in columns.items()}


# --- the document's ----------------------------------------------------------------------------

def read_super(data, dtype, row, want):
    """The decoded bytes of a superchunk of `want` chunks; how long its chunks are."""
    magic, version, options, checksum, size, chunk, last, n, meta, free = struct.unpack("<4sBBBBiiqii", data[:32])
    assert magic == b"blpk" and version == 3 and options < 4 and size == typesize(dtype, True) and free == 0
    assert n == want and chunk % row == 0 and 0 < last <= chunk and (options & 2 or meta == 0)
    if options & 2:
        told = json.loads(data[32:32 + meta])
        assert told["dtype"] == said(dtype) and told["shape"][0] * row == chunk * (n - 1) + last
    at, spare = 32 + meta, None
    places = struct.unpack(f"<{n}q", data[at:at + 8 * n]) if options & 1 else None
    at += 8 * n if options & 1 else 0
    raw, stored = [], 0
    for i in range(n):
        if places:
            spare = places[i] - at if i else None
            assert places[i] >= at and not any(data[at:places[i]])
            at = places[i]
        length = struct.unpack("<i", data[at + 12:at + 16])[0]
        raw.append(decode(data[at:at + length], last if i == n - 1 else chunk, dtype, True))
        digest = DIGESTS[checksum](data[at:at + length]) if checksum else b""
        assert data[at + length:at + length + len(digest)] == digest
        at += length + len(digest)
        stored += length
    assert not any(data[at:]) and (spare is None or len(data) - at == spare)
    return b"".join(raw), stored, chunk


def read_column(roots, folder, dtype, row, rows, storage):
    """The column's bytes, and those of its chunks."""
    per, chunklen = storage["superchunk"], storage["chunklen"]
    chunks = -(-rows // chunklen) if row else 0
    parts, total = [], 0
    for i in range(-(-chunks // per)):
        root = roots[i % len(roots)]
        data = (root / "data" / folder / f"__{i + 1}__.bin").read_bytes()
        raw, stored, each = read_super(data, dtype, row, min(per, chunks - i * per))
        assert each == chunklen * row
        parts.append(raw)
        total += stored
    assert not any((r / "data" / folder / f"__{len(parts) + 1}__.bin").exists() for r in roots)
    return b"".join(parts), total


def read_record(roots, folder, dtype, shape, storage, out):
    """Fills the array `out`; the bytes of the chunks."""
    if dtype.names is None:
        inner = out.shape[len(shape):] if out.ndim >= len(shape) else ()
        row = dtype.itemsize * int(np.prod(shape[1:], dtype=object)) * int(np.prod(inner, dtype=object))
        raw, total = read_column(roots, folder, dtype, row, shape[0], storage)
        out[...] = np.frombuffer(raw, dtype).reshape(out.shape)
        return total
    names = {unquote_to_bytes(f.name).decode(): f.name for r in roots if (r / "data" / folder).exists()
             for f in (r / "data" / folder).iterdir()}
    assert set(names) <= set(dtype.names)
    return sum(read_record(roots, f"{folder}{names[n]}/", dtype[n].base, shape, storage, out[n])
               for n in dtype.names if n in names)


def read_document(root):
    """(array, attributes or None)."""
    storage, sizes = text(root / "meta/storage"), text(root / "meta/sizes")
    assert list(storage) == ["dtype", "cparams", "chunklen", "expectedlen", "dflt", "superchunk"]
    assert list(storage["cparams"]) == ["clevel", "shuffle", "cname"]
    dtype, shape = descr(storage["dtype"]), tuple(sizes["shape"])
    assert storage["dtype"] == (said(dtype) if dtype.names is None else fields(dtype))
    assert storage["dflt"] == zero(dtype, True) and storage["expectedlen"] == shape[0]
    shards = root / "meta/shards"
    roots = [root / s for s in text(shards)] if shards.exists() else [root]
    out = np.zeros(shape, dtype)
    total = read_record(roots, "", dtype, shape, storage, out)
    assert sizes == {"shape": list(shape), "nbytes": out.nbytes, "cbytes": total}
    attributes = root / "meta/attributes"
    return out, text(attributes) if attributes.exists() else None
