# SPDX-License-Identifier: BSD-3-Clause
"""Random new Blosc2 stores, read equal by python-blosc2, by us and, some of them, by an independent decoder: codecs x filter
pipelines x types x 0 to 8 axes x odd chunks and blocks x contiguous and sparse. Thousands with CIP_FULL=1; CIP_SEED draws others.

python-blosc2 4.14 fails on files of its own with delta (wrong values, or it hangs), with dictionaries and with zfp's fixed rate as
soon as it decodes parts of chunks: those are decoded chunk by chunk. Left out are zfp at rates over 100, where it aborts."""
import importlib.util
import itertools
import pathlib
import shutil
import sys

import blosc2
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from effort import FULL, SEED  # noqa: E402

STORES = 900 if FULL else 50  # for each codec
NUMBERS = [*map(np.dtype, ["i1", "<i2", ">i4", "<u8", "<f4", "<f8", ">f8", "<u4"])]
TYPES = [*NUMBERS, *map(np.dtype, ["?", "<f2", "<c8", ">c16", "S1", "S5", "S17", "<U3", ">U2", "<M8[ns]", ">m8[s]", "V6", "V129", "V300", "S256",
                                   [("a", "<i4"), ("b", "<f8", (2, 2)), ("c", "S3")], [("x", "<u2"), ("it's", "<f4")]])]
LONGEST = [1, 3000, 90, 22, 11, 7, 5, 4, 4]
CODECS = {"blosclz": blosc2.Codec.BLOSCLZ, "lz4": blosc2.Codec.LZ4, "lz4hc": blosc2.Codec.LZ4HC, "zlib": blosc2.Codec.ZLIB, "zstd": blosc2.Codec.ZSTD,
          "none": None, "ndlz": blosc2.Codec.NDLZ, "zfp": None}
SPLITS = ["auto", "always", "never"]


def independent():
    path = ROOT.parent / "shared" / "tools" / "b2dec.py"
    if not path.exists() or any(importlib.util.find_spec(name) is None for name in ("lz4", "zstandard", "msgpack")):
        return None
    spec = importlib.util.spec_from_file_location("b2dec", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


B2DEC = independent()


def elements(rng, dtype, shape):
    """Bytes of few kinds, noise, runs, zeros, one value, NaN; in parts."""
    n, kinds = int(np.prod(shape)), int(rng.choice([1, 2, 3, 20, 256]))
    each = int(rng.integers(1, 1 + max(1, n // 3))) if rng.random() < 0.3 else 1
    if dtype.kind in "bU":
        flat = rng.integers(0, 2, -(-n // each)).astype(dtype)
    else:
        flat = np.frombuffer(rng.integers(0, kinds, -(-n // each) * dtype.itemsize).astype("u1").tobytes(), dtype)
    a = np.repeat(flat, each)[:n].reshape(shape)
    if a.ndim and rng.random() < 0.4:
        at = tuple(slice(*sorted(rng.integers(0, k + 1, 2))) for k in shape)
        a[at] = np.nan if dtype.kind in "fc" and rng.random() < 0.5 else np.zeros((), dtype) if a.size == 0 or rng.random() < 0.5 else a.flat[0]
    return a


def pipeline(rng, dtype, ndim, codec):
    """Filters in an order that serves, and whether they lose bits."""
    names, lossy = [], False
    if rng.random() < 0.25:
        names.append("delta")
    if dtype in NUMBERS and dtype.isnative and dtype.kind in "fiu" and rng.random() < 0.2:
        bits = (23 if dtype.itemsize == 4 else 52) if dtype.kind == "f" else 8 * dtype.itemsize
        keep = int(rng.integers(1, bits))
        names.append(f"{'trunc_prec' if dtype.kind == 'f' else 'int_trunc'}:{keep - bits if rng.random() < 0.3 else keep}")
        lossy = True
    if ndim and rng.random() < 0.15:
        names.append(f"ndcell:{rng.integers(1, 5)}")
    for _ in range(int(rng.integers(0, 3))):
        names.append(str(rng.choice(["shuffle", "bitshuffle", f"shuffle:{rng.integers(1, 9)}"])))
    if rng.random() < 0.3:
        names.append(str(rng.choice(["bytedelta", f"bytedelta:{rng.integers(1, 9)}"])))
    return "+".join(names[:6]) or "none", lossy


class Store:
    """What is drawn for the number i."""

    def __init__(self, codec, i):
        self.rng = rng = np.random.default_rng([SEED, sorted(CODECS).index(codec), i])
        self.codec, self.lossy = codec, codec == "zfp"
        types = [np.dtype("<f4"), np.dtype("<f8")] if codec == "zfp" else [t for t in TYPES if t.itemsize < 256 or codec != "ndlz"]
        self.dtype = types[rng.integers(len(types))]
        ndim = 2 if codec == "ndlz" else int(rng.integers(1, 5) if codec == "zfp" else rng.integers(0, 9))
        low = 4 if codec == "zfp" else 0 if rng.random() < 0.1 else 1
        self.shape = tuple(int(rng.integers(low, 1 + max(low, LONGEST[ndim]))) for _ in range(ndim))
        self.plain = self.dtype.str in ("|V6", "|V129") and ndim == 1
        self.sparse = rng.random() < 0.3
        self.options, self.dict = {}, False
        if rng.random() < 0.8 and ndim:
            chunks = [int(rng.integers(low or 1, max((low or 1) + 1, n + 2))) for n in self.shape]
            self.options["chunks"] = ",".join(map(str, chunks))
            if rng.random() < 0.8:
                self.options["blocks"] = ",".join(str(rng.integers(low or 1, c + 1)) for c in chunks)
        self.options["sparse"] = "yes" if self.sparse else "no"
        self.draw_codec(rng, ndim)

    def draw_codec(self, rng, ndim):
        self.filters = "default"
        if self.codec == "zfp":
            self.word = "zfp:" + str(rng.choice([f"acc={rng.integers(-8, 3)}", f"prec={rng.integers(1, 40)}", f"rate={rng.integers(10, 100)}"]))
            return
        self.word = {"none": "none", "ndlz": f"ndlz:{rng.choice([4, 8])}"}.get(self.codec, f"{self.codec}:{rng.integers(1, 10)}")
        if self.codec == "ndlz":
            return
        if rng.random() < 0.85:
            self.filters, self.lossy = pipeline(rng, self.dtype, 0 if self.plain else ndim, self.codec)
            self.options["filter"] = self.filters
        self.options["split"] = SPLITS[rng.integers(3)]
        self.dict = self.codec in ("zstd", "lz4", "lz4hc") and rng.random() < 0.2
        self.options["dict"] = "yes" if self.dict else "no"

    def __str__(self):
        return f"{self.dtype} {self.shape} {self.word} {'plain ' if self.plain else ''}{' '.join(f'{k}={v}' for k, v in self.options.items())}"

    @property
    def cell(self):
        """Elements of ndcell's."""
        return int(self.filters.split("ndcell:")[1][0]) ** len(self.shape)

    @property
    def by_chunks(self):
        return self.dict or "delta" in self.filters.replace("bytedelta", "") or "rate" in self.word


def packed(a):
    return a.astype(a.dtype.newbyteorder("<")).tobytes()


def decoded(x):
    """All of an array, chunk by chunk: its blocks put where they belong."""
    if not x.shape:
        return np.asarray(x[...])
    out = np.zeros(x.shape, x.dtype)
    starts = itertools.product(*(range(0, n, c) for n, c in zip(x.shape, x.chunks)))
    for k, start in enumerate(starts if out.size else ()):
        grid = [-(-c // b) for c, b in zip(x.chunks, x.blocks)]
        blocks = np.frombuffer(x.schunk.decompress_chunk(k), x.dtype).reshape(*grid, *x.blocks)
        axes = [i + j * len(grid) for i in range(len(grid)) for j in (0, 1)]
        chunk = blocks.transpose(axes).reshape([g * b for g, b in zip(grid, x.blocks)])
        into = tuple(slice(i, i + c) for i, c in zip(start, x.chunks))
        n = out[into].shape
        out[into] = chunk[tuple(slice(0, m) for m in n)]
    return out


def check_by_python(x, store, want):
    if store.plain:
        assert x.typesize == want.itemsize and x.nbytes == want.nbytes
        assert b"".join(x.decompress_chunk(k) for k in range(x.nchunks)) == want.tobytes()
        return
    assert x.dtype == want.dtype and x.shape == want.shape
    assert (decoded(x) if store.by_chunks else np.asarray(x[...])).tobytes() == want.tobytes()
    for _ in range(0 if store.by_chunks or not want.ndim else 2):
        at = tuple(slice(*sorted(map(int, store.rng.integers(0, n + 1, 2)))) for n in want.shape)
        assert np.asarray(x[at]).tobytes() == want[at].tobytes()


def check_independently(store, path, want):
    name = "chunks.b2frame" if store.sparse else ""
    frame = B2DEC.Frame((path / name).read_bytes(), dirpath=str(path) if store.sparse else None)
    assert (frame.raw() if store.plain else frame.nd().tobytes()) == want.tobytes()


def one_store(script, folder, store):
    a = elements(store.rng, store.dtype, store.shape)
    np.save(folder / "in.npy", a)
    name = "a.b2frame" if store.plain else "a.b2nd"
    path = folder / name
    words = [f"{k}={v}" for k, v in store.options.items()]
    said = script.run(("convert", "in.npy", name, f"codec={store.word}", "lossy=1", f"threads={1 + store.rng.integers(3)}", *words))
    if said == "convert:wrong argument":  # cells larger than blocks, which python-blosc2 would not read
        assert "ndcell" in store.filters and ("blocks" not in store.options or store.cell > np.prod([*map(int, store.options["blocks"].split(","))]))
        assert not path.exists()
        return
    assert said == "ok"
    x = blosc2.open(str(path), mode="r")
    want = decoded(x) if store.lossy else a  # then equal in python-blosc2's eyes and in ours
    check_by_python(x, store, want)
    assert script.bytes(name) == packed(want) and script.run(("verify", name)) == "ok"
    schunk = x if store.plain else x.schunk
    assert schunk.contiguous is not store.sparse and (CODECS[store.codec] in (None, schunk.cparams.codec))
    known = B2DEC is not None and store.codec not in ("ndlz", "zfp") and "ndcell" not in store.filters
    if known and a.ndim and store.rng.random() < 0.2:
        check_independently(store, path, want)
    del x, schunk
    shutil.rmtree(path) if store.sparse else path.unlink()


@pytest.mark.parametrize("codec", CODECS)
def test_random_stores(script, tmp_path, codec):
    for i in range(STORES):
        store = Store(codec, i)
        try:
            one_store(script, tmp_path, store)
        except Exception as e:
            raise AssertionError(f"seed {SEED}, {codec} number {i}: {store}") from e
