# SPDX-License-Identifier: BSD-3-Clause
"""Our Python package against the others', from Python, all in one process: cippus and its peers (contenders.py) take turns.

usage: bench_python.py ROW FOLDER TREE ROUNDS THREADS SIDE        run.py runs it and shows what it prints, as JSON

Every turn opens the file anew; results are compared before they are timed."""
import itertools
import json
import os
import pathlib
import shutil
import statistics
import sys
import time
import warnings

import asdf
import cippus
import h5py
import numpy as np
from astropy.io import fits

import make_data
from contenders import ENDINGS, Contenders, Stored

clock = time.process_time_ns if os.environ.get("BENCH_CPU") else time.perf_counter_ns
SLOW = 500_000_000  # ns: one round is enough
warnings.simplefilter("ignore")  # of codecs that Zarr v3 does not specify
ZARRS = ["zarr", "zarrs", "tensorstore"]
CHUNK = 512


def cases(chunk=CHUNK):
    """What it is: the format of ours, how it is stored, peers."""
    chunks = (chunk, chunk)
    return {
        "asdf none": ("asdf", Stored("none"), ["mmap", "asdf"]),
        "unsummed none": ("asdf", Stored("none"), ["h5py"]),  # asdf, without the checksum, which HDF5 does not have
        "asdf zlib": ("asdf", Stored("zlib"), ["asdf"]),
        "asdf lz4": ("asdf", Stored("lz4"), ["asdf"]),
        "ra none": ("ra", Stored("none"), ["mmap", "numpy"]),
        **{f"b2nd {codec}": ("b2nd", Stored(codec, chunks), ["blosc2", "h5py", "zarr"]) for codec in ("zlib", "lz4")},
        **{f"b2nd {codec}": ("b2nd", Stored(codec, chunks), ["blosc2", "h5py", *ZARRS]) for codec in ("none", "zstd", "blosc")},
    }


def archives(chunk=CHUNK):
    """The same of formats that we read and in which others keep their archives: all take the very same file."""
    chunks = (chunk, chunk)
    return {
        "h5 none": ("h5", Stored("none"), ["mmap", "h5py"]),
        **{f"h5 {codec}": ("h5", Stored(codec, chunks), ["h5py"]) for codec in ("zlib", "zlib-shuffle", "blosc")},
        **{f"zarr {codec}": ("zarr", Stored(codec, chunks), ZARRS) for codec in ("zstd", "blosc", "gzip")},
        "fits none": ("fits", Stored("none"), ["mmap", "astropy", "fitsio"]),
        **{f"fits {codec}": ("fits", Stored(codec), ["astropy", "fitsio"]) for codec in ("gzip", "rice")},
        "npz none": ("npz", Stored("none"), ["mmap", "numpy"]),
        "npz zlib": ("npz", Stored("zlib"), ["numpy"]),
    }


ARCHIVE_SHARDS = {"zarr zstd shards": ("zarr", Stored("zstd", (1024, 1024), (128, 128)), ZARRS)}
UNWRITTEN = ("fits gzip", "fits rice")  # by us
TABLE = {"fits table": ("fits", Stored("table"), ["mmap", "astropy", "fitsio"])}
SHARDS = {"b2nd zstd shards": ("b2nd", Stored("zstd", (1024, 1024), (128, 128)), ["blosc2", *ZARRS])}
STREAMS = {
    "asdf zlib": ("asdf", Stored("zlib"), ["rapidgzip"]),
    "asdf bzp2": ("asdf", Stored("bzp2"), ["indexed_bzip2"]),
}
CUBE = {
    "b2nd zstd-0 shards": ("b2nd", Stored("zstd-0", (256,) * 3, (64,) * 3), ["blosc2", *ZARRS]),
    "zarr zstd-0 shards": ("zarr", Stored("zstd-0", (256,) * 3, (64,) * 3), ZARRS),
    "zarr zstd-0": ("zarr", Stored("zstd-0", (256,) * 3), ZARRS),
}


def cube(side):
    """The values of zarrs' own benchmark: x + y^2 / 32 + z^3, of 16 bits."""
    x = np.arange(side, dtype="u8")
    rows = (x[None, :] + (x[:, None] ** 2) // 32).astype("u2")
    return (rows[None] + (x[:, None, None] ** 3).astype("u2")).astype("u2")


def native(found):
    """In the machine's byte order: astropy, and fitsio of tables, leave that of the file."""
    if found is None or found.dtype.isnative:
        return found
    return np.asarray(found).astype(found.dtype.newbyteorder("="))


class Bench(Contenders):
    def __init__(self, folder, rounds, threads, data):
        super().__init__(data, threads)
        self.folder, self.rounds = pathlib.Path(folder), rounds
        self.folder.mkdir(parents=True, exist_ok=True)
        side = len(data)
        rng = np.random.default_rng(4)
        self.at = [tuple(map(int, rng.integers(0, side - 100, 2))) for _ in range(200)]
        self.points = rng.integers(0, side, (2, 1000))

    def file(self, who, kind, stored, mark=""):
        return str(self.folder / f"{stored.name()}-{len(self.data)}{mark}.{ENDINGS.get(who, kind)}")

    # --- what is read

    def whole(self, who, a):
        if who in ("tensorstore", "fitsio"):
            found = a.read()
            return found if who == "fitsio" else found.result()
        return a[...] if who != "asdf" else np.array(a)

    def windows(self, who, a, n=200):
        found = [a[i : i + 100, j : j + 100] for i, j in self.at[:n]]
        return np.concatenate([x.read().result() for x in found] if who == "tensorstore" else found)

    def few(self, who, a):
        return self.windows(who, a, 20)

    def elements(self, who, a):
        found = [a[i, j] for i, j in zip(*self.points.tolist())]
        return np.array([x.read().result() for x in found] if who == "tensorstore" else found)

    def scattered(self, who, a):
        """h5py has no such call."""
        i, j = self.points
        if who == "tensorstore":
            return a.vindex[i, j].read().result()
        if who in ("zarr", "zarrs"):
            return a.vindex[i, j]
        if who in ("cippus", "mmap"):
            return a.points(i, j)
        return a[i, j] if who != "h5py" else None

    def lines(self, who, a):
        found = [a[i] for i, _ in self.at[:50]]
        return np.concatenate([x.read().result() for x in found] if who == "tensorstore" else found)

    def rows(self, who, a):
        """Of a table."""
        return np.concatenate([np.asarray(a[i : i + 100]) for i, _ in self.at])

    def column(self, who, a):
        return a["flux"].read() if who == "fitsio" else np.array(a["flux"])

    def pieces(self, who, a):
        """Chunk by chunk; of each some elements are kept, to be compared."""
        out, side, chunk = [], len(self.data), min(256, len(self.data))
        for at in itertools.product(range(0, side, chunk), repeat=3):
            found = a[tuple(slice(i, i + chunk) for i in at)]
            out.append((found.read().result() if who == "tensorstore" else found)[::37, ::41, ::43].copy())
        return np.stack(out)

    # --- turns

    def turn(self, who, path, what):
        """Nanoseconds and the result."""
        start = clock()
        found = native(getattr(self, f"with_{who}")(path, lambda a: getattr(self, what)(who, a), what == "whole"))
        return clock() - start, found

    def contest(self, name, asks, same):
        """asks: contender -> () -> (ns, result); turns there and back. The best of each, and the median of theirs / ours in the rounds
        that both took part in; nothing where only ours answers."""
        asks = {who: ask for who, ask in asks.items() if same(who, ask()[1])}
        times = {who: [] for who in asks}
        for i in range(self.rounds if len(asks) > 1 else 0):
            for who, ask in list(asks.items())[:: 1 if i % 2 == 0 else -1]:
                if i == 0 or min(times[who]) < SLOW:
                    times[who].append(ask()[0])
        if len(asks) > 1:
            medians = {who: statistics.median(t / ours for t, ours in zip(ns, times["cippus"])) for who, ns in times.items()}
            print(json.dumps([name, {who: min(ns) for who, ns in times.items()}, medians]), flush=True)

    def read(self, cases, whats):
        for (case, (kind, stored, peers)), what in itertools.product(cases.items(), whats):
            ours = self.file("cippus", kind, stored)
            paths = {who: self.file(who, kind, stored) for who in peers}
            for who, path in [*paths.items(), ("cippus", ours)]:  # ours only where no peer writes that format
                if who != "mmap" and not os.path.exists(path):
                    getattr(self, f"put_{who}")(path, stored)
            asks = {"cippus": lambda: self.turn("cippus", ours, what)}
            for who, path in paths.items():
                asks[who] = lambda who=who, path=path: self.turn(who, path, what)
            want = asks["cippus"]()[1]
            self.contest(f"{case} {what}", asks, lambda who, found: self.equal(case, who, want, found))

    def equal(self, case, who, want, found):
        if isinstance(want, np.ndarray) and want.dtype.names:
            found = np.asarray(found).astype(want.dtype)  # of numpy.record
        if found is not None and not np.array_equal(want, found):
            sys.exit(f"bench: {case}: {who} gives another result")
        return found is not None

    def write(self, cases):
        for case, (kind, stored, peers) in cases.items():
            more = {"cippus": {"checksum": "none"}} if case.startswith("unsummed") else {}
            writers = ["cippus", *(who for who in peers if who != "mmap")]
            asks = {who: lambda who=who: self.written(who, kind, stored, more.get(who, {})) for who in writers}
            self.contest(case, asks, lambda who, found: self.equal(case, who, self.data_of(stored), found()))

    def written(self, who, kind, stored, more):
        path = self.file(who, kind, stored, f"-{who}-new")
        shutil.rmtree(path, ignore_errors=True)
        pathlib.Path(path).unlink(missing_ok=True)
        start = clock()
        getattr(self, f"put_{who}")(path, stored, **more)
        return clock() - start, lambda: self.turn(who, path, "whole")[1]

    def many(self):
        """1,000 small arrays into one new file."""
        rows = {f"A{i:03}": self.data[i % len(self.data), :100].copy() for i in range(1000)}
        for kind, peer in {"h5": "h5py", "fits": "astropy", "npz": "numpy"}.items():
            asks = {who: lambda who=who, kind=kind: self.many_written(who, kind, rows) for who in ("cippus", peer)}
            self.contest(f"{kind} 1,000 arrays", asks, lambda who, found: self.equal("many", who, np.stack([*rows.values()]), found()))

    def many_written(self, who, kind, rows):
        path = self.folder / f"many-{who}-new.{kind}"
        path.unlink(missing_ok=True)
        start = clock()
        MANY[who](str(path), rows)
        took = clock() - start

        def found():
            with cippus.open(path) as f:
                return np.stack([f[name][...] for name in f.arrays])

        return took, found

    def open(self, tree):
        asks = {"cippus": lambda: leaf(cippus.open, tree), "asdf": lambda: leaf(asdf.open, tree, lazy_tree=True)}
        self.contest("tree", asks, lambda who, found: self.equal("tree", who, asks["cippus"]()[1], found))
        self.data = np.arange(64, dtype="f4").reshape(8, 8)
        self.read({**cases(8), **archives(8)}, ["whole"])


def leaf(opener, tree, **options):
    start = clock()
    with opener(tree, **options) as f:
        found = f["nodes"]["item00007"]["counts"][2]
        return clock() - start, found


def put_all(file, rows):
    with file as f:
        for name, row in rows.items():
            f[name] = row


MANY = {
    "cippus": lambda path, rows: put_all(cippus.create(path, sync=False), rows),
    "h5py": lambda path, rows: put_all(h5py.File(path, "w"), rows),
    "astropy": lambda path, rows: fits.HDUList([fits.PrimaryHDU(), *(fits.ImageHDU(a, name=k) for k, a in rows.items())]).writeto(path),
    "numpy": lambda path, rows: np.savez(path, **rows),
}


def main():
    row, folder, tree, *numbers = sys.argv[1:]
    rounds, threads, side = map(int, numbers)
    bench = Bench(folder, rounds, threads, cube(side) if row == "python-cube" else make_data.f4q(side))
    if row == "python-open":
        bench.open(tree)
    elif row == "python-write":
        bench.write({**cases(), **SHARDS})
    elif row == "python-streams":
        bench.read(STREAMS, ["whole", "few"])
    elif row == "python-cube":
        bench.read(CUBE, ["whole", "pieces"])
    elif row == "python-archives":
        bench.read({**archives(), **ARCHIVE_SHARDS, **TABLE}, ["whole"])
    elif row == "python-archives-parts":
        bench.read({**archives(), **ARCHIVE_SHARDS}, ["windows"])
        bench.read(TABLE, ["rows", "column"])
    elif row == "python-archives-write":
        bench.write({k: v for k, v in {**archives(), **ARCHIVE_SHARDS, **TABLE}.items() if not k.startswith(UNWRITTEN)})
        bench.many()
    elif row == "python-read":
        bench.read({**cases(), **SHARDS}, ["whole"])
    else:
        bench.read({**cases(), **SHARDS}, ["windows", "elements", "scattered", "lines"])
    for left in bench.folder.glob("*-new.*"):
        shutil.rmtree(left) if left.is_dir() else left.unlink()


if __name__ == "__main__":
    main()
