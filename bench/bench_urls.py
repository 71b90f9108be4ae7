# SPDX-License-Identifier: BSD-3-Clause
"""Files behind URLs: requests, bytes and seconds to open one, for a window and for all of it, against what others need for a file
of theirs, from a server on this machine that waits before each answer.

usage: bench/bench_urls.py CIPPUS [--delay SECONDS]     prints a table in Markdown; needs tests/compat/requirements.txt
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "support"))
from range_server import Server  # noqa: E402

SIDE, CHUNK = 2048, 256
WINDOW = (slice(1000, 1100), slice(1000, 1100))


def image():
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    return (np.sin(x / 90) * 400 + y / 7 + np.random.default_rng(1).normal(0, 3, (SIDE, SIDE))).astype("f4")


def make(cippus, folder):
    data = image()
    np.save(folder / "a.npy", data)
    chunks = f"{CHUNK},{CHUNK}"
    for name, words in {
        "a.b2nd": ["--chunks", chunks, "--codec", "zstd:1", "--filter", "shuffle"],
        "a.asdf": [],
        "z.asdf": ["--codec", "blsc"],
        "a.zarr": ["--chunks", chunks, "--codec", "zstd:1"],
    }.items():
        subprocess.run([cippus, "convert", folder / "a.npy", folder / name, *words], check=True)
    import h5py

    with h5py.File(folder / "a.h5", "w") as f:
        f.create_dataset("a", data=data, chunks=(CHUNK, CHUNK), compression="gzip", compression_opts=1, shuffle=True)
    return data


def by_command(cippus, url, step):
    words = {"open": ["ls", url], "window": ["cat", "--to", "raw", url, "[1000:1100,1000:1100]"], "whole": ["cat", "--to", "raw", url]}[step]
    subprocess.run([cippus, *words], check=True, stdout=subprocess.DEVNULL)


def of_arrays(opened):
    def run(url, step):
        with_array = opened(url)
        if step != "open":
            with_array[WINDOW if step == "window" else ...]

    return run


def h5py_fsspec(url):
    import fsspec
    import h5py

    return h5py.File(fsspec.open(url, "rb").open(), "r")["a"]


def zarr_fsspec(url):
    import zarr

    return zarr.open_array(url, mode="r")


def asdf_fsspec(url):
    import asdf
    import fsspec

    return asdf.open(fsspec.open(url, "rb").open())["data"]


class Asdf:
    def __init__(self, url):
        self.array = asdf_fsspec(url)

    def __getitem__(self, key):
        return np.array(self.array[key])


def cippus_fsspec(url):
    import cippus

    return cippus.open(url).array


def main():
    words = argparse.ArgumentParser()
    words.add_argument("cippus")
    words.add_argument("--delay", type=float, default=0.03)
    words.add_argument("--only", default="")
    args = words.parse_args()
    rows = [("cippus", name, lambda url, step: by_command(args.cippus, url, step))
            for name in ("a.npy", "a.b2nd", "a.asdf", "z.asdf", "a.h5", "a.zarr/")]  # fmt: skip
    rows += [("h5py, fsspec", "a.h5", of_arrays(h5py_fsspec)), ("zarr, fsspec", "a.zarr", of_arrays(zarr_fsspec)),
             ("asdf, fsspec", "a.asdf", of_arrays(Asdf)), ("asdf, fsspec", "z.asdf", of_arrays(Asdf))]  # fmt: skip
    try:
        import cippus  # noqa: F401

        rows += [("cippus for Python, fsspec", name, of_arrays(cippus_fsspec)) for name in ("a.b2nd", "z.asdf", "a.h5")]
    except ImportError:
        pass
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        make(args.cippus, folder)
        print(f"| reader | file | open | window of 100 x 100 | all of {SIDE} x {SIDE} |\n|---|---|---|---|---|")
        with Server(folder, args.delay) as server:
            for reader, name, run in rows:
                if args.only not in reader + name:
                    continue
                found = []
                for step in ("open", "window", "whole"):
                    best = 1e9
                    for _ in range(3):
                        server.seen.clear()
                        start = time.perf_counter()
                        try:
                            run(f"{server.url}/files/{name}", step)
                        except Exception as error:
                            print(f"{reader} {name} {step}: {error!r}", file=sys.stderr)
                            break
                        best = min(best, time.perf_counter() - start)
                        n, nbytes = len(server.seen), sum(sent for *_, sent in server.seen)
                    else:
                        found.append(f"{n} / {nbytes / 1e6:.2f} MB / {best:.2f} s")
                        continue
                    found.append("fails")
                print(f"| {reader} | {name} | {' | '.join(found)} |", flush=True)


if __name__ == "__main__":
    main()
