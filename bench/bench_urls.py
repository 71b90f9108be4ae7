# SPDX-License-Identifier: BSD-3-Clause
"""Files behind URLs: requests, bytes and seconds to open one, for a window and for all of it, against what others need for a file
of theirs, from a server on this machine that waits before each answer.

usage: bench/bench_urls.py CIPPUS [--delay SECONDS] [--rate BYTES]     prints a table in Markdown; needs tests/compat/requirements.txt

The rows of the Python package need it, too. The server is a process of its own, so that readers in this one do not wait for it.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

import numpy as np

SERVER = pathlib.Path(__file__).resolve().parents[1] / "tests" / "support" / "range_server.py"
SIDE, CHUNK = 2048, 256
STEPS = ("open", "window", "whole")
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


def blosc2_fsspec(url):
    """It has no way to a part of a file on a web server."""
    import blosc2
    import fsspec

    return blosc2.ndarray_from_cframe(fsspec.open(url, "rb").open().read())


class Asdf:
    def __init__(self, url):
        self.array = asdf_fsspec(url)

    def __getitem__(self, key):
        return np.array(self.array[key])


def cippus_fsspec(url):
    import cippus

    return cippus.open(url).array


def seen(url):
    """The requests since this was asked for."""
    with urllib.request.urlopen(f"{url}/seen/") as answer:
        return json.load(answer)


def measure(url, name, run, step):
    best = 1e9
    for _ in range(3):
        seen(url)
        start = time.perf_counter()
        try:
            run(f"{url}/files/{name}", step)
        except Exception as error:
            print(f"{name} {step}: {error!r}", file=sys.stderr)
            return "fails"
        best = min(best, time.perf_counter() - start)
        requests = seen(url)
    return f"{len(requests)} / {sum(sent for *_, sent in requests) / 1e6:.2f} MB / {best:.2f} s"


def main():
    words = argparse.ArgumentParser()
    words.add_argument("cippus")
    words.add_argument("--delay", type=float, default=0.03)
    words.add_argument("--rate", type=float)
    words.add_argument("--only", default="")
    args = words.parse_args()
    os.environ["no_proxy"] = "*"
    rows = [("cippus", name, lambda url, step: by_command(args.cippus, url, step))
            for name in ("a.npy", "a.b2nd", "a.asdf", "z.asdf", "a.h5", "a.zarr/")]  # fmt: skip
    rows += [("h5py, fsspec", "a.h5", of_arrays(h5py_fsspec)), ("zarr, fsspec", "a.zarr", of_arrays(zarr_fsspec)),
             ("asdf, fsspec", "a.asdf", of_arrays(Asdf)), ("asdf, fsspec", "z.asdf", of_arrays(Asdf)),
             ("python-blosc2, fsspec", "a.b2nd", of_arrays(blosc2_fsspec))]  # fmt: skip
    try:
        import cippus  # noqa: F401

        rows += [("cippus for Python, fsspec", name, of_arrays(cippus_fsspec)) for name in ("a.b2nd", "z.asdf", "a.h5")]
    except ImportError:
        pass
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        make(args.cippus, folder)
        print(f"| reader | file | open | window of 100 x 100 | all of {SIDE} x {SIDE} |\n|---|---|---|---|---|")
        words = [sys.executable, SERVER, folder, "--delay", str(args.delay), *(["--rate", str(args.rate)] if args.rate else [])]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
            url = server.stdout.readline().strip()
            for reader, name, run in rows:
                if args.only in reader + name:
                    print(f"| {reader} | {name} | {' | '.join(measure(url, name, run, step) for step in STEPS)} |", flush=True)
            server.stdin.close()


if __name__ == "__main__":
    main()
