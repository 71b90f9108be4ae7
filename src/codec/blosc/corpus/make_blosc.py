#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the seeds of fuzz_blosc_chunk and fuzz_blosclz beside this file, which are the small chunks of the
unit tests too: python3 src/codec/blosc/corpus/make_blosc.py (with tests/compat/requirements.txt).

A chunk decodes to the first bytes of the little-endian 32-bit numbers i // 3, i = 0, 1, ...; those named
`lossy-` to something near (floats). Chunks that need a block's shape have blocks of 8 columns."""
import pathlib
import struct
import subprocess
import sys
import zlib

import blosc
import blosc2
import numpy as np

HERE = pathlib.Path(__file__).parent
F = blosc2.Filter
SPLIT = blosc2.SplitMode.ALWAYS_SPLIT, blosc2.SplitMode.NEVER_SPLIT
PIPELINES = {"none": (), "shuffle": (F.SHUFFLE,), "bitshuffle": (F.BITSHUFFLE,), "delta": (F.DELTA, F.SHUFFLE),
             "bytedelta": (F.SHUFFLE, F.BYTEDELTA)}


def raw(n):
    return (np.arange(n // 4 + 1, dtype="<u4") // 3).tobytes()[:n]


def write(name, chunk, folder="fuzz_blosc_chunk"):
    (HERE / folder).mkdir(exist_ok=True)
    (HERE / folder / name).write_bytes(chunk)


def compress2(data, filters=(), **more):
    slots = [F.NOFILTER] * (6 - len(filters)) + list(filters)
    meta = [4 if f == F.BYTEDELTA else 0 for f in slots]
    return blosc2.compress2(data, filters=slots, filters_meta=meta, **{"typesize": 4, "nthreads": 1, **more})


def make_blosc2():
    turn = 0
    for codec in ("BLOSCLZ", "LZ4", "LZ4HC", "ZLIB", "ZSTD"):
        for name, filters in PIPELINES.items():
            turn += 1
            length = 628 if name == "delta" else 630  # its writer loses what is no whole word
            chunk = compress2(raw(length), filters, codec=getattr(blosc2.Codec, codec), clevel=9, blocksize=256,
                              splitmode=SPLIT[turn % 2])
            write(f"v5-{codec.lower()}-{name}", chunk)
    write("v5-stored", compress2(raw(70), clevel=0))
    write("v5-tiny", compress2(raw(3)))
    write("v5-empty", compress2(b""))
    runs = compress2(raw(630), (F.SHUFFLE,), codec=blosc2.Codec.LZ4, clevel=9, blocksize=256, splitmode=SPLIT[0])
    write("v4-runs", b"\4" + runs[1:])
    write("v3-no-last-filter", b"\3" + compress2(raw(630), codec=blosc2.Codec.LZ4, clevel=9, blocksize=256)[1:])
    big = compress2(raw(630), (F.SHUFFLE,), codec=blosc2.Codec.ZLIB, clevel=9, blocksize=256)
    write("v5-big-endian-mark", big[:31] + bytes([big[31] | 2]) + big[32:])
    write("v5-blocks-in-any-order", swap_blocks(runs))
    for codec in ("ZSTD", "LZ4"):
        chunk = compress2(raw(16384), (F.SHUFFLE,), codec=getattr(blosc2.Codec, codec), clevel=5, blocksize=4096,
                          splitmode=SPLIT[1], use_dict=True)
        assert chunk[31] & 1, codec
        write(f"v5-{codec.lower()}-dictionary", chunk)


def swap_blocks(chunk):
    """The first block's bytes moved behind all others."""
    n = -(-struct.unpack_from("<i", chunk, 4)[0] // struct.unpack_from("<i", chunk, 8)[0])
    starts = struct.unpack_from(f"<{n}i", chunk, 32)
    first = starts[1] - starts[0]
    starts = [len(chunk) - first] + [s - first for s in starts[1:]]
    head = 32 + 4 * n
    return chunk[:32] + struct.pack(f"<{n}i", *starts) + chunk[head + first:] + chunk[head:head + first]


def make_special():
    def head(special, nbytes, typesize, more=b""):
        return struct.pack("<4B3i15xB", 5, 1, 5, typesize, nbytes, 64, 32 + len(more), special << 4) + more

    write("special-zeros", head(1, 99, 4))
    write("special-nan-4", head(2, 64, 4))
    write("special-nan-8", head(2, 64, 8))
    write("special-value", head(3, 96, 1, b"abc"))
    write("special-nothing", head(4, 100, 4))


def make_variable():
    """Three blocks, the last stored; two codecs."""
    parts = raw(120), raw(300)[120:], raw(310)[300:]
    for name, form, encode in (("blosclz", 0, blosclz_of), ("zlib", 3, zlib.compress)):
        blocks = [struct.pack("<i", len(part)) + encode(part) for part in parts[:2]]
        blocks.append(struct.pack("<i", len(parts[2])) + parts[2])
        starts = [44, 44 + len(blocks[0]), 44 + len(blocks[0]) + len(blocks[1])]
        body = struct.pack("<3i", *starts) + b"".join(blocks)
        write(f"v6-variable-{name}", struct.pack("<4B3i14xBx", 6, 1, 0x15 | form << 5, 1, 310, 3, 32 + len(body), 1)
              + body)


def blosclz_of(data):
    """A stream of literals."""
    return b"".join(bytes([len(data[i:i + 32]) - 1]) + data[i:i + 32] for i in range(0, len(data), 32))


def make_blosc1():
    blosc.set_nthreads(1)
    for codec in ("blosclz", "lz4", "zlib", "zstd"):
        for name, shuffle in (("none", 0), ("shuffle", 1), ("bitshuffle", 2)):
            blosc.set_blocksize(256)
            write(f"v2-{codec}-{name}", blosc.compress(raw(630), typesize=4, clevel=9, shuffle=shuffle, cname=codec))
    blosc.set_blocksize(1024)
    write("v2-split", blosc.compress(raw(2100), typesize=4, clevel=9, shuffle=1, cname="lz4"))
    blosc.set_blocksize(0)
    write("v2-stored", blosc.compress(raw(99), typesize=4, clevel=5, shuffle=1, cname="lz4"))
    script = ("import blosc, sys; sys.stdout.buffer.write(blosc.compress(sys.stdin.buffer.read(), typesize=20,"
              "clevel=9, shuffle=1, cname='lz4'))")
    done = subprocess.run([sys.executable, "-c", script], input=raw(1200), env={"BLOSC_SPLITMODE": "ALWAYS"},
                          capture_output=True, check=True)
    write("v2-split-against-its-rule", done.stdout)
    data = raw(630)  # no Blosc of today has Snappy
    blocks = [snappy_literals(data[i:i + 256]) for i in range(0, 630, 256)]
    starts = np.cumsum([28] + [4 + len(b) for b in blocks])[:-1]
    body = struct.pack("<3i", *starts) + b"".join(struct.pack("<i", len(b)) + b for b in blocks)
    write("v2-snappy", struct.pack("<4B3i", 2, 1, 0x50, 4, 630, 256, 16 + len(body)) + body)


def snappy_literals(data):
    """Length as a varint, then literals of up to 60 bytes."""
    n, head = len(data), b""
    while n >= 128:
        head, n = head + bytes([n & 127 | 128]), n >> 7
    head += bytes([n])
    return head + b"".join(bytes([(len(data[i:i + 60]) - 1) << 2]) + data[i:i + 60] for i in range(0, len(data), 60))


def chunk_of(arr, blocks, **cparams):
    cparams = {"filters": [F.NOFILTER], "filters_meta": [0], "splitmode": SPLIT[1], **cparams}
    array = blosc2.asarray(arr, chunks=arr.shape, blocks=blocks, cparams=blosc2.CParams(**cparams))
    return array.schunk.get_chunk(0)


def make_shaped():
    ramp = (np.arange(12 * 16) // 3).astype("<u4").reshape(12, 16)
    for name, cell in (("ndcell", F.NDCELL), ("lossy-ndmean", F.NDMEAN)):
        arr = ramp.astype("<f4") if cell == F.NDMEAN else ramp
        write(f"{name}", chunk_of(arr, (5, 8), codec=blosc2.Codec.LZ4, filters=[F.NOFILTER] * 4 + [cell, F.SHUFFLE],
                                  filters_meta=[0, 0, 0, 0, 3, 0]))
    floats = np.sin(np.arange(16 * 16) / 9).astype("<f4").reshape(16, 16)
    for name, codec, meta in (("acc", blosc2.Codec.ZFP_ACC, 255), ("prec", blosc2.Codec.ZFP_PREC, 9),
                              ("rate", blosc2.Codec.ZFP_RATE, 40)):
        write(f"lossy-zfp-{name}", chunk_of(floats, (8, 8), codec=codec, codec_meta=meta))
    bytes2d = np.zeros((24, 16), "u1")
    bytes2d[:, ::3] = (np.arange(24) // 5)[:, None]
    for side in (4, 8):
        write(f"lossy-ndlz-{side}", chunk_of(bytes2d, (21, 8), codec=blosc2.Codec.NDLZ, codec_meta=side))


def make_blosclz():
    far = bytes.fromhex("3f") + bytes(range(32)) + b"\xe0" + b"\xff" * 34 + b"\x00\x00\x20" + b"\x5f\xff\x00\x05\x00a"
    whole = bytes.fromhex("27 6162636465666768 e01e07 0468 58595a07 e00900 0007 e0163e 1468"
                          "000102030405060708090a0b0c0d0e0f10111213")
    for name, stream in (("all-but-far", whole), ("far", far), ("literals", blosclz_of(b"one and two and three")),
                         ("ends-in-a-match", bytes.fromhex("22616263e0ff0002"))):
        write(name, stream, "fuzz_blosclz")


def make_encode():
    """Parameters as fuzz_blosc_encode takes them: codec, level, typesize, filters, blocksize, how (split, blosc1, dict), meta."""
    words = b"".join(b"exposure %d filter F150W " % (i * i % 89) for i in range(300))
    for name, codec, level, typesize, filters, blocksize, how, meta, data in (
        ("blosclz-shuffle", 0, 5, 4, 1, 256, 0, 0, raw(2000)), ("blosclz-blosc1", 0, 7, 2, 2, 512, 64, 0, raw(2000)),
        ("lz4-delta-split", 1, 5, 4, 4, 256, 1, 0, raw(999)), ("lz4hc-dict", 2, 5, 1, 0, 512, 128, 0, words),
        ("zlib-bytedelta", 4, 5, 8, 6, 300, 0, 0, raw(1111)), ("zstd-dict", 5, 5, 4, 1, 512, 128, 0, words),
        ("zstd-trunc-prec", 5, 3, 4, 8, 0, 0, 9, raw(700)), ("zeros", 1, 5, 0, 2, 0, 0, 0, bytes(600)),
        ("stored", 0, 0, 3, 7, 0, 0, 0, raw(50))):
        head = struct.pack("<BBBBHBB", codec, level, typesize, filters, blocksize, how, meta)
        write(name, head + data, "fuzz_blosc_encode")
    y, x = np.indices((24, 16))
    rows, tiles = y % 4 * 5 + x % 4 + x // 4 % 2 * (y // 4 % 3), y % 8 * 31 + x % 8 * 7 + x // 8 % 3
    waves = np.sin(np.arange(128) / 9) * 50
    with_nan = waves.astype("<f4")
    with_nan[70] = np.nan
    for name, codec, ndim, typesize, filters, shape, meta, data in (  # of arrays: a shape instead of the blocksize
        ("ndlz-4", 6, 2, 1, 0, (12, 16), 4, rows.astype("u1")), ("ndlz-8", 6, 2, 1, 0, (24, 16), 8, tiles.astype("u1")),
        ("ndlz-split", 6, 2, 2, 1, (12, 8), 4, rows.astype("u1")), ("zfp-acc", 7, 2, 4, 0, (8, 8), 254, waves.astype("<f4")),
        ("zfp-prec", 8, 3, 8, 0, (4, 8), 20, waves), ("zfp-rate", 9, 1, 4, 0, (64, 0), 30, with_nan)):
        head = bytes([codec, 1 | (ndim - 1) << 3, typesize, filters, *shape, 0, meta])
        write(name, head + data.tobytes(), "fuzz_blosc_encode")


for make in (make_blosc2, make_special, make_variable, make_blosc1, make_shaped, make_blosclz, make_encode):
    make()
