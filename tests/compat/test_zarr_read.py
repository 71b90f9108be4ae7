# SPDX-License-Identifier: BSD-3-Clause
"""Random stores of zarr-python, of both versions: every element equal, or the array refused by name."""
import io
import os
import random
import subprocess
import warnings
import zipfile

import numcodecs
import numpy as np
import pytest
import zarr
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec

CIPPUS = os.environ["CIPPUS"]
CNAMES = ("lz4", "lz4hc", "blosclz", "zlib", "zstd")
DTYPES = ["?", "<i1", "<u1", "<i2", ">i2", "<u2", "<i4", ">i4", "<u4", "<i8", ">u8", "<f2", "<f4", ">f4", "<f8", ">f8",
          "<c8", ">c8", "<c16", "<U5", ">U3", "S6", "S1", "<M8[s]", ">M8[25ms]", "<m8[ns]", "V5",
          [("a", "<i4"), ("b", "<f8")], [("x", "<u2"), ("s", "S3"), ("z", "<c8")]]
SIZES = [c for c in range(1, 6)] + [13]
NSEED = 1000 if os.environ.get("FULL") else 40
# What the command cannot read, by its own words; each is a message that names the codec.
REFUSED = ("the codec 'lzma' is not read", "the codec 'fixedscaleoffset' is not read")


def values(rng, dt, shape):
    n = int(np.prod(shape))
    if dt.names:
        made = np.zeros(shape, dt)
        for name in dt.names:
            made[name] = values(rng, dt[name], shape)
        return made
    if dt.kind == "U":
        flat = ["".join(rng.choice(list("ab\u00e9\u4e2dz"), rng.integers(0, dt.itemsize // 4 + 1))) for _ in range(n)]
        return np.array(flat, dtype=dt).reshape(shape)
    if dt.kind in "SV":
        return np.frombuffer(rng.integers(65, 90, n * dt.itemsize, dtype="u1").tobytes(), dt).reshape(shape)
    if dt.kind in "mM":
        return rng.integers(-1000, 1000, shape).astype("i8").astype(dt)
    return (rng.integers(0, 2, shape) if dt.kind == "b" else rng.integers(0, 100, shape)).astype(dt)


def fill_value(r, dt):
    special = {"b": [True], "f": [1.5, float("nan"), float("inf"), -float("inf"), -0.0, 0.1], "U": ["", "ab", "\u00e9"],
               "c": [1 + 2j, complex(float("nan"), 1), complex(0, float("inf"))], "S": [b"", b"q"]}
    if dt.kind in "iu":
        return r.choice([0, 1, 7, int(np.iinfo(dt).max), int(np.iinfo(dt).min)])
    return r.choice([None, *special.get(dt.kind, [])])


def codecs_2(r, dt):
    compressor = r.choice([None, numcodecs.Zstd(1), numcodecs.Zstd(3, checksum=True), numcodecs.GZip(6), numcodecs.Zlib(4),
                           numcodecs.BZ2(3), numcodecs.LZ4(), numcodecs.LZMA(preset=1),
                           *[numcodecs.Blosc(c, r.choice([0, 1, 5, 9]), r.choice([0, 1, 2])) for c in CNAMES]])
    choice = [numcodecs.Shuffle(dt.itemsize), numcodecs.CRC32(), numcodecs.Adler32(), numcodecs.LZ4()]
    if dt.kind in "iu":
        choice += 3 * [numcodecs.Delta(dt.str)]
    if dt.kind == "f" and dt.itemsize > 2:
        choice += [numcodecs.Quantize(2, dt.str), numcodecs.BitRound(10), numcodecs.FixedScaleOffset(0, 4, dt.str, "<i2")]
    if dt.kind == "b":
        choice += 4 * [numcodecs.PackBits()]
    filters = [r.choice(choice)] if r.random() < 0.35 else None
    return compressor, filters


def codecs_3(r, dt, ndim):
    choice = [ZstdCodec(level=1, checksum=r.random() < 0.5), GzipCodec(level=6), Crc32cCodec(),
              *[BloscCodec(cname=c, clevel=r.choice([0, 5, 9]), shuffle=r.choice(["noshuffle", "shuffle", "bitshuffle"]),
                           typesize=dt.itemsize) for c in CNAMES]]
    bytes_codecs = [r.choice(choice) for _ in range(r.choice([0, 1, 1, 1, 2]))]
    order = list(range(ndim))
    r.shuffle(order)
    filters = [TransposeCodec(order=tuple(order))] if ndim > 1 and r.random() < 0.3 else []
    return filters, BytesCodec(endian="little" if dt.names else r.choice(["little", "big"])), bytes_codecs


def shards(r, inner, codecs):
    index = r.choice([[BytesCodec(), Crc32cCodec()], [BytesCodec(endian="big"), Crc32cCodec()], [BytesCodec()]])
    return ShardingCodec(chunk_shape=inner, codecs=codecs, index_codecs=index, index_location=r.choice(["start", "end"]))


def layout_3(r, dt, shape):
    filters, serializer, compressors = codecs_3(r, dt, len(shape))
    inner = tuple(r.choice([1, 2, 3]) for _ in shape)
    shard = tuple(i * r.choice([1, 2, 3]) for i in inner)
    outer = tuple(i * r.choice([1, 2]) for i in shard)
    kind = r.choice(["plain", "plain", "sharded", "indexed", "nested"])
    if not shape or dt.names:  # zarr-python has no shards of records
        kind = "plain"
    key = {"name": r.choice(["default", "v2"]), "separator": r.choice("./")}
    found = {"filters": filters, "serializer": serializer, "compressors": compressors, "chunk_key_encoding": key,
             "dimension_names": [r.choice(["x", "t", None]) for _ in shape] if r.random() < 0.5 else None}
    if kind == "plain":
        return {**found, "chunks": tuple(r.choice(SIZES) for _ in shape)}
    if kind == "sharded":
        return {**found, "chunks": inner, "shards": shard}
    codec = shards(r, inner, [*filters, serializer, *compressors])
    if kind == "nested":
        codec = shards(r, shard, [codec])
    return {**found, "chunks": shard if kind == "indexed" else outer, "serializer": codec, "filters": [], "compressors": []}


def add_array(r, group, name, version):
    dt = np.dtype(r.choice(DTYPES))
    shape = tuple(r.choice([0, 1, 3, 7, 10, 12]) for _ in range(r.choice([0, 1, 1, 2, 2, 3, 4])))
    kw = {"shape": shape, "dtype": dt, "fill_value": fill_value(r, dt)}
    if r.random() < 0.4:
        kw["attributes"] = {"units": "m", "list": [1, None, {"q": "\u00fc"}]}
    if version == 2:
        kw["compressors"], kw["filters"] = codecs_2(r, dt)
        kw.update(chunks=tuple(r.choice(SIZES) for _ in shape), order=r.choice("CCF"),
                  chunk_key_encoding={"name": "v2", "separator": r.choice("./")})
    else:
        kw.update(layout_3(r, dt, shape))
    made = group.create_array(name, **kw)
    data = values(np.random.default_rng(r.getrandbits(32)), dt, shape)
    if r.random() < 0.6:
        made[...] = data
    elif 0 not in shape and shape and r.random() < 0.8:
        window = tuple(slice(i := r.randint(0, n - 1), r.randint(i, n)) for n in shape)
        made[window] = data[window]


def run(*argv):
    return subprocess.run([CIPPUS, *map(str, argv)], capture_output=True)


def pack(folder, path, method):
    with zipfile.ZipFile(path, "w", method) as archive:
        for member in sorted(folder.rglob("*")):
            if member.is_file():
                archive.write(member, member.relative_to(folder))


@pytest.mark.parametrize("seed", range(NSEED))
@pytest.mark.filterwarnings("ignore")
def test_random_stores(tmp_path, seed):
    r = random.Random(seed)
    root, version = tmp_path / "s.zarr", r.choice([2, 3])
    group = zarr.create_group(root, zarr_format=version, attributes={"title": "x"} if r.random() < 0.5 else {})
    names = [r.choice(["a%d", "sub/b%d", "sub/deep/c%d", "d d%d", "~e%d"]) % i for i in range(r.choice([1, 1, 2, 4]))]
    for name in names:
        add_array(r, group, name, version)
    if r.random() < 0.4:
        zarr.consolidate_metadata(root)
    group = zarr.open_group(root, mode="r")
    for name in names:
        want = np.asarray(group[name][...], dtype=group[name].dtype)
        p = run("cat", root, name.replace("~", "~0"), "--to", "npy")
        if p.returncode != 0:
            assert any(text in p.stderr.decode() for text in REFUSED), p.stderr.decode()
            continue
        got = np.load(io.BytesIO(p.stdout))
        assert got.shape == want.shape and got.dtype.newbyteorder("=") == want.dtype.newbyteorder("="), name
        if want.dtype.names and group[name].fill_value is None:
            continue
        assert got.astype(want.dtype).tobytes() == np.ascontiguousarray(want).tobytes(), name
    pack(root, tmp_path / "s.zip", r.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
    for what in ("ls", "tree", "stat"):
        folder, archive = run(what, root), run(what, tmp_path / "s.zip")
        assert folder.stdout == archive.stdout and folder.returncode == archive.returncode, archive.stderr.decode()
    found = run("verify", "--deep", root)
    assert found.returncode == 0 or "is not read" in (found.stdout + found.stderr).decode(), found.stdout.decode()


def test_only_the_chunks_of_a_window_are_read(tmp_path):
    a = zarr.create_array(tmp_path / "s.zarr", shape=(100, 100), dtype="<i4", chunks=(10, 10), shards=(50, 50))
    a[...] = np.arange(10000).reshape(100, 100)
    for shard in ("c/0/1", "c/1/0", "c/1/1"):
        (tmp_path / "s.zarr" / shard).write_bytes(b"damaged")
    assert run("cat", tmp_path / "s.zarr", ".", "[49, 45:48]").stdout == b"4945 4946 4947\n"
    assert run("cat", tmp_path / "s.zarr", ".", "[49, 48:52]").returncode != 0
    assert run("verify", tmp_path / "s.zarr").returncode == 1


def test_a_million_chunks_that_are_not_there(tmp_path):
    a = zarr.create_array(tmp_path / "s.zarr", shape=(1 << 20, 16), dtype="u1", chunks=(1, 16), fill_value=3)
    a[123456, 5] = 7
    p = run("stat", tmp_path / "s.zarr")
    assert p.returncode == 0 and b"min 3 max 7" in p.stdout


def test_groups_attributes_and_axes_are_the_tree(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        g = zarr.create_group(tmp_path / "s.zarr", attributes={"title": "t", "x": 1})
        g.create_array("x", shape=(2, 3), dtype="i4", dimension_names=["t", "lat"], attributes={"units": "K"})
        zarr.consolidate_metadata(tmp_path / "s.zarr")
    tree = run("tree", tmp_path / "s.zarr").stdout.decode()
    for line in ("title: t", "_x: 1", "dims", "[t, lat]", "units: K"):
        assert line in tree, tree


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_store_in_a_zip_archive(tmp_path, method):
    data = np.arange(24, dtype="i4").reshape(4, 6)
    folder, path = tmp_path / "s.zarr", tmp_path / "s.zip"
    zarr.create_array(folder, data=data, chunks=(2, 3), compressors=None)
    pack(folder, path, method)
    with zarr.storage.ZipStore(tmp_path / "z.zip", mode="w") as store:
        zarr.create_array(store, data=data, chunks=(2, 3))
    assert run("diff", folder, path).returncode == run("diff", folder, tmp_path / "z.zip").returncode == 0
    assert run("verify", "--deep", path).returncode == 0
    with zipfile.ZipFile(path) as archive:
        at = archive.getinfo("c/1/1").header_offset
    raw = bytearray(path.read_bytes())
    raw[at + 30 + len("c/1/1") + 2] ^= 0xFF  # in the chunk
    path.write_bytes(raw)
    assert run("cat", path, ".", "[0, 0]").stdout == b"0\n"
    if method == zipfile.ZIP_DEFLATED:
        assert run("cat", path, ".", "[3, 5]").returncode != 0
    found = run("verify", path)
    assert found.returncode == 1 and b"(c/1/1" in found.stdout
    path.write_bytes(b"PK\3\4" + bytes(40))
    assert run("ls", path).returncode != 0
