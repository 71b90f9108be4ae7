# SPDX-License-Identifier: BSD-3-Clause
"""Chunks made by python-blosc2 and python-blosc: codecs x filters x typesizes x odd lengths x split
modes, blocks of arrays for the codecs and filters that need a shape, special chunks, dictionaries,
blocks of variable length. All go through the program blosc_decode in one run per test."""
import lzma
import os
import pathlib
import struct
import subprocess
import sys

import numpy as np
import pytest

blosc = pytest.importorskip("blosc")
blosc2 = pytest.importorskip("blosc2")

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
F = blosc2.Filter
CODECS = [blosc2.Codec.BLOSCLZ, blosc2.Codec.LZ4, blosc2.Codec.LZ4HC, blosc2.Codec.ZLIB,
          blosc2.Codec.ZSTD]
BYTEDELTA_OLD = 34


@pytest.fixture(scope="module")
def check():
    programs = os.environ.get("CIPPUS_PROGRAMS") or ROOT / "build" / "dev" / "tests"
    program = pathlib.Path(programs) / "blosc_decode"
    assert program.exists(), f"no program {program}"

    def run(records):
        done = subprocess.run([program], input=b"".join(records), capture_output=True)
        said = done.stdout.decode(errors="replace")
        assert done.returncode == 0, said[-2000:] + done.stderr.decode()[-2000:]
        assert said.startswith(f"{len(records)} chunks")

    return run


def record(chunk, raw, typesize=0, block=()):
    return struct.pack(f"<II{len(block)}qII", typesize, len(block), *block, len(chunk),
                       len(raw)) + chunk + raw


def payload(kind, n, typesize):
    """n bytes: counting words, walks, few values, zeros with a few others, noise."""
    rng = np.random.default_rng(n * 31 + typesize)
    count = n // typesize + 2
    if kind == "count":
        wide = min(typesize, 8)
        rows = np.zeros((count, typesize), "u1")
        rows[:, :wide] = (np.arange(count, dtype="<u8") * 37)[:, None].view("u1")[:, :wide]
        return rows.tobytes()[:n]
    if kind == "walk":
        return np.cumsum(rng.integers(-2, 3, count * typesize)).astype("<i4").tobytes()[:n]
    if kind == "few":
        return rng.integers(0, 3, n, dtype="u1").tobytes()
    if kind == "sparse":
        raw = np.zeros(n, "u1")
        raw[rng.integers(0, n, 1 + n // 500)] = 9
        return raw.tobytes()
    return rng.integers(0, 256, n, dtype="u1").tobytes()


def filters_of(names, typesize):
    slots = [F.NOFILTER] * (6 - len(names)) + list(names)
    meta = [typesize if f in (F.BYTEDELTA, BYTEDELTA_OLD) else 0 for f in slots]
    return slots, meta


PIPELINES = [(), (F.SHUFFLE,), (F.BITSHUFFLE,), (F.DELTA,), (F.DELTA, F.SHUFFLE),
             (F.DELTA, F.BITSHUFFLE), (F.SHUFFLE, F.BYTEDELTA), (F.SHUFFLE, F.DELTA)]


def delta_word(typesize):
    return typesize if typesize in (1, 2, 4, 8) else 8 if typesize % 8 == 0 else 1


@pytest.mark.parametrize("codec", CODECS, ids=lambda c: c.name)
def test_blosc2_codecs_filters_typesizes_lengths_and_splits(check, codec):
    records = []
    turn = 0
    kinds = ("count", "walk", "few", "sparse", "noise")
    for pipeline in PIPELINES:
        for typesize in (1, 2, 3, 4, 7, 8, 12, 16, 20, 33, 255):
            for length in (1, 31, 127, 1000, 4096, 9999, 40007):
                for split in (blosc2.SplitMode.AUTO_SPLIT, blosc2.SplitMode.ALWAYS_SPLIT,
                              blosc2.SplitMode.NEVER_SPLIT):
                    turn += 1
                    if turn % 3 == 0 and length > 4096:
                        continue
                    if F.DELTA in pipeline:  # its writer loses what is no whole word
                        length -= length % (delta_word(typesize) * typesize)
                        if length == 0:
                            continue
                    blocksize = (0, 512 * typesize, 4096 * typesize)[turn % 3]
                    if blocksize > length and length % typesize:
                        blocksize = 0  # and here too
                    raw = payload(kinds[turn % 5], length, typesize)
                    slots, meta = filters_of(pipeline, typesize)
                    if F.BYTEDELTA in pipeline and length % typesize:
                        continue  # the same
                    chunk = blosc2.compress2(
                        raw, typesize=typesize, codec=codec, clevel=1 + turn % 9, filters=slots,
                        filters_meta=meta, splitmode=split, nthreads=1,
                        blocksize=blocksize)
                    records.append(record(chunk, raw, typesize))
    assert len(records) > 900
    check(records)


def test_blosc2_lossy_filters_decode_as_their_writer_does(check):
    records = []
    for dtype in ("<f4", "<f8", "<i4", "<i2", "<u1"):
        arr = (np.sin(np.arange(5000) / 30) * 100).astype(dtype)
        for lossy, meta in ((F.TRUNC_PREC, 10), (F.TRUNC_PREC, -8), (F.INT_TRUNC, -3)):
            if (lossy == F.TRUNC_PREC) != (arr.dtype.kind == "f"):
                continue
            for then in (F.NOFILTER, F.SHUFFLE, F.BITSHUFFLE):
                chunk = blosc2.compress2(
                    arr.tobytes(), typesize=arr.itemsize, codec=blosc2.Codec.ZSTD, clevel=5,
                    filters=[F.NOFILTER] * 4 + [lossy, then], filters_meta=[0, 0, 0, 0, meta, 0])
                records.append(record(chunk, blosc2.decompress2(chunk), arr.itemsize))
    check(records)


@pytest.mark.parametrize("codec", [blosc2.Codec.ZSTD, blosc2.Codec.LZ4, blosc2.Codec.LZ4HC],
                         ids=lambda c: c.name)
def test_dictionaries(check, codec):
    records = []
    for typesize in (1, 4, 8):
        for split in (blosc2.SplitMode.ALWAYS_SPLIT, blosc2.SplitMode.NEVER_SPLIT):
            for kind in ("count", "walk", "few"):
                raw = payload(kind, 200_000 // typesize * typesize, typesize)
                chunk = blosc2.compress2(
                    raw, typesize=typesize, codec=codec, clevel=5, use_dict=True, splitmode=split,
                    filters=[F.SHUFFLE], filters_meta=[0], blocksize=4096)
                records.append(record(chunk, raw, typesize))
    assert any(r[16 + 31] & 1 for r in records)
    check(records)


def nd_records(arr, chunks, blocks, **cparams):
    nd = blosc2.asarray(arr, chunks=chunks, blocks=blocks, cparams=blosc2.CParams(**cparams))
    return [record(nd.schunk.get_chunk(i), nd.schunk.decompress_chunk(i), arr.itemsize, blocks)
            for i in range(nd.schunk.nchunks)]


@pytest.mark.parametrize("dtype", ["<f4", "<f8"])
@pytest.mark.parametrize("ndim", [1, 2, 3, 4])
def test_zfp_modes(check, ndim, dtype):
    shape = {1: (300,), 2: (30, 37), 3: (12, 13, 14), 4: (8, 9, 7, 10)}[ndim]
    blocks = {1: (100,), 2: (8, 16), 3: (4, 8, 7), 4: (4, 5, 4, 6)}[ndim]
    arr = np.sin(np.arange(np.prod(shape), dtype=dtype) / 20).reshape(shape)
    records = []
    for codec, meta in ((blosc2.Codec.ZFP_ACC, 254), (blosc2.Codec.ZFP_ACC, 0),
                        (blosc2.Codec.ZFP_PREC, 12), (blosc2.Codec.ZFP_PREC, 60),
                        (blosc2.Codec.ZFP_RATE, 25), (blosc2.Codec.ZFP_RATE, 60)):
        records += nd_records(arr, shape, blocks, codec=codec, codec_meta=meta,
                              filters=[F.NOFILTER], filters_meta=[0],
                              splitmode=blosc2.SplitMode.NEVER_SPLIT)
    check(records)


@pytest.mark.parametrize("side", [4, 8])
def test_ndlz(check, side):
    rng = np.random.default_rng(side)
    records = []
    for blocks in ((32, 48), (33, 30), (64, 64), (5, 70)):
        few = rng.integers(0, 2, (96, 96), dtype="u1")
        rows = np.repeat(rng.integers(0, 4, (96, 12), dtype="u1"), 8, axis=1)
        tiles = np.tile(rng.integers(0, 9, (16, 16), dtype="u1"), (6, 6))
        pairs = tiles.copy()
        pairs[::3] ^= rng.integers(0, 2, (32, 96), dtype="u1")
        for arr in (few, rows, tiles, pairs, np.zeros((96, 96), "u1") + 7):
            arr[10:20, 10:20] = rng.integers(0, 255, (10, 10))
            records += nd_records(arr, (96, 96), blocks, codec=blosc2.Codec.NDLZ, codec_meta=side,
                                  filters=[F.NOFILTER], filters_meta=[0],
                                  splitmode=blosc2.SplitMode.NEVER_SPLIT)
    check(records)


def test_filters_of_cells(check):
    records = []
    for shape, blocks in (((300,), (50,)), ((40, 50), (16, 20)), ((12, 20, 18), (5, 7, 9)),
                          ((6, 7, 8, 9), (3, 4, 8, 9))):
        for dtype in ("<f4", "<f8"):
            arr = np.cumsum(np.ones(np.prod(shape), dtype)).reshape(shape).astype(dtype)
            for cell, side in ((F.NDCELL, 2), (F.NDCELL, 4), (F.NDMEAN, 2), (F.NDMEAN, 3)):
                records += nd_records(
                    arr, shape, blocks, codec=blosc2.Codec.LZ4, clevel=5,
                    filters=[F.NOFILTER] * 4 + [cell, F.SHUFFLE],
                    filters_meta=[0, 0, 0, 0, side, 0])
    check(records)


def test_special_chunks(check):
    records = []
    for typesize, special in ((4, blosc2.SpecialValue.ZERO), (8, blosc2.SpecialValue.NAN),
                              (4, blosc2.SpecialValue.NAN)):
        s = blosc2.SChunk(chunksize=8000, cparams={"typesize": typesize})
        s.fill_special(3000, special)
        records += [record(s.get_chunk(i), s.decompress_chunk(i), typesize)
                    for i in range(s.nchunks)]
    for typesize, value in ((4, 77), (8, 2.5)):
        s = blosc2.SChunk(chunksize=8000, cparams={"typesize": typesize})
        s.fill_special(3000, blosc2.SpecialValue.VALUE, value)
        records += [record(s.get_chunk(i), s.decompress_chunk(i), typesize)
                    for i in range(s.nchunks)]
    records.append(record(blosc2.compress2(bytes(100_003), typesize=4), bytes(100_003)))
    records.append(record(blosc2.compress2(b"", typesize=4), b""))
    check(records)


def test_blocks_of_variable_length(check):
    records = []
    for codec in CODECS:
        batches = blosc2.BatchArray(cparams={"codec": codec}, items_per_block=3)
        for k in range(4):
            batches.append([{"n": k * i, "text": "word " * (i + k)} for i in range(11)])
        s = batches.schunk
        for i in range(s.nchunks):
            chunk = s.get_chunk(i)
            records.append(record(chunk, s.decompress_chunk(i), 1))
            assert chunk[0] == 6 and chunk[30] & 1
    check(records)


@pytest.mark.parametrize("codec", ["blosclz", "lz4", "lz4hc", "zlib", "zstd"])
def test_blosc1_chunks(check, codec):
    records = []
    turn = 0
    for shuffle in (blosc.NOSHUFFLE, blosc.SHUFFLE, blosc.BITSHUFFLE):
        for typesize in (1, 2, 3, 4, 8, 12, 16, 17, 20, 255):
            for length in (1, 127, 128, 1000, 9999, 66_001):
                for blocksize in (0, 128, 2048, 9000):
                    turn += 1
                    raw = payload(("count", "walk", "few", "noise")[turn % 4], length, typesize)
                    blosc.set_blocksize(blocksize)
                    blosc.set_nthreads(1 + turn % 3)
                    chunk = blosc.compress(raw, typesize=typesize, clevel=1 + turn % 9,
                                           shuffle=shuffle, cname=codec)
                    records.append(record(chunk, raw))
    blosc.set_blocksize(0)
    assert codec == "zstd" or any(r[16 + 2] & 0x10 == 0 for r in records)
    check(records)


def test_blosc1_split_against_its_own_rule(check):
    """With BLOSC_SPLITMODE=ALWAYS it writes chunks that it cannot read; in a process of its own."""
    script = (
        "import blosc, sys, struct\n"
        "out = sys.stdout.buffer\n"
        "for ts in (17, 20, 32):\n"
        "    raw = bytes(i * 7 // 5 % 251 for i in range(ts * 600))\n"
        "    c = blosc.compress(raw, typesize=ts, clevel=5, shuffle=1, cname='lz4')\n"
        "    out.write(struct.pack('<IIII', 0, 0, len(c), len(raw)) + c + raw)\n")
    records = []
    for mode in ("ALWAYS", "NEVER", "AUTO", "FORWARD_COMPAT"):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True,
                              env={**os.environ, "BLOSC_SPLITMODE": mode, "BLOSC_BLOCKSIZE": "0"})
        at = 0
        while at < len(done.stdout):
            _, _, n, m = struct.unpack_from("<IIII", done.stdout, at)
            records.append(done.stdout[at:at + 16 + n + m])
            at += 16 + n + m
    check(records)


@pytest.mark.parametrize("name, number", [("shuffle", 1), ("bitshuffle", 2)])
def test_filters_as_c_blosc_applied_them(check, name, number):
    """The output of the filters alone in 2.20, of the numbers 0 to 999,999, as a chunk of one stored stream."""
    corpus = pathlib.Path(os.environ.get("CIPPUS_CORPUS") or ROOT.parent / "shared" / "corpus")
    path = corpus / "blosc2" / "compat" / f"{name}-2.20.0.cdata.xz"
    if not path.exists():
        pytest.skip(f"no {path}")
    filtered = lzma.open(path).read()
    n = len(filtered)
    head = struct.pack("<4B3i5x11B", 5, 1, 0x15, 4, n, n, n + 40, number, *[0] * 10)
    raw = np.arange(1_000_000, dtype="<i4").tobytes()
    check([record(head + struct.pack("<ii", 36, n) + filtered, raw)])
