#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes fuzz_hdf5/ beside this script with h5py and hdf5plugin (tests/compat/requirements.txt).

Elements of every dataset of a good-* file whose name begins with `n` count from 0 as int32. bad-* are good ones with some
bytes changed: each says below what is wrong.
"""
import pathlib
import re
import struct

import h5py
import hdf5plugin
import numpy as np

OUT = pathlib.Path(__file__).parent / "fuzz_hdf5"


def count(*shape):
    return np.arange(int(np.prod(shape)), dtype="<i4").reshape(shape)


def make(name, fill, libver="earliest", **options):
    with h5py.File(OUT / f"good-{name}.h5", "w", libver=libver, track_times=False, **options) as f:
        fill(f)


def chunked(f, name, shape, chunks, **options):
    f.create_dataset(name, data=count(*shape), chunks=chunks, track_times=False, **options)


def groups(f):
    f.attrs["title"] = "two groups"
    g = f.create_group("a").create_group("b")
    g.create_dataset("n", data=count(3), track_times=False)
    g["up"] = f["/"]
    f["soft"] = h5py.SoftLink("/a/b/n")
    f["outside"] = h5py.ExternalLink("other.h5", "/x")
    f["second"] = g["n"]
    g["n"].attrs["unit"] = "m"
    g["n"].attrs["names"] = np.array(["one", "two"], dtype=object)
    g["n"].attrs["to"] = g.ref
    g["n"].attrs["none"] = h5py.Empty("f4")


def dense(f):
    for i in range(12):
        f[f"n{i:02}"] = np.int32(0)
        f.attrs[f"key{i:02}"] = i


def scales(f):
    f.create_dataset("t", data=count(4), track_times=False).make_scale("time")
    f.create_dataset("x", data=count(2), track_times=False).make_scale()
    f.create_dataset("n", data=count(4, 2), track_times=False)
    f["n"].dims[0].attach_scale(f["t"])
    f["n"].dims[1].attach_scale(f["x"])


def types(f):
    record = np.dtype({"names": ["a", "b"], "formats": ["<i2", ">f8"], "offsets": [1, 8], "itemsize": 20})
    f["record"] = np.zeros(2, record)
    f["nested"] = np.zeros(1, [("p", [("q", "<u2")]), ("r", "<f4", (2, 2))])
    f["bool"] = np.array([True, False])
    f["complex"] = np.array([1 + 2j], ">c16")
    f["text"] = np.array([b"a", b"hello"])
    f["half"] = np.array([1.5], "<f2")
    f["time"] = np.array(["2026-01-01"], "M8[s]").astype(h5py.opaque_dtype("M8[s]"))
    f.create_dataset("colour", data=[2, 1], dtype=h5py.enum_dtype({"RED": 1, "BLUE": 2}, "i1"))
    f.create_dataset("array", (2,), np.dtype(("<i2", (3,))))
    f["strings"] = ["vary", "in length"]
    f["type"] = np.dtype("<f4")


def empty(f):
    f.create_dataset("filled", (3,), "<i4", fillvalue=7)
    f.create_dataset("holes", (6,), "<i4", chunks=(2,), fillvalue=9)[2:4] = 1
    f.create_dataset("none", data=h5py.Empty("f4"))
    f.create_dataset("zero", (0, 3), "<i4")


def kinds(f):
    """A chunk index of every kind."""
    chunked(f, "n-single", (4, 3), (4, 3), compression=1)
    chunked(f, "n-fixed", (5, 4), (2, 3))
    chunked(f, "n-fixed-filtered", (5, 4), (2, 3), compression=1, shuffle=True)
    chunked(f, "n-extensible", (5, 4), (2, 3), maxshape=(5, None))
    chunked(f, "n-tree", (5, 4), (2, 3), maxshape=(None, None), fletcher32=True)
    plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plan.set_chunk((2, 3))
    plan.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    space = h5py.h5s.create_simple((5, 4))
    h5py.h5d.create(f.id, b"n-implicit", h5py.h5t.STD_I32LE, space, plan).write(h5py.h5s.ALL, h5py.h5s.ALL, count(5, 4))
    plan.set_layout(h5py.h5d.COMPACT)
    h5py.h5d.create(f.id, b"n-compact", h5py.h5t.STD_I32LE, space, plan).write(h5py.h5s.ALL, h5py.h5s.ALL, count(5, 4))


def filters(f):
    p = hdf5plugin
    row = {"deflate": dict(compression="gzip"), "shuffle": dict(shuffle=True), "fletcher": dict(fletcher32=True),
           "all": dict(compression="gzip", shuffle=True, fletcher32=True), "lzf": dict(compression="lzf"), "lz4": p.LZ4(),
           "bits": p.Bitshuffle(cname="none"), "bits-lz4": p.Bitshuffle(), "bits-zstd": p.Bitshuffle(cname="zstd"),
           "zstd": p.Zstd(), "blosc": p.Blosc(), "blosc2": p.Blosc2(), "bzip2": p.BZip2()}
    for name, options in row.items():
        chunked(f, f"n-{name}", (75,), (50,), **options)
    f["n-all"].id.write_direct_chunk((0,), count(75)[:50].tobytes(), 7)  # without any filter
    f.create_dataset("offset", data=count(64), chunks=(64,), scaleoffset=0)


def szip(f):
    """Whole scanlines, and others; samples that are coded as bytes, and shorter ones of both byte orders."""
    chunked(f, "n-even", (9, 16), (4, 16), compression="szip", compression_opts=("ec", 8))
    chunked(f, "n-odd", (9, 21), (4, 21), compression="szip", compression_opts=("nn", 8))
    chunked(f, "n-summed", (9, 21), (4, 21), compression="szip", shuffle=True, fletcher32=True)
    for name, dtype in (("bytes", "u1"), ("words", "<i2"), ("big", ">i2"), ("doubles", "<f8")):
        f.create_dataset(name, data=count(5, 21).astype(dtype), chunks=(4, 21), compression="szip", track_times=False)


def packed(f):
    """Scale-offset, n-bit, and a filter that is not read."""
    def by(name, dtype, values, filter, *arguments, fill=None):
        plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plan.set_chunk((50,))
        plan.set_obj_track_times(False)
        plan.set_filter(filter, h5py.h5z.FLAG_OPTIONAL, arguments)
        if fill is not None:
            plan.set_fill_value(np.array(fill, dtype))
        space, dtype = h5py.h5s.create_simple((75,)), h5py.h5t.py_create(np.dtype(dtype))
        h5py.Dataset(h5py.h5d.create(f.id, name.encode(), dtype, space, plan))[...] = values

    by("n-scale", "<i4", count(75), 6, 2, 0)
    by("n-scale-fill", "<i4", count(75), 6, 2, 0, fill=60)
    by("n-scale-all", "<i4", count(75), 6, 2, 32)
    by("n-nbit", "<i4", count(75), 5)
    by("big", ">i2", -count(75), 6, 2, 0)
    by("wide", "<i4", np.where(count(75) % 2, 2**31 - 1, -2**31), 6, 2, 0)
    by("same", "<u8", np.full(75, 2**64 - 1, "u8"), 6, 2, 0)
    by("tenths", ">f4", count(75) / 8, 6, 0, 1)
    by("hundreds", "<f8", count(75) * 100.0, 6, 0, 2**32 - 2, fill=700)
    by("lzo", "<i4", count(75), 305)


def bad(name, of, *changes):
    """(where, bytes): where is a number, or the last place of some bytes and how far behind it."""
    data = bytearray((OUT / f"good-{of}.h5").read_bytes())
    for where, new in changes:
        at = where if isinstance(where, int) else data.rindex(where[0]) + where[1]
        data[at:at + len(new)] = new
    (OUT / f"bad-{name}.h5").write_bytes(data)


OUT.mkdir(exist_ok=True)
for old in OUT.iterdir():
    old.unlink()
make("groups", groups)
make("groups-2", groups, "latest")
make("dense", dense, "latest")
make("many", dense)
make("scales", scales)
make("types", types)
make("types-2", types, "latest")
make("empty", empty)
make("kinds", kinds, "latest")
make("kinds-110", kinds, ("earliest", "v110"))
make("tree-1", lambda f: chunked(f, "n", (5, 4), (2, 3), compression=1))
make("fletcher32", lambda f: chunked(f, "n", (5, 4), (2, 3), fletcher32=True))
make("filters", filters, "v110")
make("szip", szip)
make("packed", packed)
make("user-block", groups, userblock_size=512)

far = struct.pack("<Q", 1 << 40)
bad("heap-outside", "groups", ((b"HEAP", 24), far))
bad("names-end", "groups", ((b"HEAP", 8), struct.pack("<Q", 1)))
bad("tree-outside", "tree-1", ((b"TREE\1", 32 + 24), far))
data = (OUT / "good-tree-1.h5").read_bytes()
at = data.index(b"TREE\1")
bad("tree-loops", "tree-1", (at + 5, b"\1\1\0"), (at + 24 + 32, struct.pack("<Q", at)))
summed = (OUT / "good-fletcher32.h5").read_bytes()
leaf = summed.index(b"TREE\1") + 24
bad("overlap", "fletcher32", (leaf + 40 + 32, summed[leaf + 32:leaf + 40]))
bad("fletcher32", "fletcher32", ((struct.pack("<6i", 0, 1, 2, 4, 5, 6), 4), b"\7"))
bad("chunk-sum", "tree-1", (data.index(b"x\1"), b"y"))
bad("header-sum", "groups-2", ((b"OHDR", 30), b"\xff"))
bad("version", "groups", (8, b"\x63"))
bad("cut", "groups", (40, far))
# What does not fit a chunk: bits of a sample and the length of a scanline, wherever the filter's values stand; bits of an element.
coded = (OUT / "good-szip.h5").read_bytes()
for name, k, value in (("bits", 2, 31), ("line", 3, 1 << 20)):
    values = [169, 8, 32, 21]
    places = [m.start() + 4 * k for m in re.finditer(re.escape(struct.pack("<4I", *values)), coded)]
    bad(f"szip-{name}", "szip", *((at, struct.pack("<I", value)) for at in places))
with h5py.File(OUT / "good-packed.h5") as f:
    at = f["n-scale"].id.get_chunk_info(0).byte_offset
bad("scale-bits", "packed", (at, struct.pack("<I", 33)))
bad("scale-short", "packed", (at, struct.pack("<I", 32)))
(OUT / "bad-short.h5").write_bytes(data[:700])
