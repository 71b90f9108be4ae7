#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What small changes cost, counted and not timed: the library's functions that a change of a 10 x 10 window runs through (by
callgrind), and the preads of one element in files of many chunks (by strace). Prints a table, or with --json one object.

    bench/paths.py [--cippus build/quick/cippus] [--json]

The build should be one without optimization (the preset `quick`): inlined functions are not seen."""
import argparse
import array
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SIDE = 1000  # of the array with the window
WINDOW = "[100:110, 100:110]"
FORMATS = {
    "b2nd": ("a.b2nd", ["--option", "chunks=100,100"]),
    "zlib ASDF": ("z.asdf", ["--codec", "zlib"]),
    "raw ASDF": ("r.asdf", ["--codec", "none"]),
    "BLZ": ("a.blz", ["--option", "superchunk=16"]),
}
CHUNKED = {  # what is changed, chunks, and how the file is made
    "BLZ superchunks, 20,000 chunks": ("many.blz", 20_000, ["--option", "chunklen=16", "--option", "superchunk=20000"]),
    "b2nd, 1,000 chunks": ("many.b2nd", 1_000, ["--option", "chunks=16"]),
    "bloscpack, 1,000 chunks": ("many.blp", 1_000, ["--option", "chunk_size=64"]),
}
OURS = re.compile(r"(?:^|/)src/.*\.[ch]$")


def run(*words):
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        said = done.stdout.decode(errors="replace")
        sys.exit(f"{' '.join(map(str, words))}: exit {done.returncode}\n{said}")


def make(cippus, folder, name, shape, options):
    n = 1
    for side in shape:
        n *= side
    raw = folder / "values.raw"
    raw.write_bytes(array.array("i", (i * 7919 % 1000 for i in range(n))).tobytes())
    text = ",".join(map(str, shape))
    run(cippus, "convert", "--from", "raw", "--dtype", "int32", "--shape", text, *options, raw, folder / name)
    return folder / name


def functions(folder, *words):
    """(file, function) of ours that ran. Names stand in callgrind's output once, then as their numbers."""
    out = folder / "callgrind.out"
    run("valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}", *words)
    names, ran, at = {}, set(), "?"
    for line in out.read_text().splitlines():
        found = re.match(r"(c?fi|c?fl|fe|c?fn)=(\(\d+\))(?: (.*))?$", line)
        if found is None:
            continue
        kind, number, name = found.groups()
        key = (kind.endswith("fn"), number)
        if name is not None:
            names[key] = name
        if kind == "fl":
            at = names[key]
        elif kind == "fn" and OURS.search(at):
            ran.add((OURS.search(at).group(0).lstrip("/"), names[key].split("'")[0]))
    return ran


def preads(folder, *words):
    out = folder / "strace.out"
    run("strace", "-f", "-e", "trace=pread64", "-o", out, *words)
    return out.read_text().count("pread64(")


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--cippus", type=pathlib.Path, default=pathlib.Path("build/quick/cippus"))
    words.add_argument("--json", action="store_true")
    given = words.parse_args()
    cippus = given.cippus.resolve()
    table, writes = {}, {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for title, (file, options) in FORMATS.items():
            path = make(cippus, folder, file, (SIDE, SIDE), options)
            reads = functions(folder, cippus, "cat", "--to", "raw", path, WINDOW)
            puts = functions(folder, cippus, "put", path, WINDOW, "5")
            writes[title] = puts - reads
            table[f"put of a window, {title}: functions"] = len(puts)
            table[f"put of a window, {title}: source files"] = len({f for f, _ in puts})
            table[f"put of a window, {title}: functions that reading it does not run"] = len(writes[title])
        table["of these in both b2nd and zlib ASDF"] = len(writes["b2nd"] & writes["zlib ASDF"])
        for title, (file, chunks, options) in CHUNKED.items():
            path = make(cippus, folder, file, (16 * chunks,), options)
            table[f"put of one element, {title}: preads"] = preads(folder, cippus, "put", path, "[100]", "5")
    if given.json:
        print(json.dumps(table, indent=2))
    else:
        for title, n in table.items():
            print(f"{n:8}  {title}")


if __name__ == "__main__":
    main()
