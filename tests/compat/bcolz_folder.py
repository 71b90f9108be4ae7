# SPDX-License-Identifier: BSD-3-Clause
"""Folders as BLZ 0.6 and bcolz 1.2 wrote them, made of and compared with struct, json and python-blosc alone."""
import json
import struct

import blosc
import numpy as np

HEADER = b"blpk\x01\0\0\0" + struct.pack("<q", 1)


def name_of(dtype):
    """As str() of a dtype was when numpy was theirs."""
    return {"S": "|S%d" % dtype.itemsize}.get(dtype.kind, str(dtype)) if dtype.names is None else str(dtype.descr)


def typesize_of(dtype):
    return {"S": 1, "U": 4}.get(dtype.kind, dtype.itemsize)


def sizes_of(a, chunklen, chunks, is_blz):
    """What the programs count: the bytes of full chunks, in BLZ 128 more for each, and room for one."""
    full = len(a) // chunklen
    row = a.dtype.itemsize * int(np.prod(a.shape[1:]))
    return {"shape": list(a.shape), "nbytes": a.nbytes, "cbytes": sum(map(len, chunks[:full])) + 128 * full * is_blz + chunklen * row}


def write(root, a, chunklen, *, is_blz=False, cname="lz4", clevel=5, shuffle=1, dflt=None, attrs=None):
    (root / "data").mkdir(parents=True)
    (root / "meta").mkdir()
    params = {"clevel": clevel, "shuffle": bool(shuffle)} if is_blz else {"clevel": clevel, "shuffle": shuffle, "cname": cname, "quantize": 0}
    storage = {"dtype": name_of(a.dtype), "bparams" if is_blz else "cparams": params, "chunklen": chunklen, "expectedlen": len(a),
               "dflt": dflt if dflt is not None else "" if a.dtype.kind in "SU" else 0}
    chunks = [blosc.compress(a[i:i + chunklen].tobytes(), typesize=typesize_of(a.dtype), clevel=clevel, shuffle=shuffle, cname=cname)
              for i in range(0, len(a), chunklen)]
    for i, c in enumerate(chunks):
        (root / "data" / f"__{i}.blp").write_bytes(HEADER + c)
    (root / "meta" / "storage").write_text(json.dumps(storage) + "\n")
    (root / "meta" / "sizes").write_text(json.dumps(sizes_of(a, chunklen, chunks, is_blz)) + "\n")
    (root / "__attrs__").write_text(json.dumps(attrs or {}) + "\n")


def check(root, a, attrs=None, *, new=False):
    """Every file of the folder against the array, field by field; new: meta/sizes counts the chunks alone, not as the programs do."""
    storage = json.loads((root / "meta" / "storage").read_text())
    chunklen, is_blz = storage["chunklen"], "bparams" in storage
    params = storage["bparams" if is_blz else "cparams"]
    assert storage["dtype"] == name_of(a.dtype)
    names = [f"__{i}.blp" for i in range(-(-len(a) // chunklen))]
    has_data = bool(names) or not new
    assert sorted(p.name for p in root.iterdir()) == ["__attrs__", *["data"] * has_data, "meta"]
    assert not has_data or sorted(p.name for p in (root / "data").iterdir()) == sorted(names)
    chunks = []
    for i, name in enumerate(names):
        file = (root / "data" / name).read_bytes()
        rows = a[i * chunklen:(i + 1) * chunklen].tobytes()
        version, versionlz, flags, typesize, nbytes, _, cbytes = struct.unpack("<BBBBiii", file[16:32])
        assert file[:16] == HEADER and (version, versionlz) == (2, 1)
        assert (typesize, nbytes, cbytes) == (typesize_of(a.dtype), len(rows), len(file) - 16)
        if not flags & 2 and len(rows) >= 128:  # of chunks that are compressed
            assert flags & 5 == {0: 0, 1: 1 if typesize > 1 else flags & 1, 2: 4}[int(params["shuffle"])]
        assert blosc.decompress(file[16:]) == rows
        chunks.append(file[16:])
    text = (root / "meta" / "sizes").read_bytes()
    sizes = {**sizes_of(a, chunklen, chunks, is_blz), **({"cbytes": sum(map(len, chunks))} if new else {})}
    assert text.endswith(b"}\n") and text.isascii() and json.loads(text) == sizes
    text = (root / "__attrs__").read_bytes()
    assert text.endswith(b"}\n") and text.isascii() and json.loads(text) == (attrs or {})
