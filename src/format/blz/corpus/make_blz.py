#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the seeds of fuzz_blz.c and fuzz_blz_update.c: folders packed as blz_fuzz_testing.h says. Needs python-blosc.

usage: src/format/blz/corpus/make_blz.py
"""
import json
import pathlib
import struct
import sys

import blosc

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[3] / "tests/compat"))
import blz_document  # noqa: E402

FILES = ["meta/storage", "meta/sizes", "__attrs__", "__rootdirs__", "data/__0.blp", "data/__1.blp", "a/meta/sizes",
         "a/meta/storage", "a/data/__0.blp", "meta/attributes", "meta/other", "data/__1__.bin", "data/__2__.bin",
         "data/x/__1__.bin"]


def pack(files):
    return b"".join(struct.pack(">BH", FILES.index(name), len(data)) + data for name, data in files.items())


def chunk(values, typesize=4):
    return blosc.compress(struct.pack(f"<{len(values)}i", *values), typesize=typesize, cname="blosclz")


def old_array(at=""):
    return {f"{at}meta/storage": json.dumps({"dtype": "int32", "chunklen": 6, "dflt": 0, "cparams": {}}).encode(),
            f"{at}meta/sizes": json.dumps({"shape": [6], "nbytes": 24, "cbytes": 40}).encode(),
            f"{at}data/__0.blp": struct.pack("<4sB3xq", b"blpk", 1, 1) + chunk(range(6))}


def document(per, dtype="<i4", folder="", **options):
    raw = struct.pack("<24i", *range(24))
    files = {"meta/storage": json.dumps({"dtype": dtype, "chunklen": 4, **({"superchunk": per} if per else {})}).encode(),
             "meta/sizes": json.dumps({"shape": [24], "nbytes": 96, "cbytes": 0}).encode()}
    for n, part in enumerate((raw[:48], raw[48:])):
        data, _ = blz_document.superchunk([part[i:i + 16] for i in range(0, 48, 16)], 4, **options)
        if folder and n:
            break
        files[f"data/{folder}__{n + 1}__.bin"] = data
    return files


def main():
    folder = HERE / "fuzz_blz"
    folder.mkdir(exist_ok=True)
    seeds = {
        "array": {**old_array(), "__attrs__": b'{"k": [1, null]}\n'},
        "table": {"__rootdirs__": b'{"names": ["a"], "dirs": {"a": "a"}}\n', **old_array("a/")},
        "objects": {**old_array(), "meta/storage": b'{"dtype": "object", "chunklen": 1}',
                    "meta/sizes": b'{"shape": [1]}'},
        "superchunks": document(3),
        "keyless": document(0, metadata=b"{'a': 1}", checksum=1, offsets=False, spare=5),
        "sizes-unknown": document(0, nchunks=-1, chunk_size=-1, last=-1, offsets=False),
        "final": document(3, metadata=b"{}", final=True, checksum=2),
        "field": {**document(3, [["x", "<i4"]], "x/"), "meta/attributes": b'{"k": 1}', "meta/other": b"[2]"},
    }
    for name, files in seeds.items():
        (folder / name).write_bytes(pack(files))
    update_seeds(seeds)


def update_seeds(seeds):
    """For fuzz_blz_update.c: a first byte that says what changes."""
    folder = HERE / "fuzz_blz_update"
    folder.mkdir(exist_ok=True)
    two = {**seeds["array"], "meta/sizes": b'{"shape": [9], "cbytes": 99}', "data/__1.blp": struct.pack("<4sB3xq", b"blpk", 1, 1) + chunk(range(3))}
    lies = {**two, "meta/sizes": b'{"shape": [6]}'}
    columns = {"__rootdirs__": b'{"names": ["a", "b"], "dirs": {"a": "a", "b": "a"}}\n', **old_array("a/")}
    for name, how, files in (("put", 0, two), ("append", 1, two), ("larger", 2, two), ("smaller", 5, two), ("lies-append", 1, lies),
                             ("lies-resized", 5, lies), ("column", 1, seeds["table"]), ("records", 17, seeds["table"]),
                             ("set", 0xc0, seeds["array"]), ("set-column", 0xc1, seeds["table"]), ("rm", 0xc2, seeds["array"]),
                             ("mv", 0xc3, seeds["array"]), ("mv-column", 0xc4, columns), ("rm-column", 0xc5, columns),
                             ("superchunks", 1, seeds["superchunks"]), ("new-column", 0xf0, seeds["table"]), ("new-records", 0xf1, seeds["table"]),
                             ("new-field", 0xf0, seeds["field"]), ("new-record-field", 0xf1, seeds["field"])):
        (folder / name).write_bytes(bytes([how]) + pack(files))
    for name in ("superchunks", "keyless", "sizes-unknown", "final"):
        for kind, how in (("put", 0), ("append", 1), ("larger", 2), ("smaller", 5)):
            (folder / f"{name}-{kind}").write_bytes(bytes([how]) + pack(seeds[name]))


if __name__ == "__main__":
    main()
