#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes fuzz_zip/ beside this script with Python's zipfile: good-* are read, bad-* are refused."""
import io
import pathlib
import zipfile

OUT = pathlib.Path(__file__).parent / "fuzz_zip"
FIXED = (1980, 1, 1, 0, 0, 0)


class Pipe(io.RawIOBase):
    """What cannot be sought: sizes come after the data."""

    def __init__(self):
        self.bytes = b""

    def writable(self):
        return True

    def write(self, b):
        self.bytes += bytes(b)
        return len(b)


def archive(members, to=None, comment=b"", **how):
    f = to or io.BytesIO()
    with zipfile.ZipFile(f, "w") as z:
        z.comment = comment
        for name, data in members:
            info = zipfile.ZipInfo(name, FIXED)
            info.compress_type = how.get("method", zipfile.ZIP_STORED)
            with z.open(info, "w", force_zip64=how.get("wide", False)) as m:
                m.write(data)
    return f.bytes if to else f.getvalue()


two = [("a", b"hello"), ("d/b", b"more" * 9)]
good = archive(two)
FILES = {
    "good-stored": good,
    "good-deflated": archive(two, method=zipfile.ZIP_DEFLATED),
    "good-wide": archive(two, wide=True),
    "good-piped": archive(two, to=Pipe()),
    "good-piped-wide": archive(two, to=Pipe(), wide=True),
    "good-bzip2": archive(two, method=zipfile.ZIP_BZIP2),
    "good-comment": archive(two, comment=b"made by hand"),
    "good-empty": archive([]),
    "good-folder": archive([("d/", b""), ("d/\u00e9", b"1")]),
    "bad-twice": archive([("a", b"1"), ("a", b"2")]),
    "bad-climbs": archive([("../a", b"1")]),
    "bad-absolute": archive([("/a", b"1")]),
    "bad-two-ends": archive(two, comment=archive([])),
    "bad-after": good + b"\n",
    "bad-before": b"#!/bin/sh\n" + good,
    "bad-cut": good[:-30],
    "bad-overlap": good.replace(b"PK\1\2", b"PK\1\2", 1)[:-22 - 49] + good[-22 - 49:].replace(b"\x24\0\0\0d/b", b"\x20\0\0\0d/b"),
}

if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    for name, data in FILES.items():
        (OUT / f"{name}.zip").write_bytes(data)
