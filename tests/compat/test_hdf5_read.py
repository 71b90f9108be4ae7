# SPDX-License-Identifier: BSD-3-Clause
"""Files of h5py and hdf5plugin: random groups, types, shapes, chunks, filters, versions of the format, resized and half-written
datasets, slices; and the files of the corpus with their digests."""
import hashlib
import json
import os
import pathlib

import numpy as np
import pytest

h5py = pytest.importorskip("h5py")
plugin = pytest.importorskip("hdf5plugin")

TYPES = ["i1", ">i2", "<i4", ">u8", "<f2", "<f4", ">f8", "<c8", ">c16", "?", "S1", "S7", "V5", [("a", "<i4"), ("b", ">f8")],
         [("x", "<f4", (2, 3)), ("s", "S3")], np.dtype({"names": ["a", "b"], "formats": ["<i2", "<f8"], "offsets": [1, 8], "itemsize": 20})]
FILTERS = [{}, {"compression": "gzip"}, {"compression": "lzf", "shuffle": True}, {"fletcher32": True}, {"shuffle": True},
           {"compression": "gzip", "shuffle": True, "fletcher32": True}, plugin.LZ4(nbytes=64), plugin.Bitshuffle(nelems=8, cname="none"),
           plugin.Bitshuffle(cname="lz4"), plugin.Bitshuffle(nelems=64, cname="zstd"), plugin.Zstd(), plugin.Blosc(cname="zstd", shuffle=2),
           plugin.Blosc2(cname="lz4"), plugin.BZip2()]  # szip and scale-offset take numbers alone: below
VERSIONS = ["earliest", "v108", "v110", "v112", "v114", "latest"]
CORPUS = pathlib.Path(os.environ.get("CIPPUS_CORPUS") or pathlib.Path(__file__).resolve().parents[3] / "shared" / "corpus") / "next"


def elements(rng, dtype, shape):
    """Small values; texts without a NUL in them."""
    dtype, n = np.dtype(dtype), int(np.prod(shape))
    if dtype.names:
        out = np.zeros(shape, dtype)
        for name in dtype.names:
            base, sub = dtype[name].subdtype or (dtype[name], ())
            out[name] = elements(rng, base, (*shape, *sub))
        return out
    if dtype.kind == "S":
        return np.array([bytes(rng.integers(65, 91, rng.integers(0, dtype.itemsize + 1), "u1")) for _ in range(n)], dtype).reshape(shape)
    if dtype.kind == "V":
        return np.frombuffer(rng.bytes(n * dtype.itemsize), dtype).reshape(shape)
    return rng.integers(0, 2 if dtype.kind == "b" else 100, shape).astype(dtype)


def make_dataset(rng, group, name):
    dtype = TYPES[rng.integers(0, len(TYPES))]
    shape = tuple(int(n) for n in rng.choice([0, 1, 2, 5, 9, 17], rng.integers(0, 4)))
    data, options = elements(rng, dtype, shape), {}
    if shape and rng.random() < 0.7:
        options = dict(FILTERS[rng.integers(0, len(FILTERS))])
        options["chunks"] = tuple(int(c) for c in rng.integers(1, 8, len(shape)))
        options["maxshape"] = tuple(None if u < 0.3 else max(n, c) + 3 * (u < 0.6) for n, c, u in zip(shape, options["chunks"], rng.random(len(shape))))
    if np.dtype(dtype).kind in "iuf" and rng.random() < 0.3:
        options["fillvalue"] = 7
    made = group.create_dataset(name, shape, dtype, **options)
    part = tuple(slice(n // 2) for n in shape) if "chunks" in options and rng.random() < 0.3 else ()
    if data.size:
        made[part] = data[part]
    if "chunks" in options and rng.random() < 0.3:
        made.resize([n + int(rng.integers(-1, 4)) * (m is None) if n else n for n, m in zip(shape, options["maxshape"])])
    for i in range(rng.choice([0, 2, 12])):
        made.attrs[f"key{i}"] = [i, f"text {i}", np.arange(3) + 0.5][i % 3]


def packed(array):
    """Little-endian, without padding."""
    def of(dtype):
        if dtype.subdtype:
            return np.dtype((of(dtype.subdtype[0]), dtype.subdtype[1]))
        return np.dtype([(n, of(dtype[n])) for n in dtype.names]) if dtype.names else dtype.newbyteorder("<")
    out = np.zeros(array.shape, of(array.dtype))
    if array.dtype.names:
        for n in array.dtype.names:
            out[n] = array[n]
        return out.tobytes()
    return array.astype(out.dtype).tobytes()


@pytest.mark.parametrize("version", VERSIONS)
def test_random_files(cippus, rng, tmp_path, version):
    path = tmp_path / "random.h5"
    with h5py.File(path, "w", libver=version, track_order=bool(rng.integers(0, 2))) as f:
        for g in range(3):
            group = f.create_group(f"group {g}/below")
            for i in range(rng.choice([2, 14])):
                make_dataset(rng, group, f"d{i}")
    listed = json.loads(cippus.run("ls", "--json", path))
    assert all(a["state"] == "ok" for a in listed)
    with h5py.File(path) as f:
        assert sorted(a["path"] for a in listed) == sorted(
            f"group {g}/below/{name}" for g in range(3) for name in f[f"group {g}/below"])
        for a in listed:
            want = f[a["path"]]
            assert cippus.run("cat", "--to", "raw", path, a["path"]) == packed(np.asarray(want[()], want.dtype)), a
            if all(want.shape):
                words = ", ".join(f"{n // 3}:" for n in want.shape)
                piece = want[tuple(slice(n // 3, None) for n in want.shape)]
                assert cippus.run("cat", "--to", "raw", path, a["path"], f"[{words}]") == packed(np.asarray(piece, want.dtype)), a
            attrs = {k: v for k, v in want.attrs.items()}
            if attrs:
                holder, _, name = a["path"].rpartition("/")
                got = json.loads(cippus.run("tree", "--json", path, f"{holder}/attrs/{name}"))
                assert got == {k: v.tolist() if hasattr(v, "tolist") else v for k, v in attrs.items()}
    assert cippus.run("verify", "--deep", path).endswith(b": ok\n")


@pytest.mark.parametrize("dtype", ["i1", "u1", "<i2", ">u2", "<i4", ">i4", "<u4", "<i8", ">u8", "<f4", ">f4", "<f8", ">f8"])
def test_szip_and_scale_offset(cippus, rng, tmp_path, dtype):
    """Values over the whole range, few and equal ones, with and without a fill value that some have; samples that fill no block."""
    path, dtype = tmp_path / "packed.h5", np.dtype(dtype)
    native, integer = dtype.newbyteorder("="), dtype.kind in "iu"
    with h5py.File(path, "w") as f:
        for i, fill in enumerate([None, 7, None, 7]):
            few = rng.integers(0, 30, (17, 23)).astype(dtype)
            wide = rng.integers(np.iinfo(native).min, np.iinfo(native).max, (17, 23), native, endpoint=True) if integer else rng.normal(0, 1e6, (17, 23))
            for j, data in enumerate([few, wide.astype(dtype), np.full((17, 23), few[0, 0])]):
                how = {"chunks": (10, 8), "fillvalue": fill}
                for factor in ([True, 5, 8 * dtype.itemsize] if integer else [0, 2, 9]):
                    f.create_dataset(f"scale-{i}-{j}-{factor}", (17, 23), dtype, scaleoffset=factor, **how)[:12] = data[:12]
                options = (("nn", "ec")[i % 2], (2, 4, 8, 32)[i])
                f.create_dataset(f"szip-{i}-{j}", (17, 23), dtype, compression="szip", compression_opts=options, **how)[:12] = data[:12]
    with h5py.File(path) as f:
        for name, want in f.items():
            assert cippus.run("cat", "--to", "raw", path, name) == packed(want[()]), name


def blosc2_frame(blosc2, rng, values):
    """A chunk's frame, and the mask of its filters."""
    blocks = tuple(int(rng.integers(1, n + 1)) for n in values.shape)
    kind = rng.integers(0, 5)
    if kind == 0:
        return values.tobytes(), 1
    if kind == 1:
        return blosc2.SChunk(values.nbytes, values.tobytes(), contiguous=True, cparams={"typesize": values.itemsize}).to_cframe(), 0
    if kind == 2:
        values[...] = 0
        return blosc2.zeros(values.shape, values.dtype, chunks=values.shape, blocks=blocks).to_cframe(), 0
    return blosc2.asarray(np.ascontiguousarray(values), chunks=values.shape, blocks=blocks).to_cframe(), 0


@pytest.mark.parametrize("mixed", [False, True])
def test_blosc2_chunks(cippus, rng, tmp_path, mixed):
    """Windows of chunks whose blocks can be read alone; chunks of one dataset whose frames differ: other blocks, none, a value for
    all, no frame at all."""
    blosc2 = pytest.importorskip("blosc2")
    for i in range(12):
        ndim = int(rng.integers(1, 4))
        chunk = tuple(int(n) for n in rng.choice([3, 8, 31], ndim))
        shape = tuple(int(n * rng.integers(1, 3) + rng.integers(0, n)) for n in chunk)
        data, path = elements(rng, ["i1", "<i2", ">f4", "<f8"][i % 4], shape), tmp_path / f"{mixed}-{i}.h5"
        with h5py.File(path, "w") as f:
            d = f.create_dataset("d", data=data, chunks=chunk, **plugin.Blosc2(cname=["lz4", "zstd"][i % 2], filters=int(rng.integers(0, 3))))
            for at in np.ndindex(*(-(-n // c) for n, c in zip(shape, chunk))) if mixed else ():
                first = tuple(k * c for k, c in zip(at, chunk))
                part = data[tuple(slice(k, k + c) for k, c in zip(first, chunk))]
                values = np.zeros(chunk, data.dtype)
                inside = tuple(slice(n) for n in part.shape)
                values[inside] = part
                values = values.view(f"<u{data.itemsize}")
                frame, mask = blosc2_frame(blosc2, rng, values)
                part[...] = values.view(data.dtype)[inside]
                d.id.write_direct_chunk(first, frame, mask)
        for _ in range(6):
            low = [int(rng.integers(0, n)) for n in shape]
            high = [int(rng.integers(k, n)) + 1 for k, n in zip(low, shape)]
            words = ", ".join(f"{k}:{m}" for k, m in zip(low, high))
            want = packed(data[tuple(slice(k, m) for k, m in zip(low, high))])
            assert cippus.run("cat", "--to", "raw", path, "d", f"[{words}]") == want, (i, words)
        assert cippus.run("cat", "--to", "raw", path, "d") == packed(data), i
        assert cippus.run("verify", "--deep", path).endswith(b": ok\n")


def test_corpus(cippus):
    if not (CORPUS / "manifest.json").exists():
        pytest.skip("no corpus")
    counts = {"equal": 0, "refused": 0}
    for entry in json.loads((CORPUS / "manifest.json").read_text())["files"]:
        if entry["format"] == "fits":
            continue
        listed = {"/" + a["path"]: a for a in json.loads(cippus.run("ls", "--json", CORPUS / entry["file"]))}
        for array in entry["arrays"]:
            found = listed[array["path"]]
            if found["state"] == "ok":
                raw = cippus.run("cat", "--to", "raw", CORPUS / entry["file"], found["path"])
                assert hashlib.sha256(raw).hexdigest() == array["sha256"], array
            counts["equal" if found["state"] == "ok" else "refused"] += 1
    print(counts)
    assert counts["refused"] == 1  # a long double
