# SPDX-License-Identifier: BSD-3-Clause
"""Python asdf as a contender: reads "ROW FILE" lines, answers "NANOSECONDS DIGEST" as bench_worker does.
What it writes goes to FILE.peer.asdf, where bench_worker looks at it afterwards."""
import functools
import os
import sys
import time

import asdf
import numpy as np

SIDE = 100


def digest(data):
    """The digest of bench_worker.c. Only small results are compared this way; larger ones give none."""
    data = bytes(data)
    if len(data) > 1 << 20:
        return 2**64 - 1
    mask, h = 2**64 - 1, 1469598103934665603
    whole = len(data) // 8 * 8
    for word in np.frombuffer(data[:whole], "<u8").tolist():
        h = (h ^ word) * 1099511628211 & mask
        h ^= h >> 29
    for byte in data[whole:]:
        h = (h ^ byte) * 1099511628211 & mask
    return h


def first_array(af):
    return next(v for k, v in af.tree.items() if k not in ("asdf_library", "history"))


def tree(path):
    start = time.perf_counter_ns()
    with asdf.open(path) as af:
        n = len(af.tree["nodes"])
        return time.perf_counter_ns() - start, n


def whole(path, memmap=False, check=False):
    start = time.perf_counter_ns()
    with asdf.open(path, memmap=memmap, validate_checksums=check) as af:
        data = np.array(first_array(af))
        data = data.astype(data.dtype.newbyteorder("="), copy=False)
        end = time.perf_counter_ns()
        return end - start, digest(data.tobytes()) if data.nbytes <= 1 << 20 else 2**64 - 1


def view(path):
    start = time.perf_counter_ns()
    with asdf.open(path, memmap=True) as af:
        np.sum(first_array(af)[...])
        return time.perf_counter_ns() - start, 2**64 - 1


def window(path, memmap, eighths=3):
    start = time.perf_counter_ns()
    with asdf.open(path, memmap=memmap) as af:
        array = first_array(af)
        at = array.shape[0] // 8 * eighths
        cut = np.array(array[at : at + SIDE, at : at + SIDE])
        return time.perf_counter_ns() - start, digest(cut.tobytes())


def md5(path):
    start = time.perf_counter_ns()
    with asdf.open(path, validate_checksums=True, lazy_load=False) as af:
        first_array(af)[0, 0]
        return time.perf_counter_ns() - start, 0


@functools.lru_cache(maxsize=1)
def loaded(path):
    with asdf.open(path, memmap=False) as af:
        return np.array(first_array(af)).reshape(-1)


def put(row, path, codec=None, most=None):
    """Python asdf always sums what it stores."""
    data = loaded(path)
    data = data[: most // data.itemsize] if most else data
    out = f"{path}.{row}.peer.asdf"
    if os.path.exists(out):
        os.unlink(out)
    start = time.perf_counter_ns()
    asdf.AsdfFile({"data": data}).write_to(out, all_array_compression=codec)
    return time.perf_counter_ns() - start, NONE


def set_value(row, path):
    out = f"{path}.{row}.peer.asdf"
    if not os.path.exists(out):
        asdf.AsdfFile({"value": 10000000, "data": loaded(path)}).write_to(out)
    start = time.perf_counter_ns()
    with asdf.open(out, mode="rw") as af:
        af["value"] += 1
        af.update()
    return time.perf_counter_ns() - start, 1


def append(path):
    """By hand, since it has no call for it: an open stream is the end of the file."""
    rows = np.add.outer(np.arange(1000, dtype="f4"), np.arange(100, dtype="f4")).astype("<f4")
    start = time.perf_counter_ns()
    with open(f"{path}.append.peer.asdf", "ab", buffering=0) as f:
        for row in rows:
            f.write(row.tobytes())
    return time.perf_counter_ns() - start, NONE


NONE = 2**64 - 1
MOST = {"zlib": 64 << 20, "lz4": 256 << 20, "bzp2": 16 << 20}  # as in bench_write.c
ROWS = {
    **{row: functools.partial(put, row) for row in ("write", "write-md5")},
    **{row: functools.partial(set_value, row) for row in ("set", "set-power")},
    "append": append,
    "tree": tree,
    "small": whole,
    "view": view,
    "copy": whole,
    "copy-checked": functools.partial(whole, check=True),
    "swap": whole,
    "window-raw": lambda p: window(p, True),
    **{f"window-{codec}": lambda p: window(p, False) for codec in ("lz4", "zlib", "bzp2")},
    **{f"later-{codec}": lambda p: window(p, False, 2) for codec in ("lz4", "zlib", "bzp2")},
    "zlib": whole,
    "bzp2": whole,
    "lz4": whole,
    "md5": md5,
}
for codec, most in MOST.items():
    for kind in ("f4q", "i2", "i8"):
        ROWS[f"{codec}-{kind}"] = functools.partial(put, f"{codec}-{kind}", codec=codec, most=most)

if __name__ == "__main__":
    for line in sys.stdin:
        row, path = line.split()
        print(*ROWS[row](path), flush=True)
