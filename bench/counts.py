#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Instructions of the command at small jobs, counted by valgrind and compared with those in bench/counts.json: more than 2 % over
that fails, and so does a job on four times as many arrays that needs more than four times the instructions and a tenth. Counts do not
depend on how busy the machine is, nor on its environment: one thread, vectors up to AVX2.

    bench/counts.py [--build build/release] [--update] [--rows WORD]

--update writes the counts of this build into bench/counts.json. Counts of another compiler, C library, codec library or valgrind
are not comparable: then it says so and ends with status 77."""
import argparse
import array
import concurrent.futures
import json
import os
import pathlib
import platform
import re
import shutil
import struct
import subprocess
import sys
import tempfile

BASELINE = pathlib.Path(__file__).resolve().with_name("counts.json")
ROOM = 1.02
SKIPPED = 77
SIDE = 512
TREE = "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n"

# name: options of the conversion from values.npy
FILES = {
    "raw.asdf": [],
    "lz4.asdf": ["--codec", "lz4"],
    "zlib.asdf": ["--codec", "zlib"],
    "lz4.b2nd": ["--codec", "lz4", "--chunks", "256,256", "--blocks", "64,64"],
    "zstd.b2nd": ["--codec", "zstd", "--chunks", "256,256", "--blocks", "64,64"],
    "many.b2nd": ["--codec", "lz4", "--chunks", "32,32"],
    "lz.blp": ["--codec", "blosclz", "--option", "chunk_size=65536"],
    "lz4.blz": ["--codec", "lz4", "--option", "chunklen=32"],
    "values.ra": [],
    "swapped.asdf": ["--byteorder", "big"],
}

READ = ["cat", "--to", "raw", "-o", "out.raw"]
WINDOW = "[100:132, 200:232]"
# row: the words; a file that changes is a copy
ROWS = {
    "ls of a tree of 5,000 nodes": ["ls", "tree.asdf"],
    "ls of 300 arrays": ["ls", "arrays.asdf"],
    "ls, 256 chunks of b2nd": ["ls", "many.b2nd"],
    "ls, a table of 30 columns": ["ls", "table.bcolz"],
    "window, raw ASDF": ["cat", "raw.asdf", WINDOW],
    "window, lz4 ASDF": ["cat", "lz4.asdf", WINDOW],
    "window, zlib ASDF": ["cat", "zlib.asdf", WINDOW],
    "window, b2nd": ["cat", "lz4.b2nd", WINDOW],
    "window, BLZ": ["cat", "lz4.blz", WINDOW],
    "points, b2nd": ["cat", "lz4.b2nd", "--points", "points.txt"],
    "read, big-endian ASDF": [*READ, "swapped.asdf"],
    "read, zlib ASDF": [*READ, "zlib.asdf"],
    "read, lz4 b2nd": [*READ, "lz4.b2nd"],
    "read, zstd b2nd": [*READ, "zstd.b2nd"],
    "read, bloscpack": [*READ, "lz.blp"],
    "read, text": ["cat", "raw.asdf", "[:32]", "-o", "out.txt"],
    "stat, npy": ["stat", "values.npy"],
    "put an element, raw ASDF": ["put", "raw.asdf", "[100, 100]", "5"],
    "put an element, b2nd": ["put", "lz4.b2nd", "[100, 100]", "5"],
    "put an element, BLZ": ["put", "lz4.blz", "[100, 100]", "5"],
    "set a leaf of 5,000 nodes": ["set", "tree.asdf", "leaf/key77", "3"],
    "append a row, npy": ["append", "values.npy", "row.npy"],
    "append a row, b2nd": ["append", "lz4.b2nd", "row.npy"],
    "convert, npy to lz4 b2nd": ["convert", "values.npy", "out.b2nd", "--codec", "lz4"],
    "convert, npy to zlib ASDF": ["convert", "values.npy", "out.asdf", "--codec", "zlib"],
    "convert, csv to bcolz": ["convert", "table.csv", "out.bcolz"],
    "verify, MD5 of ASDF": ["verify", "raw.asdf"],
    "verify all, b2nd": ["verify", "--deep", "many.b2nd"],
}
CHANGE = ("put", "set", "append")
# row: the words, of a file of so many arrays or columns
MANY = (200, 800)
LINEAR = 1.1 * MANY[1] / MANY[0]
GROWTH = {
    "ls of arrays": ["ls", "many-{}.asdf"],
    "ls of columns, bcolz": ["ls", "many-{}.bcolz"],
    "ls of fields, BLZ": ["ls", "many-{}.blz"],
    "convert arrays to columns, bcolz": ["convert", "--accept-loss", "many-{}.asdf", "out.bcolz"],
    "convert arrays to fields, BLZ": ["convert", "--accept-loss", "many-{}.asdf", "out.blz"],
    "convert columns, bcolz to BLZ": ["convert", "many-{}.bcolz", "out.blz"],
    "a row of a table, bcolz": ["append", "many-{}.bcolz", "row-{}.npy"],
    "an element of each inline array": ["steps", "write-own", "many-{}.asdf", "{}"],
    "an element of each array": ["steps", "write-own", "blocks-{}.asdf", "{}"],
    "rows of each array": ["steps", "append-own", "blocks-{}.asdf", "{}"],
}


def said(*words):
    """The first line of what a program says of itself; "none" of one that is not there."""
    try:
        return subprocess.run(list(map(str, words)), capture_output=True, text=True).stdout.partition("\n")[0]
    except OSError:
        return "none"


def circumstances(build):
    """What the counts depend on besides our sources."""
    cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.M))
    version = subprocess.run([build / "cippus", "--version"], capture_output=True, text=True).stdout
    flags = set(next((line for line in open("/proc/cpuinfo") if line.startswith("flags")), "").split())
    return {
        "compiler": said(cache["CMAKE_C_COMPILER"], "--version"),
        "options": " ".join(f"{cache.get('CMAKE_C_FLAGS', '')} {cache.get('CMAKE_C_FLAGS_RELEASE', '')}".split()),
        "C library": " ".join(platform.libc_ver()),
        "codecs": next((line for line in version.splitlines() if line.startswith("codecs:")), ""),
        "libyaml": said("pkg-config", "--modversion", "yaml-0.1"),
        "valgrind": said("valgrind", "--version"),
        "processor": f"{platform.machine()} {' '.join(sorted(flags & {'avx2', 'bmi2'}))}".strip(),
    }


def environment():
    return {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "CIP_CPU": "avx2", "LD_BIND_NOW": "1"}


def run(folder, *words):
    done = subprocess.run(list(map(str, words)), cwd=folder, env=environment(), capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-1000:]}")


def make_files(cippus, folder):
    """Values that compress to about a third, the same every time."""
    values = array.array("i", (i // 64 + i * 7919 % 61 for i in range(SIDE * SIDE)))
    if sys.byteorder == "big":
        values.byteswap()
    (folder / "values.raw").write_bytes(values.tobytes())
    raw = ["convert", "--from", "raw", "--dtype", "int32"]
    run(folder, cippus, *raw, "--shape", f"{SIDE},{SIDE}", "values.raw", "values.npy")
    (folder / "row.raw").write_bytes(values[:SIDE].tobytes())
    run(folder, cippus, *raw, "--shape", f"1,{SIDE}", "row.raw", "row.npy")
    for name, options in FILES.items():
        run(folder, cippus, "convert", "--threads", "1", *options, "values.npy", name)
    (folder / "points.txt").write_text("".join(f"{i * 7919 % SIDE} {i * 104729 % SIDE}\n" for i in range(500)))
    (folder / "tree.asdf").write_text(TREE + "leaf:\n" + "".join(f"  key{i}: value {i}\n" for i in range(2500)) + "...\n")
    array_text = "!core/ndarray-1.1.0 {data: [1, 2, 3], datatype: int32}"
    for name, n in ("arrays", 300), *((f"many-{n}", n) for n in MANY):
        (folder / f"{name}.asdf").write_text(TREE + "".join(f"a{i}: {array_text}\n" for i in range(n)) + "...\n")
    for n, suffix in ((n, suffix) for n in MANY for suffix in ("bcolz", "blz")):
        run(folder, cippus, "convert", "--accept-loss", f"many-{n}.asdf", f"many-{n}.{suffix}")
    for n in MANY:
        run(folder, cippus, "cat", f"many-{n}.bcolz", ".", "[0:1]", "--to", "npy", "-o", f"row-{n}.npy")
        sources = "".join(f"a{i}: !core/ndarray-1.1.0 {{source: {i}, datatype: int32, byteorder: little, shape: [4]}}\n" for i in range(n))
        block = b"\xd3BLK\x00\x30" + struct.pack(">I4s3Q16x", 0, b"", 16, 16, 16) + bytes(16)
        (folder / f"blocks-{n}.asdf").write_bytes(f"{TREE}{sources}...\n".encode() + block * n)
    lines = [",".join(f"c{i}" for i in range(30))] + [",".join(str(row * 7 + i) for i in range(30)) for row in range(100)]
    (folder / "table.csv").write_text("\n".join(lines) + "\n")
    run(folder, cippus, "convert", "table.csv", "table.bcolz")


def count(cippus, made, words):
    """Instructions of one run, in a folder of its own with the files that it names."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for word in words:
            if (made / word).is_dir():
                shutil.copytree(made / word, folder / word)
            elif (made / word).is_file():
                shutil.copy(made / word, folder / word)
        out = folder / "counts"
        # What the loader does before main would hide small jobs.
        tool = ["valgrind", "-q", "--tool=callgrind", "--toggle-collect=main", f"--callgrind-out-file={out}"]
        steps = words[0] == "steps"  # many calls in one update
        run(folder, *tool, *([cippus.with_name("bench_worker"), *words] if steps else [cippus, words[0], "--threads", "1", *words[1:]]))
        return int(re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.M)[1])


def others(now, was):
    """Where the circumstances of the baseline are not those of this build."""
    return [f"{k}: {was.get(k, 'nothing')}, here: {v}" for k, v in now.items() if was.get(k) != v]


def over(counts, was):
    """The rows that need more than the baseline has room for, or that it has not."""
    return [name for name, n in counts.items() if n > ROOM * was.get(name, 0)]


def grows(cippus, folder, pool, rows):
    """The rows that are not linear."""
    counts = {row: [pool.submit(count, cippus, folder, [w.format(n) for w in words]) for n in MANY] for row, words in rows.items()}
    bad = []
    for row, (few, many) in counts.items():
        times = many.result() / few.result()
        print(f"{many.result():12,} {times:7.3f}  {row}, {MANY[1]} of them; times those of {MANY[0]}")
        bad += [row] if times > LINEAR else []
    return bad


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    ap.add_argument("--update", action="store_true")
    ap.add_argument("--rows", default="", metavar="WORD", help="only rows with this in their name")
    o = ap.parse_args()
    if o.update and o.rows:
        ap.error("--update counts all rows")
    build = o.build.resolve()
    now, was = circumstances(build), json.loads(BASELINE.read_text()) if BASELINE.exists() else {"of": {}, "counts": {}}
    if now["valgrind"] == "none":
        print("no valgrind")
        return SKIPPED
    differ = [] if o.update else others(now, was["of"])
    rows = {name: words for name, words in ROWS.items() if o.rows in name and not differ}
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = pathlib.Path(name)
        make_files(build / "cippus", folder)
        if bad := grows(build / "cippus", folder, pool, {row: words for row, words in GROWTH.items() if o.rows in row}):
            print(f"not linear, over {LINEAR:.2f} times: {'; '.join(bad)}")
            return 1
        counts = dict(zip(rows, pool.map(lambda words: count(build / "cippus", folder, words), rows.values())))
    if differ:
        print(f"the counts in {BASELINE.name} are of something else: {'; '.join(differ)}")
        return SKIPPED
    for name, n in counts.items():
        before = was["counts"].get(name)
        print(f"{n:12,} {f'{n / before:7.3f}' if before else '    new'}  {name}")
    if o.update:
        BASELINE.write_text(json.dumps({"of": now, "counts": counts}, indent=1) + "\n")
        return 0
    if bad := over(counts, was["counts"]):
        print(f"over {ROOM} of {BASELINE.name}, or not in it: {'; '.join(bad)}\nIf that is meant: make bench-check ARGS=--update")
        return 1
    print(f"all {len(counts)} within {ROOM} of {BASELINE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
