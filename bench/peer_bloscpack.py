# SPDX-License-Identifier: BSD-3-Clause
"""bloscpack as a contender, by the protocol of bench_worker, and of folders of bcolz python-blosc, chunk by chunk as bcolz reads
them. On one thread. What it reads whole is compared here, outside the timing, with the array that was packed last."""
import collections
import collections.abc
import functools
import json
import os
import pathlib
import shutil
import sys
import time
import warnings

import asdf
import blosc
import make_data
import numpy as np
from peer_asdf import NONE, digest

collections.MutableMapping = collections.abc.MutableMapping  # bloscpack is older than Python 3.10
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import bloscpack as bp

POINTS = 1000
blosc.set_nthreads(1)


@functools.lru_cache(maxsize=1)
def loaded(path):
    with asdf.open(path, memmap=False) as af:
        return np.array(next(v for k, v in af.tree.items() if k not in ("asdf_library", "history"))).reshape(-1)


def pack_folder(path, codec):
    """As bcolz does: a file for each chunk of 1 MiB."""
    name, level = codec.split(":")
    data, out = loaded(path), pathlib.Path(f"{path}.peer.bcolz")
    shutil.rmtree(out, ignore_errors=True)
    start = time.perf_counter_ns()
    make_data.write_bcolz(out, data, name, int(level))
    return time.perf_counter_ns() - start, NONE


def pack(path, codec, checksum):
    if checksum == "folder":
        return pack_folder(path, codec)
    name, level = codec.split(":")
    data, out = loaded(path), f"{path}.peer.blp"
    if os.path.exists(out):
        os.unlink(out)
    how = {"blosc_args": bp.BloscArgs(typesize=data.itemsize, clevel=int(level), cname=name),
           "bloscpack_args": bp.BloscpackArgs(checksum="None" if checksum == "none" else checksum)}
    start = time.perf_counter_ns()
    bp.pack_ndarray_to_file(data, out, **how)
    return time.perf_counter_ns() - start, NONE


def chunk(path, i):
    """Of a folder of bcolz: 16 bytes, then one of Blosc1."""
    with open(f"{path}/data/__{i}.blp", "rb") as f:
        return np.frombuffer(blosc.decompress(f.read()[16:]), "<f4")


def read_folder(path):
    with open(f"{path}/meta/sizes", encoding="ascii") as sizes:
        data = np.empty(json.load(sizes)["shape"], "<f4")
    at = 0
    for i in range(len(os.listdir(f"{path}/data"))):
        part = chunk(path, i)
        data[at:at + len(part)] = part
        at += len(part)
    return data


def unpack(path):
    start = time.perf_counter_ns()
    data = read_folder(path) if os.path.isdir(path) else bp.unpack_ndarray_from_file(path)
    end = time.perf_counter_ns()
    if not np.array_equal(data, loaded(path[:path.index(".asdf") + 5])):
        sys.exit(f"{path}: other data")
    return end - start, NONE


def points(path):
    """Of a file all is unpacked, there is no other way; of a folder each chunk that is touched, once."""
    start = time.perf_counter_ns()
    if os.path.isdir(path):
        with open(f"{path}/meta/storage", encoding="ascii") as storage:
            each = json.load(storage)["chunklen"]
        with open(f"{path}/meta/sizes", encoding="ascii") as sizes:
            at = np.arange(POINTS) * 2654435761 % json.load(sizes)["shape"][0]
        values = np.empty(POINTS, "<f4")
        for i in np.unique(at // each):
            here = at // each == i
            values[here] = chunk(path, i)[at[here] % each]
    else:
        data = bp.unpack_ndarray_from_file(path)
        values = data[np.arange(POINTS) * 2654435761 % len(data)]
    return time.perf_counter_ns() - start, digest(values.tobytes())


for line in sys.stdin:
    row, path = line.split()
    words = row.split("/")
    print(*{"pack": pack, "unpack": unpack, "points": points}[words[0]](path, *words[1:]), flush=True)
