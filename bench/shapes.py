# SPDX-License-Identifier: BSD-3-Clause
"""Shapes of blocks that were chosen for arrays of several shapes: ours, and python-blosc2's. The tables of docs/formats/blosc2.md.

usage: shapes.py [CODEC:LEVEL ...]        in the environment of `make bench`; processor time, one thread, best of 5

Prints, for each array: both blocks; our size over its size; its time over ours for boxes, for elements in one call, for everything, and for one element
wide along the first and the last axis.
"""
import pathlib
import sys
import tempfile
import time

import blosc2
import cippus
import numpy as np

ARRAYS = {
    "A": ("f4", (2048, 16384)),
    "B": ("i2", (3072, 4096)),
    "C": ("u1", (4096, 4096)),
    "D": ("f4", (160, 256, 256)),
    "E": ("f8", (128, 160, 160)),
    "F": ("u1", (160, 256, 320)),
    "G": ("f4", (24, 40, 64, 128)),
    "H": ("f8", (700000, 3)),
    "I": ("i8", (2097152,)),
}
ROUNDS = 5


def values(dtype, shape, rng):
    """Smooth along each axis, and noise: floats rounded to 1/16."""
    a = sum(np.sin(np.arange(n) / 50).reshape([n if j == k else 1 for j in range(len(shape))]) for k, n in enumerate(shape))
    a = a * 30 + rng.normal(0, 1, shape) + 100
    return (np.round(a * 16) / 16 if dtype[0] == "f" else a).astype(dtype)


def works(shape, rng):
    """What is read, as functions of anything that is sliced."""
    box = {1: 1000, 2: 50, 3: 20}.get(len(shape), 10)
    boxes = [tuple(slice(i, min(i + box, n)) for n in shape for i in [int(rng.integers(max(1, n - box)))]) for _ in range(50)]
    points = np.stack([rng.integers(n, size=1000) for n in shape], 1)
    first = [(int(i), ...) for i in rng.integers(shape[0], size=20)]
    last = [(..., int(i)) for i in rng.integers(shape[-1], size=20)]
    out = {"box": boxes, "elements": points, "all": [...]}
    return out if len(shape) == 1 else {**out, "along first": last, "along last": first}


def read(a, keys):
    """The time of it."""
    begin = time.process_time()
    if not isinstance(keys, np.ndarray):
        for key in keys:
            a[key]
    elif isinstance(a, cippus.Array):
        a.points(*keys.T)
    else:
        a.take(np.ravel_multi_index(keys.T, a.shape))
    return time.process_time() - begin


def main():
    rng = np.random.default_rng(1)
    blosc2.set_nthreads(1)
    for codec in sys.argv[1:] or ["zstd:5", "lz4:5"]:
        name, level = codec.split(":")
        params = {"codec": blosc2.Codec[name.upper()], "clevel": int(level), "nthreads": 1}
        print(f"{codec}\n{'':4}{'ours':>18}{'theirs':>18}{'size':>8}{'box':>8}{'elements':>10}{'all':>8}{'along first':>13}{'along last':>12}")
        for letter, (dtype, shape) in ARRAYS.items():
            a = values(dtype, shape, rng)
            with tempfile.TemporaryDirectory() as folder:
                mine, theirs = pathlib.Path(folder, "mine.b2nd"), pathlib.Path(folder, "theirs.b2nd")
                with cippus.create(mine, codec=codec) as new:
                    new.put("", a)
                blosc2.asarray(a, urlpath=str(theirs), cparams=params)
                size = mine.stat().st_size / theirs.stat().st_size
                blocks = blosc2.open(str(mine), mode="r").blocks
                ratios = []
                for keys in works(shape, rng).values():
                    best = [np.inf, np.inf]
                    for _ in range(ROUNDS):
                        with cippus.open(mine, threads=1) as f:
                            best[0] = min(best[0], read(f.arrays[""], keys))
                        best[1] = min(best[1], read(blosc2.open(str(theirs), mode="r"), keys))
                    ratios.append(best[1] / best[0])
                its = blosc2.open(str(theirs), mode="r").blocks
            text = ["x".join(map(str, b)) for b in (blocks, its)]
            print(f"{letter:4}{text[0]:>18}{text[1]:>18}{size:8.3f}" + "".join(f"{r:{w}.2f}" for r, w in zip(ratios, (8, 10, 8, 13, 12))), flush=True)


if __name__ == "__main__":
    main()
