# SPDX-License-Identifier: BSD-3-Clause
"""Chunks made by cippus/ext/blosc.h (called through ctypes) are read by python-blosc2 and, those of Blosc1, by
python-blosc; chunks of theirs are read by it. Codec x filters x typesize x level x split x odd lengths."""
import ctypes as c
import itertools
import os
import pathlib

import numpy as np
import pytest

blosc = pytest.importorskip("blosc")
blosc2 = pytest.importorskip("blosc2")

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CODECS = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
FILTERS = ["none", "shuffle", "bitshuffle", "delta", "delta+shuffle", "delta+bitshuffle", "shuffle+bytedelta",
           "shuffle:3", "delta+shuffle+bytedelta"]
TYPESIZES = [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 20, 32, 33, 64, 100, 128, 255, 300]
AUTO, ALWAYS, NEVER = range(3)
F, Split = blosc2.Filter, blosc2.SplitMode


class Params(c.Structure):
    _fields_ = [("size", c.c_size_t), ("codec", c.c_char_p), ("level", c.c_int), ("typesize", c.c_uint32),
                ("filter", c.c_char_p), ("blocksize", c.c_uint32), ("split", c.c_int), ("dict", c.c_bool),
                ("blosc1", c.c_bool), ("allocator", c.c_void_p), ("max_memory", c.c_uint64),
                ("ndim", c.c_int32), ("block", c.POINTER(c.c_int64))]


class Err(c.Structure):
    _fields_ = [("code", c.c_int32), ("offset", c.c_uint64), ("part", c.c_char * 64), ("text", c.c_char * 256)]


class Blosc:
    """A context of the library."""

    def __init__(self, lib, **params):
        words = {k: v.encode() if isinstance(v, str) else v for k, v in params.items()}
        if "block" in words:
            words["ndim"] = len(words["block"])
            words["block"] = (c.c_int64 * len(words["block"]))(*words["block"])
        self.lib, self.err = lib, Err()
        self.b = lib.cip_blosc_new(c.byref(Params(size=c.sizeof(Params), **words)), c.byref(self.err))
        assert self.b, self.err.text

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lib.cip_blosc_free(self.b)

    def encode(self, raw):
        n = c.c_size_t()
        dst = c.create_string_buffer(self.lib.cip_blosc_bound(len(raw)))
        status = self.lib.cip_blosc_compress(self.b, raw, len(raw), dst, len(dst), c.byref(n), c.byref(self.err))
        assert status == 0, self.err.text
        return dst.raw[: n.value]

    def decode(self, chunk, nbytes):
        dst = c.create_string_buffer(max(nbytes, 1))
        status = self.lib.cip_blosc_decompress(self.b, chunk, len(chunk), dst, nbytes, c.byref(self.err))
        assert status == 0, self.err.text
        return dst.raw[:nbytes]

    def items(self, chunk, first, count, itemsize):
        dst = c.create_string_buffer(max(count * itemsize, 1))
        status = self.lib.cip_blosc_items(self.b, chunk, len(chunk), first, count, dst, c.byref(self.err))
        assert status == 0, self.err.text
        return dst.raw[: count * itemsize]


@pytest.fixture(scope="module")
def lib():
    command = pathlib.Path(os.environ.get("CIPPUS") or ROOT / "build" / "release" / "cippus")
    path = command.parent / "libcippus.so"
    assert path.exists(), f"no library {path}"
    lib = c.CDLL(str(path))
    buffer = [c.c_void_p, c.c_char_p, c.c_size_t]
    lib.cip_blosc_new.restype = c.c_void_p
    lib.cip_blosc_new.argtypes = [c.c_void_p, c.c_void_p]
    lib.cip_blosc_free.argtypes = [c.c_void_p]
    lib.cip_blosc_bound.restype = c.c_size_t
    lib.cip_blosc_bound.argtypes = [c.c_size_t]
    lib.cip_blosc_compress.argtypes = buffer + [c.c_void_p, c.c_size_t, c.c_void_p, c.c_void_p]
    lib.cip_blosc_decompress.argtypes = buffer + [c.c_void_p, c.c_size_t, c.c_void_p]
    lib.cip_blosc_items.argtypes = buffer + [c.c_uint64, c.c_uint64, c.c_void_p, c.c_void_p]
    return lib


def payload(rng, kind, n):
    if kind == "zeros":
        return bytes(n)
    if kind == "noise":
        return rng.integers(0, 256, n, dtype="u1").tobytes()
    walk = np.cumsum(rng.integers(-3, 4, n // 4 + 1)).astype("<i4")
    if kind == "mixed":  # runs of one value, noise, and a walk
        walk[len(walk) // 4 : len(walk) // 2] = 7
        walk[: len(walk) // 8] = rng.integers(-(2**31), 2**31, len(walk) // 8)
    return walk.tobytes()[:n]


def lengths(typesize):
    small = 1000 if typesize <= 32 else 60
    return [1, typesize, 7 * typesize + 1, 127, 128, small * typesize + 3, 3 * 4096 + 5 * typesize]


def cases(rng, typesizes, share):
    """(length, kind, split, level, blocksize, typesize), a share of all there are."""
    kinds = ["zeros", "walk", "mixed", "noise"]
    for typesize in typesizes:
        for n, kind, split in itertools.product(lengths(typesize), kinds, (AUTO, ALWAYS, NEVER)):
            if rng.random() < share:
                yield n, kind, split, int(rng.integers(1, 10)), int(rng.choice([0, 500, 4096])), typesize


@pytest.mark.parametrize("codec", CODECS)
def test_python_blosc2_reads_our_chunks(lib, rng, codec):
    tried = 0
    for filter in FILTERS:
        for n, kind, split, level, blocksize, typesize in cases(rng, TYPESIZES, 0.11):
            if codec == "zstd":
                level = min(level, 7)
            raw = payload(rng, kind, n)
            with Blosc(lib, codec=codec, filter=filter, level=level, typesize=typesize, split=split,
                       blocksize=blocksize) as b:
                chunk = b.encode(raw)
                what = (codec, filter, n, kind, split, level, blocksize, typesize)
                assert blosc2.decompress2(chunk) == raw, what
                assert b.decode(chunk, n) == raw, what
            tried += 1
    assert tried > 1000


@pytest.mark.parametrize("codec", CODECS)
def test_python_blosc_reads_our_blosc1_chunks(lib, rng, codec):
    tried = 0
    for filter in ("none", "shuffle", "bitshuffle"):
        for n, kind, split, level, blocksize, typesize in cases(rng, TYPESIZES[:-1], 0.2):
            if codec == "zstd":
                level = min(level, 7)
            raw = payload(rng, kind, n)
            with Blosc(lib, codec=codec, filter=filter, level=level, typesize=typesize, split=split,
                       blocksize=blocksize, blosc1=True) as b:
                chunk = b.encode(raw)
                what = (codec, filter, n, kind, split, level, blocksize, typesize)
                assert blosc.decompress(chunk) == raw, what
                assert b.decode(chunk, n) == raw, what
            tried += 1
    assert tried > 600


def test_blosc1_chunks_are_split_as_their_oldest_readers_expect(lib, rng):
    """Before 1.11 no flag said whether a block is split: it follows from the sizes alone."""
    for codec, filter, typesize, blocksize in itertools.product(CODECS, ("none", "shuffle"), (2, 16, 17), (0, 2048)):
        raw = payload(rng, "walk", 40000)
        with Blosc(lib, codec=codec, filter=filter, typesize=typesize, blocksize=blocksize, blosc1=True) as b:
            chunk = b.encode(raw)
        size = int.from_bytes(chunk[8:12], "little")
        if not chunk[2] & 2:
            assert (chunk[2] & 16 == 0) == (typesize <= 16 and size // typesize >= 128)


@pytest.mark.parametrize("codec", ["lz4", "lz4hc", "zstd"])
def test_python_blosc2_reads_our_dictionaries(lib, rng, codec):
    words = [b"exposure ", b"filter F150W ", b"detector ", b"temperature ", b"quality good "]
    raw = b"".join(words[i] + str(k % 97).encode() for k, i in enumerate(rng.integers(0, 5, 9000)))
    for split, filter, blocksize in itertools.product((AUTO, ALWAYS), ("none", "shuffle"), (1024, 4096)):
        with Blosc(lib, codec=codec, filter=filter, typesize=4, split=split, blocksize=blocksize, dict=True) as b:
            chunk = b.encode(raw)
            assert chunk[31] & 1
            assert blosc2.decompress2(chunk) == raw
            assert b.decode(chunk, len(raw)) == raw


def test_lossy_filters_lose_what_theirs_do(lib):
    for dtype, lossy, theirs, meta in (("<f4", "trunc_prec", F.TRUNC_PREC, 10), ("<f8", "trunc_prec", F.TRUNC_PREC, -40),
                                       ("<i4", "int_trunc", F.INT_TRUNC, 20), ("<u2", "int_trunc", F.INT_TRUNC, -3)):
        values = (np.sin(np.arange(5000) / 30) * 100 + 100).astype(dtype)
        width = values.itemsize
        with Blosc(lib, codec="zstd", filter=f"{lossy}:{meta}+shuffle", typesize=width) as b:
            ours = blosc2.decompress2(b.encode(values.tobytes()))
        chunk = blosc2.compress2(values.tobytes(), typesize=width, codec=blosc2.Codec.ZSTD,
                                 filters=[theirs, F.SHUFFLE], filters_meta=[meta, 0])
        assert ours == blosc2.decompress2(chunk) != values.tobytes()


def test_large_chunks_with_our_own_choice_of_blocks(lib, rng):
    raw = payload(rng, "mixed", (3 << 20) + 5)
    for codec, filter, level in itertools.product(CODECS, ("shuffle", "bitshuffle"), (1, 5, 9)):
        if codec == "zstd" and level == 9:
            continue  # slow
        with Blosc(lib, codec=codec, filter=filter, level=level, typesize=4) as b:
            chunk = b.encode(raw)
            assert len(chunk) < len(raw) * 0.6
            assert blosc2.decompress2(chunk) == raw
            assert b.items(chunk, 400_001, 9, 4) == raw[1600004:1600040]


def test_their_chunks_are_read(lib, rng):
    pipelines = [[F.NOFILTER], [F.SHUFFLE], [F.BITSHUFFLE], [F.DELTA, F.SHUFFLE]]
    tried = 0
    with Blosc(lib) as b:
        for codec, filters, split in itertools.product(list(blosc2.Codec)[:5], pipelines, list(Split)):
            for n, kind, _, level, _, typesize in cases(rng, [1, 2, 4, 7, 8, 16, 255], 0.07):
                n -= n % typesize if F.DELTA in filters else 0  # their writer loses what is no whole word
                if n == 0:
                    continue
                raw = payload(rng, kind, n)
                chunk = blosc2.compress2(raw, typesize=typesize, codec=codec, clevel=min(level, 7), splitmode=split,
                                         filters=filters, filters_meta=[0] * len(filters))
                assert b.decode(chunk, n) == raw, (codec, filters, split, n, kind, level, typesize)
                first = int(rng.integers(0, n // typesize + 1))
                count = int(rng.integers(0, n // typesize - first + 1))
                piece = raw[first * typesize : (first + count) * typesize]
                assert b.items(chunk, first, count, typesize) == piece, (codec, filters, split, n, kind, typesize)
                tried += 1
    assert tried > 1000


def test_their_blosc1_chunks_are_read(lib, rng):
    tried = 0
    with Blosc(lib) as b:
        for codec, shuffle in itertools.product(CODECS, (blosc.NOSHUFFLE, blosc.SHUFFLE, blosc.BITSHUFFLE)):
            for n, kind, _, level, _, typesize in cases(rng, TYPESIZES[:-1], 0.05):
                raw = payload(rng, kind, n)
                chunk = blosc.compress(raw, typesize=typesize, clevel=min(level, 7), shuffle=shuffle, cname=codec)
                assert b.decode(chunk, n) == raw, (codec, shuffle, n, kind, level, typesize)
                tried += 1
    assert tried > 600


# --- chunks of arrays: the shape of a block matters


def read_by_blosc2(chunk, blocks, count, dtype, codec, meta=0, filters=(), filters_meta=()):
    """The chunk's elements in an array of one chunk: `count` blocks one above the other."""
    shape = (blocks[0] * count, *blocks[1:])
    filters = [F.NOFILTER] * (6 - len(filters)) + list(filters)
    meta6 = [0] * (6 - len(filters_meta)) + list(filters_meta)
    array = blosc2.empty(shape, dtype, chunks=shape, blocks=blocks, cparams=blosc2.CParams(
        codec=codec, codec_meta=meta, filters=filters, filters_meta=meta6, nthreads=1))
    array.schunk.update_chunk(0, chunk)
    return array[...]


def planes(rng, shape):
    """Bytes that NDLZ finds something in."""
    few = rng.integers(0, 2, shape, dtype="u1")
    y, x = np.indices(shape)
    tiles = (y % 8 * 31 + x % 8 * 7 + x // 8 % 3).astype("u1")
    rows = (y % 4 * 5 + x % 4 + x // 4 % 2 * (y // 4 % 3)).astype("u1")
    noisy = np.where(rng.random(shape) < 0.05, rng.integers(0, 256, shape, dtype="u1"), tiles)
    pairs = rng.integers(0, 3, (shape[0], 1), dtype="u1") * 50 + (x % 4).astype("u1")
    return few, tiles, rows, noisy, pairs, rng.integers(0, 256, shape, dtype="u1")


@pytest.mark.parametrize("side", [4, 8])
def test_python_blosc2_reads_our_ndlz(lib, rng, side):
    smaller = 0
    for blocks in ((32, 48), (33, 30), (64, 64), (5, 70), (3, 50), (8, 8), (200, 300)):
        for dtype, filter in (("u1", "none"), ("u1", "shuffle"), ("<i2", "shuffle"), ("<i4", "shuffle"),
                              ("<i4", "delta+shuffle")):
            for plane in planes(rng, (blocks[0] * 3, blocks[1])):
                raw = plane.astype(dtype).tobytes()
                with Blosc(lib, codec=f"ndlz:{side}", filter=filter, typesize=np.dtype(dtype).itemsize,
                           block=blocks) as b:
                    chunk = b.encode(raw)
                    assert b.decode(chunk, len(raw)) == raw
                got = read_by_blosc2(chunk, blocks, 3, dtype, blosc2.Codec.NDLZ, side)
                assert got.tobytes() == raw, (blocks, dtype, filter, side)
                smaller += len(chunk) < len(raw) // 2
    assert smaller > 50


@pytest.mark.parametrize("dtype", ["<f4", "<f8"])
@pytest.mark.parametrize("blocks", [(100,), (8, 16), (9, 13), (4, 8, 7), (4, 5, 4, 6)])
def test_python_blosc2_reads_our_zfp(lib, rng, blocks, dtype):
    shape = (blocks[0] * 3, *blocks[1:])
    smooth = (np.sin(np.arange(np.prod(shape)) / 20) * 100).reshape(shape).astype(dtype)
    odd = smooth.copy()
    odd[0] = np.nan
    odd[-1] = 1e30
    for text, codec, meta in (("acc=-2", "ACC", 254), ("acc=1", "ACC", 1), ("prec=12", "PREC", 12),
                              ("prec=60", "PREC", 60), ("rate=25", "RATE", 25), ("rate=60", "RATE", 60)):
        codec = blosc2.Codec[f"ZFP_{codec}"]
        for values in (smooth, odd):
            with Blosc(lib, codec="zfp:" + text, typesize=values.itemsize, block=blocks) as b:
                chunk = b.encode(values.tobytes())
                ours = np.frombuffer(b.decode(chunk, values.nbytes), dtype).reshape(shape)
            got = read_by_blosc2(chunk, blocks, 3, dtype, codec, meta)
            assert got.tobytes() == ours.tobytes(), (text, blocks)
            assert np.array_equal(np.isnan(got), np.isnan(values))
            if text.startswith("acc"):
                assert np.nanmax(abs(got.astype("f8") - values.astype("f8"))) <= 10.0 ** int(text[4:])
            if values is smooth and not chunk[2] & 2:  # it gives what theirs does; one that is stored as it is loses nothing
                cparams = blosc2.CParams(codec=codec, codec_meta=meta, filters=[F.NOFILTER], filters_meta=[0])
                theirs = blosc2.asarray(values, chunks=shape, blocks=blocks, cparams=cparams)
                assert theirs[...].tobytes() == got.tobytes(), (text, blocks)


def test_python_blosc2_reads_our_cells(lib, rng):
    for blocks in ((50,), (16, 20), (5, 7, 9), (3, 4, 8, 9)):
        shape = (blocks[0] * 3, *blocks[1:])
        values = np.cumsum(rng.random(shape)).reshape(shape)
        for dtype, (name, cell), side in itertools.product(
                ("<f4", "<f8"), (("ndcell", F.NDCELL), ("ndmean", F.NDMEAN)), (2, 3)):
            if name == "ndmean" and min(blocks) < side:
                continue
            raw = values.astype(dtype)
            with Blosc(lib, codec="lz4", filter=f"{name}:{side}+shuffle", typesize=raw.itemsize, block=blocks) as b:
                chunk = b.encode(raw.tobytes())
                ours = b.decode(chunk, raw.nbytes)
            filters, meta = [cell, F.SHUFFLE], [side, 0]
            got = read_by_blosc2(chunk, blocks, 3, dtype, blosc2.Codec.LZ4, 0, filters, meta)
            assert got.tobytes() == ours and (name == "ndmean") == (ours != raw.tobytes())
            theirs = blosc2.asarray(raw, chunks=shape, blocks=blocks, cparams=blosc2.CParams(
                codec=blosc2.Codec.LZ4, filters=[F.NOFILTER] * 4 + filters, filters_meta=[0] * 4 + meta))
            assert np.allclose(theirs[...], got, rtol=1e-6)
