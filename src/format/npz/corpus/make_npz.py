#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes fuzz_npz/ beside this script with numpy (2.x, little-endian machine). same-*: written by numpy.savez; ours must be the
same bytes. good-*: open, all arrays but objects read. hurt-*: open, one array is refused or its data are. bad-*: refused when opened.
And fuzz_npz_update/: some of them, behind two bytes that say how they change."""
import io
import pathlib
import sys
import zipfile
import zlib

import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent.parent / "io" / "corpus"))
import make_zip  # noqa: E402

OUT, UPDATE = (HERE / f"fuzz_npz{x}" for x in ("", "_update"))
CHANGES = [(30, 60), (99, 240), (1, 59)]  # as fuzz_npz_update.c reads them
CHANGED = ["same-two", "same-types", "good-fortran", "good-deflated", "good-piped", "hurt-crc"]


def savez(how=np.savez, **arrays):
    f = io.BytesIO()
    how(f, **arrays)
    return f.getvalue()


def npy(a, **kw):
    f = io.BytesIO()
    np.save(f, a, **kw)
    return f.getvalue()


def piped(deflated, **arrays):
    f = make_zip.Pipe()
    members = [(name + ".npy", npy(a)) for name, a in arrays.items()]
    return make_zip.archive(members, to=f, method=zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED, wide=True)


def crc_of(data, was, now):
    """The archive with another CRC-32 wherever it has the one of `was`."""
    old, new = (zlib.crc32(x).to_bytes(4, "little") for x in (was, now))
    assert data.count(old) == 2
    return data.replace(old, new)


six = np.arange(6, dtype="<f4").reshape(2, 3)
ids = np.arange(5, dtype="<i4")
rec = np.array([(1, 2.5, b"ab"), (3, -1, b"x")], [("id", "<i4"), ("v", "<f8"), ("name", "S3")])
two = dict(six=six, ids=ids)
stored = savez(**two)
deflated = savez(np.savez_compressed, **two)
long_one = savez(np.savez_compressed, n=np.arange(3000, dtype="<i2") % 700)

FILES = {
    "same-two": stored,
    "same-empty": savez(),
    "same-types": savez(rec=rec, t=np.array(7, "<M8[s]"), u=np.array(["\u00e9a"], "<U2"), none=np.zeros((0, 3), "u1")),
    "same-names": savez(**{"\u00e9": ids, "in/side": ids[:1], "a.b": ids[:0]}),
    "good-deflated": deflated,
    "good-long": long_one,
    "good-fortran": savez(f=np.asfortranarray(six)),
    "good-object": savez(o=np.array([None, 1], object), ids=ids),
    "good-piped": piped(False, **two),
    "good-piped-deflated": piped(True, **two),
    "good-bytes": make_zip.archive([("ids.npy", npy(ids)), ("README.txt", b"five ids\n"), ("d/", b""), ("d/n.npy", b"no array")]),
    "good-short-name": make_zip.archive([("ids", npy(six)), ("ids.npy", npy(ids))]),
    "hurt-crc": crc_of(stored, npy(ids), b""),
    "hurt-crc-deflated": crc_of(deflated, npy(ids), b""),
    "hurt-header": crc_of(stored, npy(six), npy(six).replace(b"'<f4'", b"'<f4,")).replace(b"'<f4'", b"'<f4,"),
    "hurt-short": make_zip.archive([("six.npy", npy(six)[:-1]), ("ids.npy", npy(ids))]),
    "hurt-method": make_zip.archive([("six.npy", npy(six))], method=zipfile.ZIP_BZIP2),
    "hurt-deflate": deflated[:80] + bytes([deflated[80] ^ 0xFF]) + deflated[81:],
    "bad-cut": stored[:-1],
    "bad-climbs": make_zip.archive([("../six.npy", npy(six))]),
    "bad-twice": make_zip.archive([("six.npy", npy(six)), ("six.npy", npy(six))]),
}

if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    UPDATE.mkdir(exist_ok=True)
    for name, data in FILES.items():
        (OUT / f"{name}.npz").write_bytes(data)
    for name in CHANGED:
        for change in CHANGES:
            (UPDATE / "-".join([name, *map(str, change)])).write_bytes(bytes(change) + FILES[name])
