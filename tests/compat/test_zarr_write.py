# SPDX-License-Identifier: BSD-3-Clause
"""Zarr stores that cippus writes, read by zarr-python, tensorstore and zarrs."""
import os
import random
import subprocess
import zipfile

import asdf
import numpy as np
import pytest
import zarr
from zarr.codecs import BloscCodec, BytesCodec, GzipCodec, ShardingCodec, ZstdCodec

CIPPUS = os.environ["CIPPUS"]
NUMBERS = ["?", "i1", "u1", "<i2", ">i4", "<u4", "<i8", ">u8", "<f2", "<f4", ">f8", "<c8", "<c16"]
DTYPES = [*NUMBERS, "<U5", "S6", "<M8[25s]", "<m8[ns]", "V5", [("a", "<i4"), ("b", ">f8"), ("s", "S3")]]
CODECS = ["none", "zstd", "zstd:9", "gzip", "gzip:1", "blosc", "lz4:9", "lz4hc", "blosclz", "zlib"]
NSEED = 1000 if os.environ.get("FULL") else 60


def run(*argv, status=0):
    p = subprocess.run([CIPPUS, *map(str, argv)], capture_output=True)
    assert p.returncode == status, p.stderr.decode()
    return p.stdout


def values(rng, dtype, shape):
    dt = np.dtype(dtype)
    n = int(np.prod(shape)) * dt.itemsize
    if dt.names:
        made = np.zeros(shape, dt)
        for name in dt.names:
            made[name] = values(rng, dt[name], shape)
        return made
    if dt.kind == "U":
        return rng.integers(97, 122, n // 4).astype("<u4").view(dt).reshape(shape)
    if dt.kind in "SV":
        return rng.integers(65, 90, n).astype("u1").view(dt).reshape(shape)
    if dt.kind in "mM":
        return rng.integers(-1000, 1000, shape).astype("i8").astype(dt)
    made = rng.integers(0, 2 if dt.kind == "b" else 100, shape)
    return (made * (rng.random(shape) < 0.5 if rng.random() < 0.3 else 1)).astype(dt)


def options(r, shape, dtype):
    found = ["--codec", r.choice(CODECS)]
    kind = r.choice(["", "chunks", "shards"]) if shape else ""
    if kind == "shards" and np.dtype(dtype).names:  # zarr-python has no shards of records
        kind = "chunks"
    chunks = [r.randint(1, 12) for _ in shape]
    if kind == "shards":
        chunks = [c * (16 if len(shape) > 1 else 256) for c in chunks]
        found += ["--option", "shards=" + ",".join(str(c * r.choice([1, 2, 3])) for c in chunks)]
    if kind:
        found += ["--option", "chunks=" + ",".join(map(str, chunks))]
    if kind != "shards" and r.random() < 0.4:
        found += ["--format", "zarr2"]
    if found[1].split(":")[0] in ("blosc", "lz4", "lz4hc", "blosclz"):
        found += ["--option", "shuffle=" + r.choice(["byte", "bit", "none"])]
    return found


def equal(got, want):
    got = np.asarray(got).astype(want.dtype.newbyteorder("<") if not want.dtype.names else want.dtype)
    want = want.astype(got.dtype)
    return got.shape == want.shape and got.tobytes() == want.tobytes()


def tensorstore_read(path):
    ts = pytest.importorskip("tensorstore")
    if path.is_dir():
        names, kvstore = {p.name for p in path.iterdir()}, {"driver": "file", "path": str(path) + "/"}
    else:
        names, kvstore = zipfile.ZipFile(path).namelist(), {"driver": "zip", "base": {"driver": "file", "path": str(path)}}
    spec = {"driver": "zarr3" if "zarr.json" in names else "zarr", "kvstore": kvstore}
    return ts.open(spec).result().read().result()


def zarrs_read(path):
    pytest.importorskip("zarrs")
    with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"}):
        return zarr.open_array(path, mode="r")[...]


@pytest.mark.parametrize("seed", range(NSEED))
@pytest.mark.filterwarnings("ignore")
def test_random_arrays(tmp_path, seed):
    r, rng = random.Random(seed), np.random.default_rng(seed)
    dtype = r.choice(DTYPES if seed % 2 else NUMBERS)
    shape = tuple(r.choice([1, 5, 17, 40]) for _ in range(r.choice([0, 1, 2, 2, 3])))
    if r.random() < 0.1 and shape:
        shape = (0, *shape[1:])
    want = values(rng, dtype, shape)
    np.save(tmp_path / "a.npy", want)
    out = tmp_path / "a.zarr"
    run("convert", tmp_path / "a.npy", out, *options(r, shape, dtype))
    assert equal(zarr.open_array(out, mode="r")[...], want)
    assert run("verify", "--deep", out).decode().endswith(": ok\n")
    packed = want.astype(want.dtype.newbyteorder("<"))
    assert run("cat", out, "--to", "raw") == packed.tobytes()
    if np.dtype(dtype).kind in "biufc":
        assert equal(tensorstore_read(out), want)
    if np.dtype(dtype).kind in "biuf" and shape and 0 not in shape:
        assert equal(zarrs_read(out), want)


@pytest.mark.parametrize("seed", range(NSEED))
@pytest.mark.filterwarnings("ignore")
def test_random_arrays_in_zip_archives(tmp_path, seed):
    """The members are the files of the folder that is written with the same options; zarr-python and tensorstore read them."""
    r, rng = random.Random(seed), np.random.default_rng(seed)
    dtype = r.choice(DTYPES if seed % 2 else NUMBERS)
    shape = tuple(r.choice([1, 5, 17, 40]) for _ in range(r.choice([0, 1, 2, 2, 3])))
    want = values(rng, dtype, shape)
    np.save(tmp_path / "a.npy", want)
    how = options(r, shape, dtype)
    folder, archive = tmp_path / "a.zarr", tmp_path / "a.zip"
    run("convert", tmp_path / "a.npy", folder, *how)
    run("convert", tmp_path / "a.npy", archive, *how, *([] if "--format" in how else ["--format", "zarr"]))
    with zipfile.ZipFile(archive) as z:
        assert {name: z.read(name) for name in z.namelist()} == {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    with zarr.storage.ZipStore(archive, mode="r") as store:
        assert equal(zarr.open_array(store, mode="r")[...], want)
    assert run("verify", "--deep", archive).decode().endswith(": ok\n")
    assert run("diff", folder, archive) == b""
    if np.dtype(dtype).kind in "biufc" and not ("zarr2" in how and how[1].startswith("zstd")):  # zstd's "checksum" of numcodecs
        assert equal(tensorstore_read(archive), want)


def test_shards_are_read_by_all(tmp_path):
    want = np.arange(100 * 64, dtype="<f4").reshape(100, 64)
    np.save(tmp_path / "a.npy", want)
    for codec in ("none", "zstd", "gzip", "lz4"):
        out = tmp_path / f"{codec}.zarr"
        run("convert", tmp_path / "a.npy", out, "--codec", codec, "--option", "chunks=16,16", "--option", "shards=48,32")
        for got in (zarr.open_array(out)[...], tensorstore_read(out), zarrs_read(out)):
            assert equal(got, want)
        assert sorted(p.name for p in (out / "c").iterdir()) == ["0", "1", "2"]


@pytest.mark.parametrize("seed", range(NSEED // 2))
@pytest.mark.filterwarnings("ignore")
def test_a_copy_keeps_the_shards(tmp_path, seed):
    """Of stores of zarr-python: shards within each other become one level; missing chunks stay missing."""
    r = random.Random(seed)
    shape = tuple(r.choice([5, 17, 40]) for _ in range(r.choice([1, 2, 3])))
    inner = chunks = tuple(r.randint(1, 8) for _ in shape)
    codecs = [BytesCodec(), *r.choice([[], [ZstdCodec()], [GzipCodec()], [BloscCodec(cname="lz4", typesize=4)]])]
    for _ in range(r.choice([1, 1, 2])):
        codecs = [ShardingCodec(chunk_shape=chunks, codecs=codecs, index_location=r.choice(["start", "end"]))]
        chunks = tuple(c * r.randint(1, 4) for c in chunks)
    fill = r.choice([0, 7])
    x = zarr.create_array(tmp_path / "a.zarr", shape=shape, dtype="i4", chunks=chunks, fill_value=fill, compressors=[], serializer=codecs[0])
    want = np.full(shape, fill, "i4")
    window = tuple(slice(i := r.randint(0, n - 1), r.randint(i, n)) for n in shape)
    want[window] = np.arange(want[window].size).reshape(want[window].shape) % 50
    x[window] = want[window]
    for n, options in enumerate(([], ["--codec", "gzip"], ["--option", "shards=none"])):
        for out in (tmp_path / f"b{n}.zarr", tmp_path / f"b{n}.zarr.zip"):
            run("convert", tmp_path / "a.zarr", out, *options)
            run("diff", tmp_path / "a.zarr", out)
        out = tmp_path / f"b{n}.zarr"
        y = zarr.open_array(out, mode="r")
        assert np.array_equal(y[...], want) and y.fill_value == fill
        assert np.array_equal(zarrs_read(out), want) and np.array_equal(tensorstore_read(out), want)
        assert y.shards == (chunks if n != 2 else None) and y.chunks == inner
        assert run("verify", "--deep", out).endswith(b": ok\n")
        if n == 0 and window and want[window].size == 0:
            assert not (out / "c").exists()


@pytest.mark.parametrize("kind", ["zarr", "zarr2"])
@pytest.mark.filterwarnings("ignore")
def test_groups_in_groups_are_found_by_consolidated_metadata(tmp_path, kind):
    """zarr-python loses members of a group that do not stand together there."""
    tree = {"h": {"n": np.arange(3), "q": {"b": np.arange(6)}}, "g": {"k": {"a": np.arange(4)}, "y": np.arange(5)}, "z": {"p": np.arange(2)}}
    asdf.AsdfFile(tree).write_to(tmp_path / "a.asdf")
    root = tmp_path / "a.zarr"
    run("convert", tmp_path / "a.asdf", root, "--format", kind)
    paths = {"h/n": 3, "h/q/b": 6, "g/k/a": 4, "g/y": 5, "z/p": 2}
    for added in ("", "g/k/new", "h/new/new"):
        if added:
            np.save(tmp_path / "d.npy", np.arange(len(added)))
            run("put", "--new", root, added, tmp_path / "d.npy")
            paths[added] = len(added)
        members = dict(zarr.open_group(root, mode="r", use_consolidated=True).members(max_depth=None))
        assert {p: x.shape[0] for p, x in members.items() if isinstance(x, zarr.Array)} == paths


@pytest.mark.parametrize("kind", ["zarr", "zarr2"])
@pytest.mark.filterwarnings("ignore")
def test_a_tree_becomes_groups_and_comes_back(tmp_path, kind):
    tree = {"title": "t", "obs": {"image": np.arange(12.0).reshape(3, 4), "gain": 2.5, "list": [1, "b", None],
                                  "dims": {"image": ["y", "x"]}, "attrs": {"image": {"units": "K"}}},
            "table": {"id": np.arange(5), "name": "n"}, "empty": {}}
    asdf.AsdfFile(tree).write_to(tmp_path / "a.asdf")
    run("convert", tmp_path / "a.asdf", tmp_path / "a.zarr", "--format", kind)
    for use in (True, False):
        g = zarr.open_group(tmp_path / "a.zarr", mode="r", use_consolidated=use)
        assert g.attrs.asdict() == {"title": "t", "empty": {}}
        assert g["obs"].attrs.asdict() == {"gain": 2.5, "list": [1, "b", None]}
        image = g["obs/image"]
        if kind == "zarr":
            assert image.attrs.asdict() == {"units": "K"} and image.metadata.dimension_names == ("y", "x")
        else:
            assert image.attrs.asdict() == {"units": "K", "_ARRAY_DIMENSIONS": ["y", "x"]}
        assert equal(image[...], tree["obs"]["image"]) and equal(g["table/id"][...], tree["table"]["id"])
    run("convert", tmp_path / "a.zarr", tmp_path / "b.asdf")
    with asdf.open(tmp_path / "b.asdf") as f:
        back = {k: v for k, v in f.tree.items() if k not in ("asdf_library", "history")}
        assert back["title"] == "t" and back["obs"]["dims"] == {"image": ["y", "x"]} and back["empty"] == {}
        assert back["obs"]["attrs"] == {"image": {"units": "K"}} and back["obs"]["gain"] == 2.5
        assert equal(back["obs"]["image"][...], tree["obs"]["image"])


@pytest.mark.parametrize("kind", ["zarr", "zarr2"])
@pytest.mark.filterwarnings("ignore")
def test_a_copy_keeps_the_fill_value(tmp_path, kind):
    a = zarr.create_array(tmp_path / "a.zarr", shape=(10, 10), chunks=(4, 4), dtype="f4", fill_value=float("nan"),
                          attributes={"k": [1]}, dimension_names=["y", "x"])
    a[:2] = 1
    run("convert", tmp_path / "a.zarr", tmp_path / "b.zarr", "--format", kind)
    b = zarr.open_array(tmp_path / "b.zarr", mode="r")
    assert np.isnan(b.fill_value) and b.chunks == (4, 4) and b.attrs["k"] == [1]
    assert (b.metadata.dimension_names if kind == "zarr" else tuple(b.attrs["_ARRAY_DIMENSIONS"])) == ("y", "x")
    assert np.array_equal(a[...], b[...], equal_nan=True)


def test_zeros_are_not_stored(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((1000, 1000)))
    run("convert", tmp_path / "a.npy", tmp_path / "a.zarr", "--option", "chunks=100,100")
    assert not (tmp_path / "a.zarr/c").exists()
    assert not zarr.open_array(tmp_path / "a.zarr")[...].any()


def test_what_zarr_has_no_place_for_is_named(tmp_path):
    asdf.AsdfFile({"a": [np.arange(3), 7], "t": 1}).write_to(tmp_path / "a.asdf")
    p = subprocess.run([CIPPUS, "convert", tmp_path / "a.asdf", tmp_path / "a.zarr"], capture_output=True)
    assert p.returncode != 0 and b"its list becomes a group" in p.stderr
    run("convert", "--accept-loss", tmp_path / "a.asdf", tmp_path / "a.zarr")
    assert equal(zarr.open_group(tmp_path / "a.zarr")["a/0"][...], np.arange(3))


@pytest.mark.parametrize("codec", ["none", "zstd", "gzip", "lz4", "zlib"])
@pytest.mark.filterwarnings("ignore")
def test_version_2_is_read_by_all(tmp_path, codec):
    want = np.arange(600, dtype="<i4").reshape(20, 30)
    np.save(tmp_path / "a.npy", want)
    run("convert", tmp_path / "a.npy", tmp_path / "a.zarr", "--format", "zarr2", "--codec", codec)
    assert equal(zarr.open_array(tmp_path / "a.zarr", mode="r")[...], want)
    assert equal(tensorstore_read(tmp_path / "a.zarr"), want)
