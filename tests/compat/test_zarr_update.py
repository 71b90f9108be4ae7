# SPDX-License-Identifier: BSD-3-Clause
"""Zarr stores that zarr-python wrote, changed in place: what zarr-python and tensorstore read is what numpy has."""
import os
import random
import subprocess

import numcodecs
import numpy as np
import pytest
import zarr
import zarr_archive
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec

CIPPUS = os.environ["CIPPUS"]
NSEED = 500 if os.environ.get("FULL") else 40


def run(*argv, status=0):
    p = subprocess.run([CIPPUS, *map(str, argv)], capture_output=True)
    assert p.returncode == status, (argv, p.stderr.decode())
    return p.stderr.decode()


def make(r, root, shape, dtype):
    version = r.choice([2, 3, 3])
    kw = {"shape": shape, "dtype": dtype, "fill_value": r.choice([0, 0, 7])}
    inner = tuple(r.choice([1, 2, 3, 5]) for _ in shape)
    if version == 2:
        kw.update(chunks=inner, chunk_key_encoding={"name": "v2", "separator": r.choice("./")},
                  compressors=r.choice([None, numcodecs.Zstd(3), numcodecs.Zlib(3), numcodecs.GZip(2), numcodecs.LZ4(),
                                        numcodecs.BZ2(2), numcodecs.Blosc("lz4", 5, 1), numcodecs.Blosc("zstd", 3, 2)]))
    else:
        codecs = r.choice([[], [ZstdCodec()], [GzipCodec(level=3)], [BloscCodec(cname="lz4", typesize=4)], [Crc32cCodec()],
                           [ZstdCodec(), Crc32cCodec()]])
        big = r.choice(["little", "big"])
        if r.random() < 0.5:
            chunks, codecs = inner, [BytesCodec(endian=big), *codecs]
            for _ in range(r.choice([1, 1, 2, 3])):  # shards within each other
                index = r.choice([[BytesCodec(), Crc32cCodec()], [BytesCodec(endian="big"), Crc32cCodec()], [BytesCodec()]])
                serializer = ShardingCodec(chunk_shape=chunks, codecs=codecs, index_codecs=index, index_location=r.choice(["start", "end"]))
                chunks, codecs = tuple(i * r.choice([1, 2, 3]) for i in chunks), [serializer]
            kw.update(chunks=chunks, compressors=[], filters=[], serializer=serializer)
        else:
            kw.update(chunks=inner, compressors=codecs, filters=[], serializer=BytesCodec(endian=big))
    group = zarr.create_group(root, zarr_format=version)
    made = group.create_array("g/x", attributes={"k": 1.50}, **kw)
    want = np.full(shape, kw["fill_value"], dtype)
    if 0 not in shape and r.random() < 0.8:
        window = tuple(slice(i := r.randint(0, n - 1), r.randint(i, n)) for n in shape)
        want[window] = np.arange(want[window].size).reshape(want[window].shape) % 100 + 1
        made[window] = want[window]
    if r.random() < 0.5:
        zarr.consolidate_metadata(root)
    return want, kw["fill_value"]


def change(r, root, tmp, want, fill):
    """One random change of the store and of the array."""
    kind = r.choice(["elements", "elements", "rows", "shape", "cut", "delete", "insert"])
    if kind == "elements" and want.size:
        window = tuple(slice(i := r.randint(0, n - 1), r.randint(i + 1, n)) for n in want.shape)
        data = np.full(want[window].shape, r.choice([0, 9, fill]), want.dtype)
        np.save(tmp / "d.npy", data)
        run("put", root, "g/x", "[" + ", ".join(f"{s.start}:{s.stop}" for s in window) + "]", tmp / "d.npy")
        want[window] = data
    elif kind == "rows" and 0 not in want.shape[1:]:
        data = np.arange(r.randint(1, 4) * int(np.prod(want.shape[1:]))).reshape(-1, *want.shape[1:]).astype(want.dtype)
        if data.size:
            np.save(tmp / "d.npy", data)
            run("append", root, "g/x", tmp / "d.npy")
            want = np.concatenate([want, data])
    elif kind == "delete" and want.shape[0] > 1:
        i = r.randint(0, want.shape[0] - 2)
        j = r.randint(i + 1, want.shape[0] - 1)
        run("rm", root, "g/x", f"[{i}:{j}]")
        want = np.delete(want, slice(i, j), axis=0)
    elif kind == "insert" and want.size:
        i = r.randint(0, want.shape[0] - 1)
        data = np.full((r.randint(1, 3), *want.shape[1:]), 42, want.dtype)
        np.save(tmp / "d.npy", data)
        run("put", "--insert", root, "g/x", f"[{i}]", tmp / "d.npy")
        want = np.insert(want, i, data, axis=0)
    elif kind == "shape" or kind == "cut":
        shape = list(want.shape)
        for k in range(1 if fill else len(shape)):
            shape[k] = r.randint(0, shape[k]) if kind == "cut" else shape[k] + r.randint(0, 5)
        if tuple(shape) != want.shape:
            made = np.full(shape, fill, want.dtype)
            both = tuple(slice(0, min(a, b)) for a, b in zip(shape, want.shape))
            made[both] = want[both]
            run("resize", root, "g/x", ",".join(map(str, shape)))
            want = made
    return want


@pytest.mark.parametrize("form", ["folder", "zip"])
@pytest.mark.parametrize("seed", range(NSEED))
@pytest.mark.filterwarnings("ignore")
def test_random_changes(tmp_path, seed, form):
    r = random.Random(seed)
    root = tmp_path / "s.zarr"
    shape = tuple(r.choice([1, 4, 7, 10]) for _ in range(r.choice([1, 1, 2, 2, 3])))
    want, fill = make(r, root, shape, r.choice(["i4", "f8", "u1"]))
    if form == "zip":
        zarr_archive.pack(root, root := tmp_path / "s.zip", r)
    for _ in range(5):
        want = change(r, root, tmp_path, want, fill)
        for use in (None, False):
            x = zarr.open_group(zarr_archive.store_of(root), mode="r", use_consolidated=use)["g/x"]
            got = x[...]
            assert got.shape == want.shape and np.array_equal(got, want)
            assert x.attrs.asdict() == {"k": 1.5}
        p = subprocess.run([CIPPUS, "verify", "--deep", root], capture_output=True)
        assert p.stdout.decode().endswith(": ok\n"), p.stdout.decode()


def test_what_cannot_be_changed_stays(tmp_path):
    root = tmp_path / "s.zarr"
    group = zarr.create_group(root)
    group.create_array("t", shape=(4, 6), chunks=(2, 2), dtype="i4", filters=[TransposeCodec(order=(1, 0))])[...] = 1
    before = {p: p.read_bytes() for p in root.rglob("*") if p.is_file()}
    assert "C order" in run("resize", root, "t", "5,6", status=3)
    assert {p: p.read_bytes() for p in root.rglob("*") if p.is_file()} == before
    run("put", root, "t", "[1:3, 2]", "5")
    want = np.ones((4, 6))
    want[1:3, 2] = 5
    assert np.array_equal(group["t"][...], want)
