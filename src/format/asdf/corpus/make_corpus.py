#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the files beside this script: fuzz_asdf_blocks/ are ASDF files put together by hand from the
document's byte tables, fuzz_asdf_tree/ are the texts of trees alone. Needs only Python."""
import bz2
import hashlib
import pathlib
import struct
import zlib

HERE = pathlib.Path(__file__).parent
LINES = b"#ASDF 1.0.0\n#ASDF_STANDARD 1.5.0\n"
YAML = b"%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n"
SIX = struct.pack("<6i", *range(6))
THREE = struct.pack("<3d", *range(3))
RAW = b"\0\0\0\0"
BLSC = struct.pack("<4B3i", 2, 1, 2, 4, 24, 24, 40) + SIX  # a Blosc1 chunk, stored as it is


def block(data, code=RAW, raw=None, flags=0, allocated=None, used=None, size=None, header=48, more=b""):
    raw = data if raw is None else raw
    allocated = len(raw) if allocated is None else allocated
    used = len(raw) if used is None else used
    size = len(data) if size is None else size
    fields = struct.pack(">HI4sQQQ", header, flags, code, allocated, used, size)
    return b"\xd3BLK" + fields + hashlib.md5(raw).digest() + more + raw


def nda(source=0, datatype="int32", shape="[6]", rest=""):
    return ("!core/ndarray-1.0.0 {source: %s, datatype: %s, byteorder: little, shape: %s%s}\n"
            % (source, datatype, shape, rest))


def asdf(tree, *blocks, index=False, tail=b"", first=LINES, yaml=YAML, end=b"...\n"):
    out = first + yaml + tree.encode() + end
    at = []
    for b in blocks:
        at.append(len(out))
        out += b
    if index:
        out += b"#ASDF BLOCK INDEX\n%YAML 1.1\n---\n" + b"".join(b"- %d\n" % x for x in at) + b"...\n"
    return out + tail


def lz4_stored(data):
    """A raw LZ4 block of literals alone (fewer than 270 of them)."""
    if len(data) < 15:
        return bytes([len(data) << 4]) + data
    return b"\xf0" + bytes([len(data) - 15]) + data


def lz4(data, size=None):
    body = struct.pack("<I", len(data) if size is None else size) + lz4_stored(data)
    return struct.pack(">I", len(body)) + body


# The layouts of 0.1: header_size and the fields behind flags.
EARLY = {"A": (44, "auk n"), "B": (36, "aumk"), "C": (40, "caumk"), "D": (48, "caumK")}


def early_block(layout, data, raw=None, flags=0, more=b"", used=None, size=None):
    raw = data if raw is None else raw
    header, fields = EARLY[layout]
    used = len(raw) if used is None else used
    out = struct.pack(">HI", header + len(more), flags)
    for f in fields:
        out += {"a": struct.pack(">Q", used), "u": struct.pack(">Q", used), "k": bytes(8), "K": hashlib.md5(data).digest(),
                "m": struct.pack(">Q", len(data) if size is None else size), "c": RAW, "n": bytes(16), " ": b""}[f]
    return b"\xd3BLK" + out + more + raw


def early(tree, *blocks, yaml=b"%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/0.1.0/\n--- !core/asdf\n"):
    return b"#ASDF 0.1.0\n" + yaml + tree.encode() + b"...\n" + b"".join(blocks)


def early_nda(source=0, datatype="int32", shape="[6]", word="datatype", tag="ndarray"):
    return "!core/%s {source: %s, %s: %s, byteorder: little, shape: %s}\n" % (tag, source, word, datatype, shape)


def quantized(bits, offset, scale, n, payload):
    return struct.pack(">BddQ", bits, offset, scale, n) + payload


def encoded(chain, payload, size, end=b"\n...\n"):
    return early_block("B", bytes(size), chain.encode() + end + payload, flags=2)


A = "a: " + nda()
AB = A + "b: " + nda(1, "float64", "[3]")
STAR = "s: !core/ndarray-1.0.0 {source: -1, datatype: int16, byteorder: big, shape: ['*', 2]}\n"
FILES = {
    "good-two-blocks": asdf(AB, block(SIX), block(THREE), index=True),
    "good-no-index": asdf(AB, block(SIX), block(THREE)),
    "good-nul-tail": asdf(AB, block(SIX), block(THREE), index=True, tail=bytes(100)),
    "good-stale-index": asdf(AB, block(SIX), block(THREE), tail=b"#ASDF BLOCK INDEX\n--- [1, 2]\n...\n"),
    "good-padding": asdf(AB, b"  \0\xd3BLK junk", block(SIX, allocated=30) + b"unused", b"gap", block(THREE)),
    "good-large-header": asdf(A, block(SIX, header=58, more=b"0123456789")),
    "good-crlf": (LINES + YAML + A.encode() + b"...\n").replace(b"\n", b"\r\n") + block(SIX),
    "good-no-tree": LINES + block(SIX) + block(THREE),
    "good-header-only": b"#ASDF 1.0.0\n",
    "good-nuls-behind": LINES + YAML + b"a: 1\n...\n\0\0\0",
    "good-comments": asdf(A, block(SIX), first=b"#ASDF 1.0.0\n# one\n#two\n"),
    "good-bom": asdf(A, block(SIX), first=b"\xef\xbb\xbf" + LINES),
    "good-future-version": asdf(A, block(SIX), first=b"#ASDF 1.7.0\n#ASDF_STANDARD 1.9.0\n"),
    "good-no-yaml-line": asdf(A, block(SIX), yaml=YAML[10:]),
    "good-blank-lines": asdf(A, block(SIX), first=LINES + b"\n   \n"),
    "good-no-end": asdf(A, end=b"").replace(A.encode(), b"a: !core/ndarray-1.0.0 [1, 2]\n"),
    "good-flags": asdf(A, block(SIX, flags=0x80)),
    "good-data-size": asdf(A, block(SIX, size=99)),
    "good-allocated-huge": asdf(A, block(SIX, allocated=2**64 - 1)),
    "good-streamed": asdf(STAR, block(SIX), block(b"\0\1\0\2\0\3\0\4\0", flags=1, used=0, allocated=0, size=0)),
    "good-zlib": asdf(A, block(SIX, b"zlib", zlib.compress(SIX))),
    "good-bzp2": asdf(A, block(SIX, b"bzp2", bz2.compress(SIX))),
    "good-lz4": asdf(A, block(SIX, b"lz4\0", lz4(SIX[:10]) + lz4(SIX[10:]))),
    "good-lz4f": asdf(A, block(SIX, b"lz4f", bytes.fromhex("04224d18604082") + struct.pack("<I", 24 | 1 << 31) + SIX + bytes(4))),
    "good-zstd": asdf(A, block(SIX, b"zstd", bytes.fromhex("28b52ffd2018c10000") + SIX)),
    "good-streamed-zlib": asdf("s: " + nda(0, "int32", "['*']"), block(SIX, b"zlib", zlib.compress(SIX), flags=1)),
    "good-views": asdf("a: " + nda(0, "int16", "[3, 2]", ", offset: 16, strides: [-8, 4]") + A.replace("a:", "b:"), block(SIX)),
    "good-0.1-a": early("a: " + early_nda(word="dtype"), early_block("A", SIX)),
    "good-0.1-b": early("a: " + early_nda(), early_block("B", SIX)),
    "good-0.1-b-large-header": early("a: " + early_nda() + "b: " + early_nda(1), early_block("B", SIX, more=bytes(64)),
                                     early_block("B", SIX, more=bytes(64))),
    "good-0.1-c": early("a: " + early_nda(), early_block("C", SIX)),
    "good-0.1-d": early("a: " + early_nda(), early_block("D", SIX)),
    "good-0.1-e": early("a: " + early_nda(tag="ndarray-0.1.0"), early_block("D", SIX),
                        yaml=b"%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-0.1.0\n"),
    "good-0.1-streamed": early("a: " + early_nda(-1, shape="['*', 2]"), early_block("B", SIX, flags=1, used=0, size=0)),
    "good-0.1-zlib": early("a: " + early_nda(), encoded("--- [zlib]", zlib.compress(SIX), 24)),
    "good-0.1-tile": early("a: " + early_nda(shape="[2, 3]"), encoded("[[tile, {shape: [2, 2]}], zlib]", zlib.compress(
        struct.pack("<8i", 0, 1, 3, 4, 2, -1, 5, -1)), 24)),
    "good-0.1-quantize": early("a: " + early_nda(datatype="float32"), encoded(
        "%YAML 1.1\n--- [[quantize, {dtype: 32, original_shape: [6]}]]", quantized(3, 1, 0.5, 4, b"\x05\x30") +
        quantized(0, 7, 0, 2, b""), 24)),
    "bad-0.1-streamed-encoded": early("a: " + early_nda(), early_block("B", SIX, b"[]\n...\n" + SIX, flags=3)),
    "bad-0.1-quantize": early("a: " + early_nda(datatype="float32"), encoded("quantize", quantized(8, 0, 1, 6, b"12345"), 24)),
    "unsupported-0.1-chain": early("a: " + early_nda(), encoded("[rot13]", SIX, 24)),
    "bad-magic": b"#ASDG 1.0.0\n",
    "bad-version": asdf(A, block(SIX), first=b"#ASDF 1.x\n"),
    "bad-tree": asdf("a: [1\n", block(SIX)),
    "bad-truncated": asdf(A, block(SIX))[:-1],
    "bad-cut-header": asdf(A, block(SIX)[:30]),
    "bad-missing-block": asdf(A),
    "bad-used": asdf(A, block(SIX, used=25)),
    "bad-header-size": asdf(A, block(SIX, header=47)),
    "bad-shape": asdf("a: " + nda(0, "int32", "[7]"), block(SIX)),
    "bad-zlib": asdf(A, block(SIX, b"zlib", zlib.compress(SIX)[:-5])),
    "bad-lz4": asdf(A, block(SIX, b"lz4\0", lz4(SIX, 2**31 - 1))),
    "good-version-0": asdf(A, block(SIX), first=b"#ASDF 0.1.0\n"),
    "unsupported-version-2": asdf(A, block(SIX), first=b"#ASDF 2.0.0\n"),
    "unsupported-code": asdf(A, block(SIX, b"quux")),
    "unsupported-blosc": asdf(A, block(SIX, b"blsc", BLSC[:2] + b"\xe0" + BLSC[3:])),  # a codec that is none
    "good-blosc": asdf(A, block(SIX, b"blsc", BLSC)),
    "good-data-size-padded": asdf(AB, bytes(9), block(SIX, size=20), block(THREE)),
    "bad-used-padded": asdf(AB, bytes(9), block(SIX, used=25), block(THREE)),
    "bad-used-over-next": asdf(AB, block(SIX, used=40, allocated=40), block(THREE)),
    "good-junk-behind-tree": asdf("a: 1\n", tail=bytes(9) + b"junk"),
    "good-junk-behind-index": asdf(AB, block(SIX), block(THREE), index=True, tail=b"x" * 4100),
    "bad-used-over-end": asdf(AB, bytes(9), block(SIX, used=2**63, allocated=2**63), block(THREE)),
}

# An encoded block over which an array lies: two lengths, the type (4: big-endian), the block.
TILED = struct.pack("<8f", 0, 1, 3, 4, 2, -1, 5, -1)
CHAINS = {
    "empty": ((2, 3, 0), b"[]\n...\n" + SIX),
    "zlib": ((2, 3, 0), b"--- [zlib]\n...\n" + zlib.compress(SIX)),
    "zlib-crlf": ((2, 3, 0), b"%YAML 1.1\r\n--- zlib\r\n...\r\n" + zlib.compress(SIX)),
    "zlib-zlib": ((2, 3, 0), b"[zlib, [zlib, {}]]\n...\n" + zlib.compress(zlib.compress(SIX))),
    "tile": ((2, 3, 0), b"[[tile, {shape: [2, 2]}]]\n...\n" + TILED),
    "tile-zlib": ((2, 3, 0), b"[[tile, {shape: [2, 2], original_shape: [2, 3], item_size: 4}], zlib]\n...\n" + zlib.compress(TILED)),
    "tile-tile": ((2, 3, 0), b"[[tile, {shape: [2]}], [tile, {shape: [4], original_shape: [6], item_size: 4}]]\n...\n" + TILED),
    "tile-quantize-zlib": ((2, 3, 4), b"[[tile, {shape: [2, 2]}], [quantize, {dtype: 32}], zlib]\n...\n" + zlib.compress(
        quantized(8, 1, 0.5, 4, b"\x00\x01\xff\x80") + quantized(5, 1, 0.5, 4, b"\x12\x34\x56"))),
    "quantize": ((3, 1, 1), b"quantize\n...\n" + quantized(64, 0, 1, 3, bytes(range(24)))),
    "quantize-many": ((200, 200, 0), b"[quantize]\n...\n" + quantized(0, 2, 1, 1 << 40, b"")),
    "quantize-empty": ((1, 1, 0), b"[quantize, zlib]\n...\n" + zlib.compress(quantized(8, 0, 1, 0, b"") * 400)),
    "quantize-claims": ((2, 3, 0), b"[quantize]\n...\n" + quantized(8, 0, 1, 1 << 59, b"123456")),
    "tile-large": ((2, 3, 0), b"[[tile, {shape: [1073741824, 1073741824]}], quantize]\n...\n" + quantized(0, 2, 1, 1 << 60, b"")),
    "tile-huge": ((2, 3, 0), b"[[tile, {shape: [4611686018427387904, 4]}], zlib]\n...\n" + zlib.compress(SIX)),
    "order": ((2, 3, 0), b"[zlib, [tile, {shape: [2, 2]}]]\n...\n" + SIX),
    "bomb": ((2, 3, 0), b"[zlib, zlib]\n...\n" + zlib.compress(bytes(1 << 20))),
    "unknown": ((2, 3, 0), b"[[tile, {shape: [1, 1]}], frobnicate]\n...\n" + SIX),
    "no-end": ((2, 3, 0), b"[zlib]\n"),
}

TREES = {
    "datatypes": "a: " + nda(0, "[int8, {name: b, datatype: [ascii, 3], shape: [2]}, {datatype: [uint16, [ucs4, 1]],"
                             " byteorder: big}]", "[1]"),
    "strides": "a: " + nda(0, "uint8", "['*', 2]", ", offset: 3, strides: [4, -2]"),
    "inline": "a: !core/ndarray-1.0.0 [[1, 2.5, ~], [.nan, true, -3]]\nb: !core/ndarray-1.0.0 [x, 1, \"\\u00e9\"]\n"
              "c: !core/ndarray-1.0.0 {data: [[1, a], [2, b]], datatype: [int8, [ascii, 1]], shape: [2]}\n"
              "d: !core/ndarray-1.0.0 [!core/complex-1.0.0 1+2j, 3]\n",
    "masks": "a: !core/ndarray-1.0.0 {data: [1, 2], mask: [true, false]}\nb: !core/ndarray-1.0.0 {data: [1, 2], mask: 2}\n"
             "c: &c !core/ndarray-1.0.0 {source: 0, datatype: int32, byteorder: little, shape: [6], mask: *c}\n",
    "aliases": "a: &a " + nda() + "b: [*a, {c: *a}]\nd: &d {e: *d, f: *a}\n",
    "references": "a: {$ref: '#/b/0'}\nb: [" + nda().strip() + "]\nc: {$ref: 'x.asdf#/y'}\nd: {$ref: '#/d'}\n",
    "sources": "a: " + nda(-1, "float64", "[3]") + "b: " + nda("x.asdf") + "c: " + nda(7) + "d: " + nda("''"),
    "types": "asdf_library: !core/software-1.0.0 {name: x, version: 1.0.0}\nhistory:\n  entries: [!core/history_entry-1.0.0"
             " {description: d}]\n  extensions: [{extension_class: c}]\ni: !core/integer-1.0.0 {words: "
             "!core/ndarray-1.0.0 [5, 1], sign: '-', string: '-4294967301'}\nc: !core/complex-1.0.0 (1-infj)\n"
             "q: !unit/quantity-1.1.0 {unit: m, value: " + nda().strip() + "}\n",
    "odd": "a: !core/ndarray-9.9.9 {source: 0}\nb: !core/ndarray {source: 0, data: [1]}\nc: !core/ndarray-1.0.0\n"
           "? [1]\n: !core/ndarray-1.0.0 [1]\n0x10: !core/ndarray-1.0.0 []\n",
}


def main():
    for folder, files, suffix in (("fuzz_asdf_blocks", FILES, ".asdf"), ("fuzz_asdf_tree", TREES, ".yaml")):
        (HERE / folder).mkdir(exist_ok=True)
        for name, data in files.items():
            (HERE / folder / (name + suffix)).write_bytes(data if isinstance(data, bytes) else data.encode())
    (HERE / "fuzz_asdf_chain").mkdir(exist_ok=True)
    for name, (own, data) in CHAINS.items():
        (HERE / "fuzz_asdf_chain" / name).write_bytes(bytes(own) + data)
    (HERE / "fuzz_asdf_update").mkdir(exist_ok=True)
    for i, (name, data) in enumerate(FILES.items()):  # in front: what is changed
        for how in (i % 16, 32 + i % 16, 48 + 32 * (i % 2)):
            (HERE / "fuzz_asdf_update" / f"{name}-{how}").write_bytes(bytes([how]) + data)
    (HERE / "fuzz_asdf_rewrite").mkdir(exist_ok=True)
    for i, (name, data) in enumerate(FILES.items()):  # in front: how it is written anew
        for how in (i % 3, 2 + 3 * (i % 4)):
            (HERE / "fuzz_asdf_rewrite" / f"{name}-{how}").write_bytes(bytes([how]) + data)


if __name__ == "__main__":
    main()
