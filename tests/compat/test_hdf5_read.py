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
           plugin.Blosc2(cname="lz4"), plugin.BZip2()]
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
    assert counts["refused"] == 2  # a long double, and szip
