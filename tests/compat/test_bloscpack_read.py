# SPDX-License-Identifier: BSD-3-Clause
"""Files of bloscpack: random shapes, types, orders, chunks, digests, codecs and slices; bytes; appending; metadata."""
import collections
import collections.abc
import io
import json
import warnings

import numpy as np
import pytest

if not hasattr(collections, "MutableMapping"):  # bloscpack is older than Python 3.10
    collections.MutableMapping = collections.abc.MutableMapping
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    bp = pytest.importorskip("bloscpack")
from bloscpack.append import append_fp  # noqa: E402

SUMS = ["None", "adler32", "crc32", "md5", "sha1", "sha224", "sha256", "sha384", "sha512"]
CODECS = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
TYPES = ["i1", "<i2", ">i4", "<u8", "<f4", ">f8", "<c16", "?", "S3", "<U2", "<M8[s]", [("a", "<i2"), ("b", "<f8", (2,))]]


def random_array(rng, dtype):
    shape = tuple(int(n) for n in rng.integers(1, 14, rng.integers(1, 5)))
    dtype = np.dtype(dtype)
    if dtype.kind in "SU":
        return rng.integers(0, 90, shape).astype(dtype)
    raw = rng.integers(0, 4, (int(np.prod(shape)), dtype.itemsize), dtype="u1")
    return (raw & 1 if dtype.kind == "b" else raw).copy().view(dtype).reshape(shape)


def arguments(rng):
    codec = CODECS[rng.integers(0, len(CODECS))]
    return {
        "bloscpack_args": bp.BloscpackArgs(offsets=bool(rng.integers(0, 2)), checksum=SUMS[rng.integers(0, len(SUMS))]),
        "metadata_args": bp.MetadataArgs(meta_checksum=SUMS[rng.integers(0, len(SUMS))]),
        "blosc_args": bp.BloscArgs(typesize=8, clevel=int(rng.integers(0, 10)), shuffle=int(rng.integers(0, 3)), cname=codec),
    }


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_arrays(cippus, rng, tmp_path, dtype):
    for i in range(4):
        a = random_array(rng, dtype)
        a = np.asfortranarray(a) if i % 2 else a
        path = tmp_path / f"{i}.blp"
        bp.pack_ndarray_to_file(a, str(path), chunk_size=a.itemsize * int(rng.integers(1, 40)), **arguments(rng))
        assert cippus.array(path).tobytes() == a.tobytes()
        words = [f"{int(rng.integers(0, n))}:" for n in a.shape]
        got = cippus.array(path, "", f"[{', '.join(words)}]")
        assert got.tobytes() == a[eval(f"np.s_[{','.join(words)}]")].tobytes()
        assert b"ok" in cippus.run("verify", "--deep", path)
        out = tmp_path / f"{i}.npy"
        cippus.run("convert", path, out)
        assert cippus.array(out).tobytes() == a.tobytes()


def test_bytes_and_appending(cippus, rng, tmp_path):
    for i in range(9):
        path = tmp_path / f"{i}.blp"
        data = rng.integers(0, 5, int(rng.integers(1, 3000)), dtype="u1").tobytes()
        args = arguments(rng)
        args["bloscpack_args"] = bp.BloscpackArgs(offsets=True, checksum=SUMS[i], max_app_chunks=100)
        bp.pack_bytes_to_file(data, str(path), chunk_size=100, **args)
        assert cippus.run("cat", "--to", "raw", path) == data
        more = rng.integers(0, 5, int(rng.integers(1, 900)), dtype="u1").tobytes()
        with open(path, "r+b") as f:
            append_fp(f, io.BytesIO(more), len(more))
        assert cippus.run("cat", "--to", "raw", path) == data + more
        cippus.run("verify", "--deep", path)


def test_metadata(cippus, tmp_path):
    path, meta = tmp_path / "m.blp", {"a": [1, 2.5, {"c": None}], "u": "\u00e9\U0001f600", "big": 2**63}
    for codec in ("zlib", "None"):
        bp.pack_bytes_to_file(b"x" * 100, str(path), chunk_size=30, metadata=meta, metadata_args=bp.MetadataArgs(meta_codec=codec))
        assert json.loads(cippus.run("tree", "--json", path, "metadata")) == meta


def test_every_digest_sees_a_changed_byte(cippus, rng, tmp_path):
    for kind in SUMS[1:]:
        path = tmp_path / f"{kind}.blp"
        bp.pack_ndarray_to_file(rng.random(500), str(path), chunk_size=800, bloscpack_args=bp.BloscpackArgs(checksum=kind))
        damaged = bytearray(path.read_bytes())
        damaged[-100] ^= 16
        path.write_bytes(damaged)
        cippus.run("cat", path, "[:400]")
        cippus.run("cat", path, "[400:]", status=3)
        cippus.run("verify", path, status=1)
