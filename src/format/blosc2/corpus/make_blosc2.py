#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the folders fuzz_* beside this script with python-blosc2 (see README). good-*.b2nd and good-*.b2frame hold
arange in their type, so that a test knows what to find."""
import pathlib
import shutil
import tempfile

import blosc2
import numpy as np

HERE = pathlib.Path(__file__).parent
FRAME, SPARSE, ND = (HERE / name for name in ("fuzz_blosc2_frame", "fuzz_blosc2_sparse", "fuzz_b2nd"))


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


def main():
    for folder in (FRAME, SPARSE, ND):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    frames()
    arrays()
    x = np.arange(40, dtype="<i4")
    sparse("plain", lambda p: blosc2.SChunk(chunksize=80, data=x, contiguous=False, urlpath=p, cparams=cparams()))
    sparse("nd", lambda p: blosc2.asarray(x.reshape(8, 5), chunks=(4, 3), blocks=(2, 2), urlpath=p,
                                         contiguous=False))
    (FRAME / "good-chunk.b2chunk").write_bytes(blosc2.compress2(x, typesize=4))


if __name__ == "__main__":
    main()
