# SPDX-License-Identifier: BSD-3-Clause
"""Our Python package against the others', from Python, all in one process: cippus and its peers take turns.

usage: bench_python.py ROW FOLDER TREE ROUNDS THREADS SIDE        run.py runs it and shows what it prints, as JSON

Each peer reads and writes files of its own format (asdf and blosc2: the very file that cippus takes), which hold the same
array with the same codec, chunks and level. Every turn opens the file anew; results are compared before they are timed.
There is no package for RawArray on PyPI: `numpy` reads it as the document's own reader does, header, then elements.
"""
import itertools
import json
import os
import pathlib
import shutil
import struct
import sys
import time
import warnings

import asdf
import blosc2
import cippus
import h5py
import hdf5plugin
import numpy as np
import zarr
import zarr.codecs
import zarr.codecs.numcodecs as numcodecs

import make_data

CHUNK = 512
clock = time.process_time_ns if os.environ.get("BENCH_CPU") else time.perf_counter_ns
SLOW = 500_000_000  # ns: one round is enough
FORMATS = {"asdf": "asdf", "blosc2": "b2nd", "h5py": "h5", "zarr": "zarr", "numpy": "ra"}
H5 = {  # as Blosc2's levels 9 of lz4 and 1 of zstd are
    "none": {},
    "zlib": {"compression": "gzip", "compression_opts": 6},
    "lz4": dict(hdf5plugin.LZ4()),
    "zstd": dict(hdf5plugin.Zstd(clevel=1)),
    "blosc": dict(hdf5plugin.Blosc2(cname="lz4", clevel=9, filters=hdf5plugin.Blosc2.SHUFFLE)),
}
warnings.simplefilter("ignore")  # of codecs that Zarr v3 does not specify
ZARR = {
    "none": None,
    "zlib": [numcodecs.Zlib(level=6)],
    "lz4": [numcodecs.LZ4(acceleration=1)],
    "zstd": [zarr.codecs.ZstdCodec(level=1)],
    "blosc": [zarr.codecs.BloscCodec(cname="lz4", clevel=9, shuffle="shuffle", typesize=4)],
}
BLOSC = {"none": ("LZ4", 0), "zlib": ("ZLIB", 6), "lz4": ("LZ4", 9), "zstd": ("ZSTD", 1), "blosc": ("LZ4", 9)}
# what it is: the format of ours, codec, chunked?, peers
CASES = {
    "asdf none": ("asdf", "none", False, ["asdf"]),
    "unsummed none": ("asdf", "none", False, ["h5py"]),  # asdf, without the checksum, which HDF5 does not have
    "asdf zlib": ("asdf", "zlib", False, ["asdf"]),
    "asdf lz4": ("asdf", "lz4", False, ["asdf"]),
    "ra none": ("ra", "none", False, ["numpy"]),
    **{f"b2nd {codec}": ("b2nd", codec, True, ["blosc2", "h5py", "zarr"]) for codec in BLOSC},
}


class Bench:
    def __init__(self, folder, rounds, threads, side):
        self.folder, self.rounds, self.threads = pathlib.Path(folder), rounds, threads
        self.folder.mkdir(parents=True, exist_ok=True)
        self.data = make_data.f4q(side)
        blosc2.set_nthreads(threads)
        rng = np.random.default_rng(4)
        self.at = [tuple(map(int, rng.integers(0, side - 100, 2))) for _ in range(200)]
        self.points = rng.integers(0, side, (2, 1000))

    def file(self, who, codec, chunked, mark=""):
        kind = "chunks" if chunked else "whole"
        return str(self.folder / f"{kind}-{codec}-{len(self.data)}{mark}.{FORMATS.get(who, who)}")

    # --- what each writes

    def put_cippus(self, path, codec, chunked, checksum=None):
        name, options = codec, {}
        if chunked:
            name, level = BLOSC[codec]
            name = "none" if codec == "none" else f"{name.lower()}:{level}"
            options = {"filter": "shuffle" if codec == "blosc" else "none", "chunks": f"{CHUNK},{CHUNK}"}
        how = {"codec": name, "options": options, "threads": self.threads, "checksum": checksum}
        with cippus.create(path, overwrite=True, sync=False, **how) as f:
            f["" if chunked or path.endswith("ra") else "data"] = self.data

    def put_asdf(self, path, codec, chunked):
        asdf.AsdfFile({"data": self.data}).write_to(path, all_array_compression=None if codec == "none" else codec)

    def put_blosc2(self, path, codec, chunked):
        name, level = BLOSC[codec]
        filters = [blosc2.Filter.SHUFFLE if codec == "blosc" else blosc2.Filter.NOFILTER]
        cparams = {"codec": blosc2.Codec[name], "clevel": level, "filters": filters, "filters_meta": [0], "nthreads": self.threads}
        blosc2.asarray(self.data, urlpath=path, mode="w", chunks=(CHUNK, CHUNK), cparams=cparams)

    def put_h5py(self, path, codec, chunked):
        with h5py.File(path, "w") as f:
            f.create_dataset("data", data=self.data, chunks=(CHUNK, CHUNK) if chunked else None, **H5[codec])

    def put_zarr(self, path, codec, chunked):
        zarr.create_array(path, data=self.data, chunks=(CHUNK, CHUNK), compressors=ZARR[codec], overwrite=True)

    def put_numpy(self, path, codec, chunked):
        rows, columns = self.data.shape
        with open(path, "wb") as f:
            f.write(struct.pack("<8s7Q", b"rawarray", 0, 3, 4, self.data.nbytes, 2, columns, rows))
            self.data.tofile(f)

    # --- what each reads, by a function that gets the array

    def with_cippus(self, path, use, whole):
        with cippus.open(path, threads=self.threads) as f:
            return use(f.array)

    def with_asdf(self, path, use, whole):
        with asdf.open(path, memmap=not whole) as f:
            return use(f["data"])

    def with_blosc2(self, path, use, whole):
        return use(blosc2.open(path, mode="r"))

    def with_h5py(self, path, use, whole):
        with h5py.File(path) as f:
            return use(f["data"])

    def with_zarr(self, path, use, whole):
        return use(zarr.open_array(path, mode="r"))

    def with_numpy(self, path, use, whole):
        with open(path, "rb") as f:
            axes = struct.unpack("<8s5Q", f.read(48))[5]
            shape = struct.unpack(f"<{axes}Q", f.read(8 * axes))[::-1]
            if whole:
                return use(np.fromfile(f, "f4").reshape(shape))
        return use(np.memmap(path, "f4", "r", 48 + 8 * axes, shape))

    # --- rows

    def whole(self, who, a):
        return a[...] if who != "asdf" else np.array(a)

    def windows(self, who, a):
        return np.concatenate([a[i : i + 100, j : j + 100] for i, j in self.at])

    def elements(self, who, a):
        return np.array([a[i, j] for i, j in zip(*self.points.tolist())])

    def scattered(self, who, a):
        """h5py has no such call."""
        i, j = self.points
        if who in ("cippus", "zarr"):
            return a.points(i, j) if who == "cippus" else a.vindex[i, j]
        return a[i, j] if who != "h5py" else None

    def lines(self, who, a):
        return np.concatenate([a[i] for i, _ in self.at[:50]])

    def turn(self, who, path, what):
        """Nanoseconds and the result."""
        start = clock()
        found = getattr(self, f"with_{who}")(path, lambda a: getattr(self, what)(who, a), what == "whole")
        return clock() - start, found

    def contest(self, name, asks, same):
        """asks: contender -> () -> (ns, result); turns there and back. The best of each, or nothing where only ours answers."""
        asks = {who: ask for who, ask in asks.items() if same(who, ask()[1])}
        best = dict.fromkeys(asks, 2**62)
        for i in range(self.rounds if len(asks) > 1 else 0):
            for who, ask in list(asks.items())[:: 1 if i % 2 == 0 else -1]:
                if i == 0 or best[who] < SLOW:
                    best[who] = min(best[who], ask()[0])
        if len(asks) > 1:
            print(json.dumps([name, best]), flush=True)

    def read(self, whats):
        for (case, (kind, codec, chunked, peers)), what in itertools.product(CASES.items(), whats):
            for who in peers:
                path = self.file(who, codec, chunked)
                if not os.path.exists(path):
                    getattr(self, f"put_{who}")(path, codec, chunked)
            ours = self.file(kind, codec, chunked)
            asks = {"cippus": lambda: self.turn("cippus", ours, what)}
            for who in peers:
                asks[who] = lambda who=who: self.turn(who, self.file(who, codec, chunked), what)
            want = asks["cippus"]()[1]
            self.contest(f"{case} {what}", asks, lambda who, found: self.equal(case, who, want, found))

    def equal(self, case, who, want, found):
        if found is not None and not np.array_equal(want, found):
            sys.exit(f"bench: {case}: {who} gives another result")
        return found is not None

    def write(self):
        for case, (kind, codec, chunked, peers) in CASES.items():
            more = {"cippus": {"checksum": "none"}} if case.startswith("unsummed") else {}
            asks = {who: lambda who=who: self.written(who, kind, codec, chunked, more.get(who, {})) for who in ["cippus", *peers]}
            self.contest(case, asks, lambda who, found: self.equal(case, who, self.data, found()))

    def written(self, who, kind, codec, chunked, more):
        path = self.file(kind if who == "cippus" else who, codec, chunked, f"-{who}-new")
        shutil.rmtree(path, ignore_errors=True)
        pathlib.Path(path).unlink(missing_ok=True)
        start = clock()
        getattr(self, f"put_{who}")(path, codec, chunked, **more)
        return clock() - start, lambda: self.turn(who, path, "whole")[1]

    def open(self, tree):
        asks = {"cippus": lambda: leaf(cippus.open, tree), "asdf": lambda: leaf(asdf.open, tree, lazy_tree=True)}
        self.contest("tree", asks, lambda who, found: self.equal("tree", who, asks["cippus"]()[1], found))
        self.data = np.arange(64, dtype="f4").reshape(8, 8)
        global CHUNK
        CHUNK = 8
        self.read(["whole"])


def leaf(opener, tree, **options):
    start = clock()
    with opener(tree, **options) as f:
        found = f["nodes"]["item00007"]["counts"][2]
        return clock() - start, found


def main():
    row, folder, tree, *numbers = sys.argv[1:]
    rounds, threads, side = map(int, numbers)
    if threads == 1:  # otherwise it has as many as it likes
        zarr.config.set({"threading.max_workers": 1, "async.concurrency": 1})
    bench = Bench(folder, rounds, threads, side)
    if row == "python-open":
        bench.open(tree)
    elif row == "python-write":
        bench.write()
    else:
        bench.read(["whole"] if row == "python-read" else ["windows", "elements", "scattered", "lines"])
    for left in bench.folder.glob("*-new.*"):
        shutil.rmtree(left) if left.is_dir() else left.unlink()


if __name__ == "__main__":
    main()
