#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the seeds of fuzz_codec and its neighbours beside this file, from the standard library and from
frames written out by hand: python3 src/codec/corpus/make_codec.py"""
import bz2
import os
import struct
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
TEXT = b"one and two and one and two and three"

LZ4_RUN = bytes.fromhex("1b61010050 6263646566")  # "a", 15 more of it, "bcdef"
LZ4F_ABC = bytes.fromhex("04224d18 6440 a7 03000080 616263 00000000 ff53d132")
# independent, block and content checksum off: "abc" stored, then the run, and no content size
LZ4F_TWO = bytes.fromhex("04224d18 6040 82 03000080 616263 0a000000") + LZ4_RUN + bytes(4)
ZSTD_ABC = bytes.fromhex("28b52ffd 20 03 190000 616263")
ZSTD_RLE = bytes.fromhex("28b52ffd 00 00 2b0000 7a")
SKIPPABLE = bytes.fromhex("502a4d18 02000000 aabb")
CODECS = ("zlib", "bzip2", "lz4", "lz4f", "zstd")


def write(target, name, head, payload):
    folder = os.path.join(HERE, target)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as f:
        f.write(bytes(head) + payload)


def codec(name, variant, length, payload):
    """fuzz_codec: the codec's number, two factors of the length, stored bytes."""
    write("fuzz_codec", f"{name}-{variant}", (CODECS.index(name), length, 1), payload)


def frames(kind, variant, length, payload):
    """fuzz_frames: the scan's number, the decoded length in 3 bytes, the run."""
    head = bytes([("lz4", "zstd").index(kind)]) + struct.pack("<I", length)[:3]
    write("fuzz_frames", f"{kind}-{variant}", head, payload)


def bits(data):
    return "".join(f"{b:08b}" for b in data)


def bzip2_blocks(texts):
    """One stream with a block for each text, cut out of streams of their own and joined bit by bit."""
    end, out, crc = f"{0x177245385090:048b}", bits(b"BZh1"), 0
    for text in texts:
        own = bits(bz2.compress(text, 1))
        block = own[32 : own.rindex(end)]
        crc = (crc << 1 | crc >> 31) & 0xFFFFFFFF ^ int(block[48:80], 2)
        out += block
    out += end + f"{crc:032b}"
    out += "0" * (-len(out) % 8)
    return bytes(int(out[i : i + 8], 2) for i in range(0, len(out), 8))


def with_false_place():
    """Byte values whose map in the block's head is the beginning of a block."""
    return bytes(32 + i for i in range(48) if 0x314159265359 >> (47 - i) & 1)


codec("zlib", "text", len(TEXT), zlib.compress(TEXT, 9))
codec("zlib", "stored", len(TEXT), zlib.compress(TEXT, 0))
codec("zlib", "zeros", 250, zlib.compress(bytes(250)))
codec("bzip2", "text", len(TEXT), bz2.compress(TEXT, 1))
codec("lz4", "run", 21, LZ4_RUN)
codec("lz4", "literals", 3, b"\x30abc")
codec("lz4f", "abc", 3, LZ4F_ABC)
codec("lz4f", "several", 6, LZ4F_ABC + SKIPPABLE + LZ4F_ABC)
codec("lz4f", "two-blocks", 24, LZ4F_TWO)
codec("zstd", "abc", 3, ZSTD_ABC)
codec("zstd", "several", 8, ZSTD_ABC + SKIPPABLE + ZSTD_RLE)
frames("lz4", "abc", 3, LZ4F_ABC)
frames("lz4", "several", 6, SKIPPABLE + LZ4F_ABC + LZ4F_ABC)
frames("lz4", "two-blocks", 24, LZ4F_TWO)
frames("zstd", "abc", 3, ZSTD_ABC)
frames("zstd", "several", 6, ZSTD_ABC + SKIPPABLE + ZSTD_ABC)
frames("zstd", "without-size", 5, ZSTD_RLE)


def quantize(name, how, off, length, bits, n, payload, scale=0.5):
    """fuzz_quantize: float64 (1) and big-endian (2), a part's offset and length, the chunk."""
    head = struct.pack(">BddQ", bits, -1.5, scale, n)
    write("fuzz_quantize", name, bytes([how, off, length]), head + payload)


quantize("bits-7", 1, 5, 40, 7, 9, bytes(range(250, 256)) + b"\x81\x02")
quantize("bits-8", 0, 4, 8, 8, 5, b"\x00\x7f\x80\xff\x01")
quantize("bits-64", 3, 8, 9, 64, 2, bytes(range(16)))
quantize("bits-0", 2, 200, 100, 0, 1 << 40, b"")
quantize("bits-1", 1, 0, 255, 1, 33, b"\xaa\x55\xff\x00\x80")
quantize("nan", 1, 0, 16, 12, 3, b"\x80\x07\xff\xff\xf0", float("nan"))
quantize("short", 0, 0, 4, 8, 5, b"\x00\x7f")
quantize("bits-65", 0, 0, 4, 65, 1, bytes(9))
quantize("huge", 0, 0, 4, 8, 1 << 59, bytes(9))

for name, texts in {
    "empty": [],
    "one": [TEXT],
    "several": [TEXT, b"a", b"aaaaaaaaaaaaaaaa", TEXT[::-1]],
    "false-places": [with_false_place(), with_false_place()[::-1], TEXT],
    "runs": [bytes(150000), TEXT],
}.items():
    write("fuzz_bzip2_blocks", name, b"\x85", bzip2_blocks(texts))


def deflate(name, strategy, level, payload, flush_at=None):
    """fuzz_inflate: the seed of the pieces' sizes, raw deflate; with flush_at in several blocks."""
    z = zlib.compressobj(level, zlib.DEFLATED, -15, 1, strategy)
    parts = [payload] if flush_at is None else [payload[:flush_at], payload[flush_at:]]
    out = z.compress(parts[0])
    for part in parts[1:]:
        out += z.flush(zlib.Z_SYNC_FLUSH) + z.compress(part)
    write("fuzz_inflate", name, (len(payload) % 256,), out + z.flush())


SKEWED = bytes((i * i // 7 + i // 3) & (i * 37 >> 3) & 0xFF for i in range(4000))
deflate("stored", zlib.Z_DEFAULT_STRATEGY, 0, TEXT)
deflate("fixed", zlib.Z_FIXED, 9, TEXT * 3)
deflate("codes", zlib.Z_DEFAULT_STRATEGY, 6, SKEWED)
deflate("literals", zlib.Z_HUFFMAN_ONLY, 6, SKEWED[:1500])
deflate("runs", zlib.Z_RLE, 6, bytes(3000) + SKEWED[:300] + bytes(range(7)) * 90)
deflate("blocks", zlib.Z_DEFAULT_STRATEGY, 6, SKEWED + TEXT * 20, flush_at=1000)
