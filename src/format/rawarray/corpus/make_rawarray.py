#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes fuzz_rawarray/ beside this script: small RawArray files put together by hand from the
document's byte table. good-* open and read, bad-* and unsupported-* are refused. Needs only Python."""
import pathlib
import struct

OUT = pathlib.Path(__file__).parent / "fuzz_rawarray"


def ra(eltype, elbyte, dims, data, flags=0, size=None, order="<", magic=b"rawarray", tail=b"",
       ndim=None):
    size = len(data) if size is None else size
    ndim = len(dims) if ndim is None else ndim
    head = struct.pack(order + "5Q", flags, eltype, elbyte, size, ndim)
    return magic + head + struct.pack(order + "%dQ" % len(dims), *dims) + data + tail


def lz4_run(byte, n):
    """One LZ4 block of n (over 19 + 255 * k) equal bytes: a literal, a match at distance 1, and the
    five literals that every block ends with."""
    rest = n - 1 - 5 - 19  # the token says 15, the shortest match is 4
    length = b"\xff" * (rest // 255) + bytes([rest % 255])
    return b"\x1f" + byte + b"\x01\x00" + length + b"\x50" + byte * 5


def complex12():
    """The document's example: k - 1/k i."""
    return b"".join(struct.pack("<2f", k, -1 / k if k else float("-inf")) for k in range(12))


inner = ra(3, 4, [4, 3], struct.pack("<12f", *range(12)))
other = ra(3, 4, [3, 4], struct.pack("<12f", *range(12)))
FILES = {
    "good-complex12": ra(4, 8, [3, 4], complex12()),
    "good-int16-scalar": ra(1, 2, [], b"\x01\x02"),
    "good-empty": ra(3, 8, [2, 0, 3], b""),
    "good-big-data": ra(1, 2, [3], struct.pack(">3h", 1, -2, 300), flags=1),
    "good-big-all": ra(1, 2, [3], struct.pack(">3h", 1, -2, 300), flags=1, order=">"),
    "good-big-magic": ra(1, 2, [3], struct.pack(">3h", 1, -2, 300), order=">", magic=b"yarrawar"),
    "good-lz4": ra(2, 1, [100, 10], lz4_run(b"\x07", 1000), flags=2),
    "good-lz4-big": ra(2, 2, [500], lz4_run(b"\x07", 1000), flags=3),
    "good-int24": ra(1, 3, [2], bytes(range(6))),
    "good-float128": ra(3, 16, [2], bytes(range(32))),
    "good-user80": ra(0, 80, [2], bytes(range(160))),
    "good-metadata-text": ra(2, 1, [2], b"ab", tail="name: \u00e9toile\n".encode()),
    "good-metadata-bytes": ra(2, 1, [2], b"ab", tail=bytes(range(7))),
    "good-nested": ra(0, len(inner), [3], inner * 3),
    "good-nested-unequal": ra(0, len(inner), [2], inner + other),
    "bad-size": ra(1, 4, [6], bytes(24), size=20),
    "bad-eltype": ra(9, 4, [6], bytes(24)),
    "bad-complex-odd": ra(4, 7, [3], bytes(21)),
    "bad-overflow": ra(1, 4, [2 ** 32, 2 ** 32], bytes(24), size=0),
    "bad-truncated": ra(1, 4, [6], bytes(23), size=24),
    "bad-lz4": ra(2, 1, [1000], lz4_run(b"\x07", 1000)[:-3], flags=2),
    "unsupported-flags": ra(1, 4, [6], bytes(24), flags=0xff00),
    "unsupported-65-dims": ra(1, 1, [1] * 65, b"\x01"),
}

if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    for name, data in FILES.items():
        (OUT / (name + ".ra")).write_bytes(data)
