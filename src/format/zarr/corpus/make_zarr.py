#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the seeds of fuzz_zarr.c and fuzz_zarr_update.c: stores of zarr-python, packed as zarr_fuzz_testing.h says, for updates behind two bytes
that say how.

usage: src/format/zarr/corpus/make_zarr.py
"""
import io
import pathlib
import struct
import tempfile
import zipfile

import numcodecs
import numpy as np
import zarr
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec

HERE = pathlib.Path(__file__).resolve().parent
FILES = ["zarr.json", "a/zarr.json", "c/0/0", "c/1", "a/c/0", "a/c/1", ".zgroup", ".zattrs", ".zarray", "0", "1",
         ".zmetadata", "a/.zarray", "a/0.0", "g/.zgroup", "g/b/.zarray", "g/b/0/0", "c/stray", "g/zarr.json"]


def pack(root):
    found = b""
    for path in sorted(p for p in root.rglob("*") if p.is_file()):
        name = path.relative_to(root).as_posix()
        if name in FILES:
            data = path.read_bytes().replace(b"\n", b"").replace(b"  ", b"") if "z" in name else path.read_bytes()
            found += struct.pack(">BH", FILES.index(name), len(data)) + data
    return found


def array(root, shape, path=None, **kw):
    group = zarr.create_group(root, zarr_format=kw.pop("zarr_format", 3), attributes={"k": 1}) if path else None
    kw = dict(shape=shape, dtype=kw.pop("dtype", "int16"), **kw)
    made = group.create_array(path, **kw) if path else zarr.create_array(root, **kw)
    made[...] = np.arange(made.size).reshape(shape).astype(made.dtype)


def shards(root):
    inner = ShardingCodec(chunk_shape=(1,), codecs=[BytesCodec(), Crc32cCodec()], index_location="start")
    array(root, (8,), "a", chunks=(4,), serializer=ShardingCodec(chunk_shape=(2,), codecs=[inner]), compressors=[])


def consolidated(root, version):
    array(root, (4,) if version == 3 else (2, 2), "a", chunks=(2,) if version == 3 else (2, 2), zarr_format=version,
          compressors=None)
    zarr.consolidate_metadata(root)


SEEDS = {
    "plain": lambda r: array(r, (3, 3), chunks=(4, 4), compressors=[], attributes={"u": "m"}, dimension_names=["y", None]),
    "codecs": lambda r: array(r, (3, 3), chunks=(4, 4), filters=[TransposeCodec(order=(1, 0))],
                              compressors=[GzipCodec(), ZstdCodec(), Crc32cCodec()]),
    "blosc": lambda r: array(r, (4,), "a", chunks=(4,), compressors=[BloscCodec(cname="lz4", typesize=2)]),
    "shards": lambda r: array(r, (8,), "a", chunks=(2,), shards=(4,), compressors=[ZstdCodec()]),
    "nested": shards,
    "filters": lambda r: array(r, (6,), zarr_format=2, chunks=(3,), fill_value=5, compressors=numcodecs.LZ4(),
                               filters=[numcodecs.Delta("<i2"), numcodecs.Shuffle(2)]),
    "bits": lambda r: array(r, (9,), zarr_format=2, dtype="bool", chunks=(5,), compressors=numcodecs.Zlib(),
                            filters=[numcodecs.PackBits()]),
    "records": lambda r: array(r, (4,), zarr_format=2, dtype=np.dtype("<f4"), chunks=(2,), fill_value=float("nan"),
                               filters=[numcodecs.CRC32()], compressors=numcodecs.BZ2()),
    "groups": lambda r: array(r, (2, 2), "g/b", zarr_format=2, dtype=">U2", chunks=(2, 2), order="F",
                              chunk_key_encoding={"name": "v2", "separator": "/"}),
    "consolidated-2": lambda r: consolidated(r, 2),
    "consolidated-3": lambda r: consolidated(r, 3),
}


# The two changes of each: below 0xC0 elements and rows of the only array, above what changes in the tree.
CHANGES = {"plain": (0, 4), "codecs": (3, 9), "blosc": (1, 0xC0), "shards": (6, 7), "nested": (0, 0), "filters": (2, 2), "bits": (1, 5),
           "records": (9, 13), "groups": (0xC8, 0xCA), "consolidated-2": (0xC0, 0xC3), "consolidated-3": (0xC7, 0xC6)}


def archive(root, method):
    """The files of the folder in a zip archive."""
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w") as z:
        for p in sorted(root.rglob("*")):
            if p.is_file():
                z.writestr(zipfile.ZipInfo(str(p.relative_to(root))), p.read_bytes(), method)
        z.comment = b"comment"
    return found.getvalue()


ARCHIVES = {"plain": (0, 4), "shards": (6, 7), "consolidated-2": (0xC0, 0xC3), "consolidated-3": (0xC7, 0xC6)}


def main():
    for folder in ("fuzz_zarr", "fuzz_zarr_update"):
        (HERE / folder).mkdir(exist_ok=True)
    for name, make in SEEDS.items():
        with tempfile.TemporaryDirectory() as root:
            make(root)
            packed = pack(pathlib.Path(root))
            if name in ARCHIVES:
                data = archive(pathlib.Path(root), zipfile.ZIP_DEFLATED if name == "shards" else zipfile.ZIP_STORED)
                (HERE / "fuzz_zarr_update" / f"zip-{name}").write_bytes(bytes(ARCHIVES[name]) + data)
        (HERE / "fuzz_zarr" / name).write_bytes(packed)
        (HERE / "fuzz_zarr_update" / name).write_bytes(bytes(CHANGES[name]) + packed)


if __name__ == "__main__":
    main()
