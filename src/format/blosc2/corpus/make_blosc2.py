#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the folders fuzz_* beside this script with python-blosc2 (see README). good-*.b2nd and good-*.b2frame hold
arange in their type, so that a test knows what to find."""
import os
import pathlib
import shutil
import tempfile

import blosc2
import numpy as np
from blosc2.b2objects import make_b2object_carrier, write_b2object_payload

HERE = pathlib.Path(__file__).parent
FRAME, SPARSE, ND, UPDATE, SALVAGE = (HERE / f"fuzz_{name}" for name in ("blosc2_frame", "blosc2_sparse", "b2nd", "blosc2_update", "blosc2_salvage"))
UPDATED = ["good-1d.b2nd", "good-2d.b2nd", "good-strings.b2nd", "good-empty.b2nd", "good-zeros.b2frame", "good-delta.b2frame", "good-lz4.b2frame",
           "good-meta.b2frame", "holes.b2frame"]
CHANGES = [(30, 61), (100, 241), (1, 59)]  # as fuzz_blosc2_update.c reads them


def cparams(codec=blosc2.Codec.LZ4, filters=(blosc2.Filter.SHUFFLE,), typesize=4, **kw):
    return blosc2.CParams(codec=codec, filters=list(filters), filters_meta=[0] * len(filters), typesize=typesize,
                          nthreads=1, **kw)


def schunk(name, data, chunksize=400, meta=None, vlmeta=None, **kw):
    s = blosc2.SChunk(chunksize=chunksize, data=data, contiguous=True, cparams=cparams(**kw), meta=meta or {})
    for key, value in (vlmeta or {}).items():
        s.vlmeta[key] = value
    (FRAME / f"good-{name}.b2frame").write_bytes(s.to_cframe())


def array(name, a, chunks, blocks, **kw):
    kw.setdefault("cparams", blosc2.CParams(codec=blosc2.Codec.LZ4, nthreads=1))
    b = blosc2.asarray(a, chunks=chunks, blocks=blocks, **kw)
    frame = b.to_cframe()
    (FRAME / f"good-{name}.b2nd").write_bytes(frame)
    at = frame.index(b"\xa4b2nd\xd2")
    at = int.from_bytes(frame[at + 6:at + 10], "big")
    n = int.from_bytes(frame[at + 1:at + 5], "big")
    (ND / name).write_bytes(bytes([(a.dtype.itemsize - 1) & 255]) + frame[at + 5:at + 5 + n])


def frames():
    x = np.arange(250, dtype="<i4")
    for codec in ("BLOSCLZ", "LZ4", "ZLIB", "ZSTD"):
        schunk(f"{codec.lower()}", x, codec=blosc2.Codec[codec])
    schunk("bitshuffle", x, filters=[blosc2.Filter.BITSHUFFLE])
    schunk("delta", x, filters=[blosc2.Filter.DELTA, blosc2.Filter.SHUFFLE])
    schunk("stored", x, clevel=0)
    schunk("meta", x, meta={"m1": {"x": 1}, "m2": b"raw"},
           vlmeta={"k": 7, "s": "text", "list": [1, 2.5, None, (1, 2)], "c": 1 + 2j})
    schunk("bytes", np.arange(250, dtype="u1"), typesize=1)
    schunk("empty", b"")
    s = blosc2.SChunk(chunksize=400, contiguous=True, cparams=cparams())
    s.fill_special(250, blosc2.SpecialValue.ZERO)
    (FRAME / "good-zeros.b2frame").write_bytes(s.to_cframe())
    s = blosc2.SChunk(chunksize=400, data=x, contiguous=True, cparams=cparams())
    s.delete_chunk(0)
    s.update_data(0, np.arange(100, 200, dtype="<i4"), copy=True)
    (FRAME / "holes.b2frame").write_bytes(s.to_cframe())
    (FRAME / "tensor.b2frame").write_bytes(blosc2.pack_tensor(np.arange(12, dtype="<f4").reshape(3, 4)))


def arrays():
    array("2d", np.arange(35, dtype="<f8").reshape(7, 5), (4, 3), (3, 2))
    array("3d", np.arange(60, dtype="<i2").reshape(3, 4, 5), (2, 3, 3), (1, 2, 2))
    array("0d", np.array(0, dtype="<i4"), (), ())
    array("1d", np.arange(100, dtype="<u2"), (30,), (7,))
    array("empty", np.zeros((0, 3), dtype="<i4"), None, None)
    array("big", np.arange(20, dtype=">i4"), (8,), (4,))
    array("strings", np.array(["a", "bc", "def"]), (2,), (2,))
    record = np.zeros(10, dtype=[("a", "<i4"), ("b", ">f8"), ("c", "S3")])
    array("record", record, (4,), (2,))
    array("wide", np.zeros(4, dtype="V300"), (2,), (1,))
    array("16d", np.arange(2, dtype="u1").reshape((1,) * 15 + (2,)), (1,) * 15 + (2,), (1,) * 15 + (2,))


def dsl_double(x):
    return x + x


def plain_double(inputs, output, offset):
    output[:] = inputs[0] * 2


class Server:
    """As much of a C2Array as a reference to it needs; no server is asked."""

    path, urlbase = "@public/x.b2nd", "https://example.org/"
    shape, chunks, blocks, dtype, cparams = (20,), (8,), (4,), np.dtype("<f8"), blosc2.CParams(nthreads=1)


def reference():
    a = make_b2object_carrier("c2array", Server.shape, Server.dtype, chunks=Server.chunks, blocks=Server.blocks)
    write_b2object_payload(a, blosc2.Ref.c2array_ref(Server.path, Server.urlbase).to_dict())
    return a.to_cframe()


def cache(fetched=None, vlmeta=None, meta=None):
    """A proxy's cache of arange(20) with the chunks that are listed."""
    meta = meta or {"proxy-source": {"source_kind": "local", "local_abspath": "a.b2nd", "urlpath": None,
                                     "caterva2_env": False}}
    a = blosc2.empty((20,), dtype="<f8", chunks=(8,), blocks=(4,), meta=meta)
    for i in fetched or ():
        a[8 * i:8 * i + 8] = np.arange(20, dtype="<f8")[8 * i:8 * i + 8]
    for key, value in (vlmeta or {}).items():
        a.schunk.vlmeta[key] = value
    return a.to_cframe()


def held():
    """Frames that hold none, or not all, of their array."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as tmp:
        os.chdir(tmp)
        kw = {"chunks": (8,), "blocks": (4,), "mode": "w"}
        a, b = (blosc2.asarray(np.arange(20, dtype="<f8"), urlpath=f"{n}.b2nd", **kw) for n in "ab")
        blosc2.lazyexpr("a + b * 2", {"a": a, "b": b}).save("held-lazyexpr.b2nd")
        blosc2.lazyudf(blosc2.dsl_kernel(dsl_double), (a,), dtype=np.float64).save(urlpath="held-lazyudf.b2nd")
        blosc2.lazyudf(plain_double, (a,), dtype=np.float64).save(urlpath="held-lazyarray.b2nd")
        blosc2.Proxy(a, urlpath="held-proxy-none.b2nd", mode="w")
        blosc2.Proxy(a, urlpath="held-proxy-some.b2nd", mode="w").fetch(slice(8, 16))
        for path in pathlib.Path(tmp).glob("held-*"):
            shutil.copy(path, FRAME)
        os.chdir(here)
    frame = {"c2array": reference(), "proxy-old": cache([1]),
             "proxy-blocks": cache([0, 1], {"proxy-fetched-blocks": bytes([0b011101]), "proxy-fetched-bpc": 2}),
             "proxy-dirty": cache([1], {"proxy-fetched": b"\2", "proxy-dirty": {"pid": 1, "version": 1}}),
             "proxy-short": cache([1], {"proxy-fetched": b""}),
             "proxy-long": cache([1], {"proxy-fetched": b"\2\0"}),
             "remote": cache([1], {"proxy-fetched": b"\2"}, {"b2o": {"kind": "remote_array", "version": 1}}),
             "unknown": cache([1], None, {"b2o": {"kind": "later", "version": 9}}),
             "hdf5": cache([], {"_ftype": "hdf5", "_dsetname": "x"}, {"m": 1})}
    for name, data in frame.items():
        (FRAME / f"held-{name}.b2nd").write_bytes(data)


def emptied():
    """As they lie on disk: a frame made in memory is written anew."""
    with tempfile.TemporaryDirectory() as tmp:
        path = pathlib.Path(tmp) / "emptied"
        blosc2.asarray(np.arange(20), chunks=(8,), blocks=(4,), urlpath=str(path) + ".b2nd").resize((0,))
        shutil.copy(str(path) + ".b2nd", FRAME)
        s = blosc2.SChunk(chunksize=64, data=np.arange(20, dtype="<f8"), urlpath=str(path), cparams=cparams(typesize=8))
        while s.nchunks:
            s.delete_chunk(0)
        shutil.copy(path, FRAME / "emptied.b2frame")


def damaged():
    """Cut behind and before the index; the header of the frame before an append; a length that is not so."""
    good = (FRAME / "good-stored.b2frame").read_bytes()
    index = int.from_bytes(good[11:15], "big") + int.from_bytes(good[39:47], "big")
    for name, data in {"cut-trailer": good[:-9], "cut-index": good[:index + 9], "cut-chunk": good[:index - 9],
                       "length": good[:22] + b"\x77" + good[23:], "place": good[:46] + b"\x77" + good[47:],
                       "header": good[:36] + b"\0" + good[37:]}.items():
        (SALVAGE / name).write_bytes(data)


def tensors():
    for name, align in ("record", False), ("record-aligned", True):
        a = np.zeros(5, dtype=np.dtype([("x", "<i2"), ("y", ">f8", (2,)), ("n", [("k", "u1"), ("z", "S3")])], align=align))
        a["x"] = np.arange(5)
        a["n"]["z"] = b"abc"
        (FRAME / f"tensor-{name}.b2frame").write_bytes(blosc2.pack_tensor(a))
    s = blosc2.SChunk(chunksize=400, data=np.arange(3, dtype="<i4"), contiguous=True, cparams=cparams())
    s.vlmeta["__pack_tensor__"] = ("numpy", (3,), [("x", "<q9")])
    (FRAME / "tensor-unknown.b2frame").write_bytes(s.to_cframe())


def sparse(name, make):
    with tempfile.TemporaryDirectory() as tmp:
        path = pathlib.Path(tmp) / "frame"
        make(str(path))
        index = (path / "chunks.b2frame").read_bytes()
        files = sorted(path.glob("*.chunk"))
        each = max([f.stat().st_size for f in files], default=0)
        assert each < 256, each
        data = b"".join(f.read_bytes().ljust(each, b"\0") for f in files)
        (SPARSE / name).write_bytes(len(index).to_bytes(2, "big") + bytes([each]) + index + data)


def updates():
    for name in UPDATED:
        for first, second in CHANGES:
            (UPDATE / f"{pathlib.Path(name).stem}-{first}-{second}").write_bytes(bytes((first, second)) + (FRAME / name).read_bytes())


def main():
    for folder in (FRAME, SPARSE, ND, UPDATE, SALVAGE):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    frames()
    arrays()
    held()
    emptied()
    damaged()
    tensors()
    x = np.arange(40, dtype="<i4")
    sparse("plain", lambda p: blosc2.SChunk(chunksize=80, data=x, contiguous=False, urlpath=p, cparams=cparams()))
    sparse("nd", lambda p: blosc2.asarray(x.reshape(8, 5), chunks=(4, 3), blocks=(2, 2), urlpath=p,
                                         contiguous=False))
    (FRAME / "good-chunk.b2chunk").write_bytes(blosc2.compress2(x, typesize=4))
    updates()


if __name__ == "__main__":
    main()
