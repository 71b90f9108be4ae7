# SPDX-License-Identifier: BSD-3-Clause
"""Reads the PNG files that pictures are written as."""
import zlib

import numpy as np


def pixels(png):
    """(height, width, samples) of a PNG without filters, whose checksums are compared."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(png):
        n = int.from_bytes(png[at : at + 4], "big")
        kind, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + n]
        assert zlib.crc32(kind + body) == int.from_bytes(png[at + 8 + n : at + 12 + n], "big")
        if kind == b"IHDR":
            wide, high, samples = int.from_bytes(body[:4], "big"), int.from_bytes(body[4:8], "big"), {2: 3, 6: 4}[body[9]]
        packed += body if kind == b"IDAT" else b""
        at += n + 12
    rows = np.frombuffer(zlib.decompress(packed), "u1").reshape(high, 1 + wide * samples)
    assert (rows[:, 0] == 0).all()
    return rows[:, 1:].reshape(high, wide, samples)
