# SPDX-License-Identifier: BSD-3-Clause
"""Chunks between Zarr stores and b2nd files as they are stored. What zarr-python and blosc2 read is what was written; that
nothing was decoded shows in the bytes, and in a chunk with a wrong byte, which no decoder would pass."""
import os
import random
import struct
import subprocess

import blosc2
import numcodecs
import numpy as np
import pytest
import zarr
from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec

CIPPUS = os.environ["CIPPUS"]
NSEED = 1000 if os.environ.get("FULL") else 60
SHUFFLES = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}


def run(*argv, status=0):
    p = subprocess.run([CIPPUS, *map(str, argv)], capture_output=True)
    assert p.returncode == status, (argv, p.stderr.decode())


def chunks_of(root):
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file() and "z" not in p.name}


def streams(chunk):
    """What is behind the header and the table of a chunk of Blosc1: the last of it."""
    nbytes, blocksize, _ = struct.unpack_from("<3I", chunk, 4)
    return chunk[16 + 4 * -(-nbytes // blocksize):][-60:]


def values(r, shape, dtype):
    n = int(np.prod(shape))
    return (np.arange(n) // r.choice([1, 7, 900]) % r.choice([3, 200])).astype(dtype).reshape(shape)


def blosc(version, cname, shuffle, dtype):
    if version == 2:
        return numcodecs.Blosc(cname, 5, SHUFFLES[shuffle])
    return BloscCodec(cname=cname, clevel=5, shuffle=shuffle, typesize=np.dtype(dtype).itemsize)


def is_run(block, chunk):
    """Whether blocks of this shape lie one behind the other in a chunk in C order, all whole."""
    rest = list(block)
    while rest and rest[0] == 1:
        rest.pop(0)
    return all(c % b == 0 for b, c in zip(block, chunk)) and tuple(rest[1:]) == tuple(chunk[len(block) - len(rest) + 1:])


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("codec", ["blosc", "zstd", "gzip"])
@pytest.mark.parametrize("to", [2, 3])
@pytest.mark.filterwarnings("ignore")
def test_a_copy_of_a_store_has_its_chunks(tmp_path, version, codec, to):
    r = random.Random(version)
    compressor = {"blosc": blosc(version, "zstd", "bitshuffle", "f4"), "zstd": ZstdCodec(level=7, checksum=True), "gzip": GzipCodec(level=2)}[codec]
    if version == 2:
        compressor = {"blosc": compressor, "zstd": numcodecs.Zstd(7, checksum=True), "gzip": numcodecs.GZip(2)}[codec]
    a = zarr.create_array(tmp_path / "a.zarr", shape=(100, 30), chunks=(40, 30), dtype="f4", fill_value=float("nan"), compressors=compressor,
                          zarr_format=version)
    want = np.full((100, 30), np.nan, "f4")
    want[:80] = values(r, (80, 30), "f4")
    a[:80] = want[:80]
    before = chunks_of(tmp_path / "a.zarr")
    assert len(before) == 2  # the last one is missing
    run("convert", tmp_path / "a.zarr", tmp_path / "b.zarr", *(["--format", "zarr2"] if to == 2 else []))
    b = zarr.open_array(tmp_path / "b.zarr", mode="r")
    assert np.array_equal(b[...], want, equal_nan=True) and np.isnan(b.fill_value) and b.chunks == (40, 30)
    assert sorted(chunks_of(tmp_path / "b.zarr").values()) == sorted(before.values())
    if version == to:
        x, y = (zarr.open_array(p, mode="r").metadata.to_dict() for p in (tmp_path / "a.zarr", tmp_path / "b.zarr"))
        for key in ("codecs", "compressor", "fill_value", "shape"):
            assert str(x.get(key)) == str(y.get(key))


def test_a_damaged_chunk_is_copied_as_it_is(tmp_path):
    a = zarr.create_array(tmp_path / "a.zarr", shape=(1000,), chunks=(500,), dtype="i4", compressors=BloscCodec(typesize=4))
    a[...] = np.arange(1000)
    path = tmp_path / "a.zarr/c/1"
    path.write_bytes(path.read_bytes()[:-1] + b"\x55")
    run("convert", tmp_path / "a.zarr", tmp_path / "b.zarr")
    assert (tmp_path / "b.zarr/c/1").read_bytes() == path.read_bytes()
    run("convert", tmp_path / "a.zarr", tmp_path / "b.b2nd")
    assert streams(path.read_bytes()) in (tmp_path / "b.b2nd").read_bytes()


@pytest.mark.parametrize("how", [["--codec", "blosc"], ["--option", "shuffle=bit"], ["--codec", "zstd:3"], ["--option", "chunks=30"],
                                 ["--option", "chunks=300", "--option", "shards=900"]])
def test_what_is_asked_for_is_made_anew(tmp_path, how):
    a = zarr.create_array(tmp_path / "a.zarr", shape=(1000,), chunks=(500,), dtype="i4", compressors=BloscCodec(typesize=4, cname="zlib"))
    a[...] = np.arange(1000)
    run("convert", tmp_path / "a.zarr", tmp_path / "b.zarr", *how)
    assert np.array_equal(zarr.open_array(tmp_path / "b.zarr")[...], np.arange(1000))
    assert not set(chunks_of(tmp_path / "a.zarr").values()) & set(chunks_of(tmp_path / "b.zarr").values())


@pytest.mark.parametrize("seed", range(NSEED))
@pytest.mark.filterwarnings("ignore")
def test_zarr_to_b2nd_and_back(tmp_path, seed):
    r = random.Random(seed)
    version, dtype = r.choice([2, 3]), r.choice(["i4", "f8", "u1", "i2", "c16"])
    shape = r.choice([(100000,), (1 << 18,), (300, 64), (4096, 64), (7, 50, 16), (64, 64, 64)])
    chunk = tuple(max(1, n // r.choice([1, 1, 2, 3])) for n in shape)
    fill = r.choice([0, 0, 9])
    a = zarr.create_array(tmp_path / "a.zarr", shape=shape, chunks=chunk, dtype=dtype, fill_value=fill, zarr_format=version,
                          compressors=blosc(version, r.choice(["lz4", "lz4hc", "zstd", "zlib", "blosclz"]), r.choice(list(SHUFFLES)), dtype))
    want = values(r, shape, dtype)
    a[...] = want
    run("convert", tmp_path / "a.zarr", tmp_path / "a.b2nd")
    b = blosc2.open(str(tmp_path / "a.b2nd"))
    assert np.array_equal(b[...], want)
    window = tuple(slice(n // 3, n // 2 + 1) for n in shape)
    assert np.array_equal(b[window], want[window])
    run("verify", "--deep", tmp_path / "a.b2nd")
    stored = chunks_of(tmp_path / "a.zarr")
    if tuple(b.chunks) == chunk and is_run(b.blocks, chunk):  # else blocks are none that b2nd has
        inner = [data for key, data in stored.items()
                 if all((i + 1) * c <= n for i, c, n in zip(map(int, key.lstrip("c/").replace("/", ".").split(".")), chunk, shape))]
        moved = sum(streams(data) in (tmp_path / "a.b2nd").read_bytes() for data in inner)
        assert moved == len(inner)
        run("convert", tmp_path / "a.b2nd", tmp_path / "b.zarr", *(["--format", "zarr2"] if version == 2 else []))
        back = chunks_of(tmp_path / "b.zarr")
        assert sum(data in back.values() for data in inner) == len(inner)
        assert np.array_equal(zarr.open_array(tmp_path / "b.zarr", mode="r")[...], want)
    c = blosc2.open(str(tmp_path / "a.b2nd"), mode="a")
    c.resize((shape[0] + 3, *shape[1:]))  # what was behind the edge is no element
    assert not c[shape[0]:].any()


@pytest.mark.parametrize("seed", range(NSEED))
@pytest.mark.filterwarnings("ignore")
def test_b2nd_to_zarr(tmp_path, seed):
    r = random.Random(1000 + seed)
    dtype = r.choice(["i4", "f8", "u1", "i2"])
    chunk = r.choice([(4096,), (64, 64), (16, 32), (4, 8, 8)])
    block = tuple(r.choice([c, c // 2, 1]) for c in chunk)
    shape = tuple(c * r.choice([1, 2]) + r.choice([0, 0, 1]) for c in chunk)
    filters = r.choice([[blosc2.Filter.SHUFFLE], [blosc2.Filter.BITSHUFFLE], [], [blosc2.Filter.DELTA, blosc2.Filter.SHUFFLE]])
    want = values(r, shape, dtype)
    cparams = {"codec": r.choice([blosc2.Codec.LZ4, blosc2.Codec.ZSTD, blosc2.Codec.ZLIB, blosc2.Codec.BLOSCLZ]), "filters": filters,
               "filters_meta": [0] * len(filters), "splitmode": r.choice(list(blosc2.SplitMode)), "clevel": r.choice([0, 1, 5, 9])}
    blosc2.asarray(want, chunks=chunk, blocks=block, urlpath=str(tmp_path / "a.b2nd"), mode="w", cparams=cparams)
    for kind in ("zarr", "zarr2"):
        run("convert", tmp_path / "a.b2nd", tmp_path / f"{kind}.zarr", "--format", kind)
        got = zarr.open_array(tmp_path / f"{kind}.zarr", mode="r")
        assert np.array_equal(got[...], want)
        run("verify", "--deep", tmp_path / f"{kind}.zarr")
