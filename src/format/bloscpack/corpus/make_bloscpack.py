#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes fuzz_bloscpack/ (files), fuzz_bloscpack_meta/ (metadata as text) and fuzz_bloscpack_update/ (files and how they are
changed) beside this script, from the layout alone.

Decoded byte i of every good-* file is (i * i // 7 + 3 * i) % 256, unless said. Chunks are stored as they are; what
compressed ones need is tested with codecs, and with bloscpack's own files in tests/compat.
"""
import hashlib
import json
import pathlib
import shutil
import struct
import zlib

HERE = pathlib.Path(__file__).parent
OUT, META, UPDATE = (HERE / f"fuzz_bloscpack{x}" for x in ("", "_meta", "_update"))
DATA = bytes((i * i // 7 + 3 * i) % 256 for i in range(4096))
SUMS = ["none", "adler32", "crc32", "md5", "sha1", "sha224", "sha256", "sha384", "sha512"]


UPDATED = ["good-2", "good-3-md5", "good-numpy", "good-empty", "good-one-chunk", "good-numpy-f"]
CHANGES = [(30, 61), (100, 240), (1, 59), (200, 0)]  # as fuzz_bloscpack_update.c reads them


def digest(kind, data):
    if kind in ("adler32", "crc32"):
        return struct.pack("<I", getattr(zlib, kind)(data))
    return b"" if kind == "none" else hashlib.new(kind, data).digest()


def blosc1(raw, typesize=1):
    return struct.pack("<4B3I", 2, 1, 2, typesize, len(raw), max(len(raw), 1), 16 + len(raw)) + raw


def pieces(nbytes, sizes):
    """DATA's first nbytes cut in the sizes, the last one repeated."""
    out, at = [], 0
    while at < nbytes:
        n = min(sizes[min(len(out), len(sizes) - 1)], nbytes - at)
        out.append(DATA[at:at + n])
        at += n
    return out or [b""]


def section(meta, kind="adler32", codec=0, room=None, text=None):
    text = json.dumps(meta).encode() if text is None else text
    stored = zlib.compress(text) if codec == 1 else text
    room = len(stored) if room is None else room
    head = struct.pack("<8s4B3I8s", b"JSON", 0, SUMS.index(kind), codec, 6, len(text), room, len(stored), b"")
    return head + stored.ljust(room, b"\0") + digest(kind, stored)


def blp(chunks, *, version=3, kind="none", size=None, last=None, n=None, offsets=False, spare=0, meta=b"", unset=False, tail=b""):
    """size, last, n: as the header is to have them, where not as they are."""
    chunks = [c if c[:1] == b"\2" else blosc1(c) for c in chunks]
    raw = [struct.unpack_from("<I", c, 4)[0] for c in chunks]
    n = len(chunks) if n is None else n
    if version == 1:
        return struct.pack("<4s4Bq", b"blpk", 1, 0, 0, 0, n) + b"".join(chunks) + tail
    options = (1 if offsets else 0) | (2 if meta else 0)
    head = struct.pack("<4s4Biiqq", b"blpk", version, options, SUMS.index(kind), 1, raw[0] if size is None else size,
                       raw[-1] if last is None else last, n, spare)
    body = [c + digest(kind, c) for c in chunks]
    table, at = b"", len(head) + len(meta) + 8 * (n + spare)
    if offsets:
        for c in body:
            table += struct.pack("<q", -1 if unset else at)
            at += len(c)
        table += struct.pack("<q", -1) * (n + spare - len(body))
    return head + meta + table + b"".join(body) + tail


def numpy_meta(dtype, shape, order="C", **more):
    return {"dtype": dtype, "shape": shape, "order": order, "container": "numpy", **more}


def files():
    whole, three = pieces(1000, [1000]), pieces(1000, [400])
    uneven = pieces(1000, [300, 10, 400])
    yield "good-1", blp(uneven, version=1)
    yield "good-1-unknown", blp(uneven, version=1, n=-1)
    yield "good-2", blp(three, version=2, offsets=True)
    yield "good-2-plain", blp(three, version=2, kind="md5")
    for kind in SUMS:
        yield f"good-3-{kind}", blp(three, kind=kind, offsets=kind != "crc32", spare=0 if kind == "crc32" else 5)
    yield "good-one-chunk", blp(whole)
    yield "good-empty", blp([b""], kind="crc32", offsets=True, spare=10)
    yield "good-no-chunks", blp([b""], n=0, size=0, last=0)[:32]
    yield "good-streamed", blp(uneven, kind="crc32", size=-1, last=-1, n=-1)
    yield "good-streamed-nothing", blp([b""], size=-1, last=-1, n=-1)[:32]
    yield "good-sizes-unknown", blp(uneven, kind="sha1", size=-1, last=-1, offsets=True, spare=2)
    yield "good-last-unknown", blp(three, kind="adler32", last=-1, offsets=True)
    yield "good-empty-between", blp([uneven[0], b"", *uneven[1:]], size=-1, last=-1)
    yield "good-offsets-unset", blp(three, kind="md5", offsets=True, spare=1, unset=True)
    yield "good-stale-tail", blp(three, kind="crc32", offsets=True, spare=4, tail=b"what an append left")
    yield "good-number-unknown-cut", blp(three, n=-1, size=400, last=-1)[:-150]  # 800 bytes: the last chunk is not whole
    square = numpy_meta("'<u2'", [20, 25])
    yield "good-numpy", blp(three, kind="adler32", offsets=True, spare=30, meta=section(square, codec=1, room=500))
    yield "good-numpy-f", blp(three, meta=section(numpy_meta("'<u2'", [20, 25], "F")))
    yield "good-numpy-bare", blp(three, meta=section(numpy_meta("<u2", [500]), kind="none"))
    fields = [["a", "<u2"], ["b", [["c", "<u4"]]], ["d", "|u1", [2, 2]]]
    yield "good-numpy-record", blp(three, meta=section(numpy_meta(fields, [100])))
    yield "good-numpy-more", blp(three, meta=section(numpy_meta("'<u2'", [500], night={"seeing": 0.8}), kind="sha256"))
    yield "good-numpy-streamed", blp(three, size=-1, last=-1, n=-1, meta=section(square))
    yield "good-numpy-cut", blp(three, size=-1, last=-1, n=-1, meta=section(square))[:-150]  # 800 bytes are there
    yield "good-numpy-0d", blp(pieces(8, [8]), meta=section(numpy_meta("'<u8'", [])))
    yield "good-meta", blp(three, meta=section({"a": [1, 2, {"c": None}], "u": "\u00e9\U0001f600", "x": 1e300}, codec=1))
    yield "bad-meta", blp(three, meta=section({"a": 1}, kind="none", text=b'{"a": 1'))
    yield "good-meta-list", blp(three, meta=section([1, 2]))
    yield "bad-overlap", bytearray(blp(three, offsets=True))
    yield "bad-streamed-tail", blp(uneven, size=-1, last=-1, n=-1, tail=b"what nobody wrote there")
    yield "bad-cut", blp(three, kind="md5")[:-1]


def main():
    for folder in (OUT, META, UPDATE):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    for name, data in files():
        if name == "bad-overlap":  # chunk 1 lies where chunk 0 does
            data[40:48] = data[32:40]
        (OUT / f"{name}.blp").write_bytes(data)
        if name in UPDATED:
            for first, second in CHANGES:
                (UPDATE / f"{name[5:]}-{first}-{second}").write_bytes(bytes((first, second)) + data)
    for name, meta in (("square", numpy_meta("'<u2'", [20, 25])), ("record", numpy_meta([["a", "<u2"], ["b", "<f8", [2]]], [3], "F"))):
        (META / name).write_text(json.dumps(meta))
    (META / "deep").write_text("[" * 70)
    (META / "number").write_text('{"container": "numpy", "dtype": 5, "shape": [1e3], "order": "C"}')


if __name__ == "__main__":
    main()
