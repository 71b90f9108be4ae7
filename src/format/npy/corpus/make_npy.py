#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes fuzz_npy/ beside this script with numpy (2.x, little-endian machine): good-* open and read,
good-object.npy opens but its array is refused, bad-* are refused. same-*.npy are what our writer must
give byte for byte. And fuzz_npy_update/: some of them, behind two bytes that say how they change."""
import io
import pathlib
import struct

import numpy as np

OUT, UPDATE = (pathlib.Path(__file__).parent / f"fuzz_npy{x}" for x in ("", "_update"))
CHANGES = [(30, 61), (100, 240), (1, 59), (200, 0)]  # as fuzz_npy_update.c reads them
CHANGED = ["same-f4-2x3", "same-record", "good-fortran", "good-two", "good-python2"]


def save(a, **kw):
    f = io.BytesIO()
    np.save(f, a, **kw)
    return f.getvalue()


def version(a, v):
    f = io.BytesIO()
    np.lib.format.write_array(f, a, version=v)
    return f.getvalue()


def text(header, data=bytes(24), v=1):
    head = header.encode("latin1") + b"\n"
    fmt = "<H" if v == 1 else "<I"
    return b"\x93NUMPY" + bytes([v, 0]) + struct.pack(fmt, len(head)) + head + data


point = np.dtype([("x", "<f4"), ("y", "<f4")])
record = np.dtype([("id", "<i4"), ("pos", point), ("m", "<i2", (2, 3)), ("name", "S3"), ("u", "<U2")])
rec = np.zeros(2, record)
rec["id"] = [1, 2]
rec["pos"]["y"] = [0.5, -1]
rec["m"] = np.arange(6).reshape(2, 3)
rec["name"] = [b"ab", b"xyz"]
rec["u"] = ["\u00e9", "\U0001f600z"]
aligned = np.zeros(2, np.dtype([("a", "i1"), ("b", "<i4"), ("c", "i1")], align=True))
aligned["a"], aligned["b"], aligned["c"] = [1, 2], [3, 4], [5, 6]
six = np.arange(6, dtype="<f4").reshape(2, 3)

FILES = {
    "same-f4-2x3": save(six),
    "same-i8-7": save(np.arange(7, dtype="<i8")),
    "same-bool-scalar": save(np.array(True)),
    "same-u1-0x3": save(np.zeros((0, 3), "u1")),
    "same-i1-3": save(np.array([1, -1, 3], "i1")),
    "same-c16": save(np.array([1 + 2j, -0.5j], "<c16")),
    "same-S5": save(np.array([b"a", b"hello"], "S5")),
    "same-U3": save(np.array(["\u00e9a", "xyz"], "<U3")),
    "same-M8": save(np.array([1, -5, "NaT"], "<M8[25s]")),
    "same-m8": save(np.array([1, -5], "<m8[ns]")),
    "same-V3": save(np.frombuffer(b"abcdef", "V3")),
    "same-f4-big": save(six.astype(">f4")),
    "same-record": save(rec),
    "same-latin1-name": save(np.zeros(1, [("\u00e9t\u00e9", "<i2")])),
    "same-utf8-name": version(np.zeros(1, [("\u03bb'\\", "<i2")]), (3, 0)),
    "good-fortran": save(np.asfortranarray(six)),
    "good-aligned": save(aligned),
    "good-v2": version(six, (2, 0)),
    "good-v3": version(six, (3, 0)),
    "good-two": save(six) + save(six),
    "good-longdouble": save(np.arange(2, dtype=np.longdouble)),
    "good-object": save(np.array([None, 1], object), allow_pickle=True),
    "good-object-field": save(np.array([(1, None)], [("a", "<i4"), ("o", "O")]), allow_pickle=True),
    "good-python2": text("{'descr': [(u'a', '<i4')], 'fortran_order': False, 'shape': (6L,), }"),
    "good-order": text("{'shape':(6,),\"descr\":'<i4','fortran_order':False}"),
    "bad-truncated": save(six)[:-1],
    "bad-negative": text("{'descr': '<i4', 'fortran_order': False, 'shape': (-6,), }"),
    "bad-overflow": text("{'descr': '<i4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"),
    "bad-deep": text("{'descr': " + "[" * 1000 + "]" * 1000 + ", 'fortran_order': False, 'shape': (6,), }"),
    "bad-code": text("{'descr': __import__('os').getcwd(), 'fortran_order': False, 'shape': (6,), }"),
    "bad-key": text("{'descr': '<i4', 'fortran_order': False, 'shape': (6,), 'x': 1, }"),
    "bad-version": b"\x93NUMPY\x04\x00" + save(six)[8:],
    "bad-length": b"\x93NUMPY\x02\x00\xff\xff\xff\xff{",
}

if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    UPDATE.mkdir(exist_ok=True)
    for name, data in FILES.items():
        (OUT / (name + ".npy")).write_bytes(data)
    for name in CHANGED:
        for change in CHANGES:
            (UPDATE / "-".join([name, *map(str, change)])).write_bytes(bytes(change) + FILES[name])
