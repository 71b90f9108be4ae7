#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How time and memory of the command grow with a file: with its size, its arrays, the nodes of its tree, its chunks, its
dimensions, the steps of an update. Each figure is of one run of `cippus` as a whole process: processor time and the most memory.

    bench/growth.py [--build build/release] [--quick] [--rows size-npy,nodes-flat,...] [--only ls,put,...] [--folder DIR] [--json FILE]

`x` is the time of an item in relation to the step before, a tenfold step's worth: 1.00 is linear, less is better. What is over
1.3 there, in time (T) or memory (M), is marked; differences of less than 30 ms or 8 MiB are not judged."""
import argparse
import json
import math
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

LIMIT, LEAST_US, LEAST_KIB = 1.3, 30_000, 8 << 10
MIB = 1 << 20
ONCE = ("put", "set", "set-leaf", "new", "rename", "rename-back", "add", "drop", "step-put")  # the second time there is nothing to do


class Bench:
    """Runs commands; what they say goes nowhere unless they fail."""

    def __init__(self, build, folder, threads=1):
        self.worker, self.cippus = build / "bench_worker", build / "cippus"
        self.folder, self.threads = folder, threads

    def once(self, words):
        if words[0] != "steps":
            words = [words[0], "--threads", self.threads, "--no-progress", *words[1:]]
        words = [self.worker if words[0] == "steps" else self.cippus, *words]
        done = subprocess.run(list(map(str, [self.worker, "run", *words])), capture_output=True, text=True, errors="replace")
        status, cpu, wall, peak = map(int, done.stdout.split())
        if status != 0:
            sys.exit(f"{' '.join(map(str, words))}: exit {status}\n{done.stderr[-2000:]}")
        return cpu, wall, peak

    def measure(self, words, clean, rounds):
        """The best of some runs: long ones are run once."""
        best = None
        for _ in range(rounds):
            if clean is not None:
                remove(clean)
            found = self.once(words)
            best = found if best is None else tuple(map(min, best, found))
            if found[1] > 500_000:
                break
        return best

    def make(self, *words):
        self.once(words)


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# --- files ------------------------------------------------------------------------------------------


def npy(path, shape, dtype="<i4", part=None):
    """A .npy file of this shape: `part` again and again, or a hole."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    total = math.prod(shape) * int(dtype[2:])
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode())
        head = f.tell()
        while part and f.tell() < head + total:
            f.write(part[: head + total - f.tell()])
        f.truncate(head + total)
    return path


def values(n):
    """n int32 that compress to about a third."""
    return b"".join(struct.pack("<i", i // 64 + i * 7919 % 61) for i in range(n))


def of_size(suffix, *options, hole=False):
    def make(bench, n):
        width = 1024
        source = npy(bench.folder / "source.npy", (n // 4 // width, width), part=None if hole else values(MIB))
        if suffix == "npy":
            return source
        path = bench.folder / f"array.{suffix}"
        bench.make("convert", source, path, *options)
        source.unlink()
        return path

    return make


def of_chunks(suffix, *options, per=16):
    def make(bench, n):
        source = npy(bench.folder / "source.npy", (per * n,), part=values(1 << 16))
        path = bench.folder / f"array.{suffix}"
        bench.make("convert", source, path, *options)
        source.unlink()
        return path

    return make


def of_steps(suffix, *options):
    """4 MiB, whatever the number of steps."""
    return lambda bench, n: of_chunks(suffix, *options, per=1)(bench, MIB)


def of_chunks_of_rows(bench, n):
    """10,000 chunks of 16 elements."""
    return of_chunks("b2nd", "--option", "chunks=16")(bench, 10_000)


def of_dims(suffix, *options):
    def make(bench, ndim):
        bits = [20 // ndim + (i < 20 % ndim) for i in range(ndim)]
        source = npy(bench.folder / "source.npy", [1 << b for b in bits], part=values(1 << 16))
        path = bench.folder / f"array.{suffix}"
        bench.make("convert", source, path, *options)
        source.unlink()
        return path

    return make


ASDF_HEAD = "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n"


def asdf_arrays(bench, n):
    """n arrays of 16 int32, each in a block of its own, with an index."""
    path, nbytes = bench.folder / "arrays.asdf", 64
    with open(path, "wb") as f:
        f.write((ASDF_HEAD + "arrays:\n").encode())
        for i in range(n):
            f.write(f"  a{i:06d}: !core/ndarray-1.1.0 {{source: {i}, datatype: int32, byteorder: little, shape: [16]}}\n".encode())
        f.write(b"...\n")
        places = []
        for i in range(n):
            places.append(f.tell())
            f.write(b"\xd3BLK\x00\x30" + struct.pack(">I4sQQQ16x", 0, b"", nbytes, nbytes, nbytes) + bytes(nbytes))
        f.write(b"#ASDF BLOCK INDEX\n%YAML 1.1\n---\n[" + ", ".join(map(str, places)).encode() + b"]\n...\n")
    return path


def asdf_inline(bench, n):
    """n arrays of 4 numbers in the tree."""
    path = bench.folder / "inline.asdf"
    with open(path, "w", encoding="utf-8") as f:
        f.write(ASDF_HEAD + "arrays:\n")
        for i in range(n):
            f.write(f"  a{i:06d}: !core/ndarray-1.1.0 {{data: [{i}, 1, 2, 3], datatype: int32}}\n")
        f.write("...\n")
    return path


def columns(suffix):
    def make(bench, n):
        source, path = bench.folder / "table.csv", bench.folder / f"table.{suffix}"
        names = ",".join(f"c{i:06d}" for i in range(n))
        source.write_text(f"{names}\n" + "".join(",".join(str(i % 9 + row) for i in range(n)) + "\n" for row in range(4)))
        if suffix == "csv":
            return source
        bench.make("convert", "--from", "csv", "--header", source, path)
        source.unlink()
        return path

    return make


def tree(kind):
    """An ASDF file of about n nodes and an array."""

    def make(bench, n):
        path = bench.folder / f"{kind}.asdf"
        with open(path, "w", encoding="utf-8") as f:
            f.write(ASDF_HEAD + "data: !core/ndarray-1.1.0 {data: [1, 2, 3], datatype: int32}\n")
            if kind == "wide":  # one mapping
                f.write("leaf:\n" + "".join(f"  key{i}: {i}\n" for i in range(n // 2)))
            elif kind == "list":
                f.write("leaf:\n" + "".join(f"- {i}\n" for i in range(n)))
            elif kind == "flow":
                f.write("leaf: [" + ", ".join(map(str, range(n))) + "]\n")
            else:  # records of 10 nodes
                f.write("leaf:\n" + "".join(f"- name: exposure {i}\n  time: {i}.5\n  wcs: {{a: 1, b: {i}}}\n  note: some text\n" for i in range(n // 12)))
            f.write("last: 1\n...\n")
        return path

    return make


def json_tree(bench, n):
    """A bcolz array with attributes of n nodes."""
    path = bench.folder / "tree.bcolz"
    bench.make("convert", "--fill", "1", "--dtype", "int32", "--shape", "100", path)
    (path / "__attrs__").write_text(json.dumps({"leaf": {f"key{i}": i for i in range(n // 2)}, "last": 1}))
    return path


def msgpack_tree(bench, n):
    """A b2nd array with n nodes of metadata in it."""
    source, path = bench.folder / "source.asdf", bench.folder / "tree.b2nd"
    bench.make("convert", "--fill", "1", "--dtype", "int32", "--shape", "100", source)
    text = source.read_bytes()
    end = text.index(b"\n...")
    leaf = "\nleaf: {" + ", ".join(f"key{i}: {i}" for i in range(n // 2)) + "}\nlast: 1"
    source.write_bytes(text[:end] + leaf.encode() + text[end:])
    bench.make("convert", "--accept-loss", source, path)
    source.unlink()
    return path


# --- rows: what grows, its steps (the quick run takes those up to a limit), the file, what is done to it ----------

def commands(path, n, folder, more):
    """The commands of all subjects by name: words, and what to remove before each run."""
    out = lambda suffix: folder / f"out.{suffix}"
    one = folder / "one.npy"
    array = more.get("array", [])
    index = more.get("index", lambda n: "[0:4]")(n)
    element = more.get("element", lambda n: "[3]")(n)
    words = {
        "info": ["info", path],
        "ls": ["ls", path],
        "tree": ["tree", path],
        "find": ["tree", "--find", "key77", path],
        "chunks": ["info", "--chunks", path],
        "blocks": ["info", "--blocks", path],
        "window": ["cat", path, *array, index],
        "read": ["cat", "--to", "raw", "--overwrite", "-o", out("raw"), path, *array],
        "stat": ["stat", path, *array],
        "verify": ["verify", path],
        "deep": ["verify", "--deep", path],
        "put": ["put", path, *array, element, "5"],
        "append": ["append", path, *array, one],
        "insert": ["put", "--insert", path, *array, more.get("row", lambda n: "[0]")(n), one],
        "cut": ["rm", path, *array, "[1:2]"],
        "set": ["set", path, "last", "2"],
        "set-leaf": ["set", path, more.get("leaf", lambda n: "leaf/key1")(n), "17"],
        "new": ["set", "--force", path, "fresh", "3"],
        "rename": ["mv", path, "last", "final"],
        "rename-back": ["mv", path, "final", "last"],
        "add": ["put", "--new", path, "added", one],
        "drop": ["rm", path, "added"],
        "defrag": ["defrag", path],
        "diff": ["diff", path, path],
        "repair": ["repair", path, out(f"repaired{path.suffix}")],
        "refs": ["zarr-refs", path, out("json")],
    }
    for kind in ("set", "set-again", "put", "write", "append", "write-own", "append-own", "insert", "read"):
        words[f"step-{kind}"] = ["steps", kind, path, n]
    for kind in ("new-set", "new-put"):
        words[f"step-{kind}"] = ["steps", kind, out("asdf"), n]
    for suffix in ("asdf", "b2nd", "b2frame", "blp", "blz", "bcolz", "npy", "ra", "csv"):
        words[f"to-{suffix}"] = ["convert", "--accept-loss", path, out(suffix)]
        words[f"to-{suffix}-as"] = ["convert", "--accept-loss", *more.get("convert", []), path, out(suffix)]
    return words


GROWN = [1, 8, 64, 512, 8192]
MIDDLE = {
    "index": lambda n: f"[{n // 8192}:{n // 8192 + 10}, 10:20]",
    "element": lambda n: f"[{n // 8192}, 5]",
    "one": ((1, 1024), 4096),
    "row": lambda n: f"[{n // 4096 - 1}]",
}
ALONG = {"index": lambda n: f"[{n * 8}:{n * 8 + 10}]", "element": lambda n: f"[{n * 8 + 3}]", "row": lambda n: f"[{n * 8}]"}
LOOK = "info ls window stat read verify deep"
CHUNK_OPS = "ls chunks window read verify deep put append insert cut diff"
TREE_OPS = "ls tree find window set set-leaf new rename rename-back verify"


def mib(*sizes):
    return [s * MIB for s in sizes]


def arrays(n):
    return {"array": [f"arrays/a{n // 2:06d}"], "one": ((1,), 4)}


ROWS = {
    "size-npy": ("bytes", mib(*GROWN), mib(64)[0], of_size("npy"), f"{LOOK} put append insert cut to-asdf to-b2nd", MIDDLE),
    "size-asdf": ("bytes", mib(*GROWN), mib(64)[0], of_size("asdf"), f"{LOOK} put append insert cut to-npy to-asdf", MIDDLE),
    "size-asdf-zlib": ("bytes", mib(*GROWN[:-1]), mib(64)[0], of_size("asdf", "--codec", "zlib:1"), f"{LOOK} put append to-npy", MIDDLE),
    "size-asdf-lz4": ("bytes", mib(*GROWN), mib(64)[0], of_size("asdf", "--codec", "lz4"), f"{LOOK} put append to-npy", MIDDLE),
    "size-asdf-zstd": ("bytes", mib(*GROWN[:-1]), mib(64)[0], of_size("asdf", "--codec", "zstd:1"), f"{LOOK} put append to-npy", MIDDLE),
    "size-b2nd": ("bytes", mib(*GROWN), mib(64)[0], of_size("b2nd", "--codec", "lz4"), f"{LOOK} put append insert cut to-npy to-asdf", MIDDLE),
    "size-blp": ("bytes", mib(*GROWN), mib(64)[0], of_size("blp", "--codec", "lz4"), f"{LOOK} put append to-npy", MIDDLE),
    "size-blz": ("bytes", mib(*GROWN), mib(64)[0], of_size("blz", "--codec", "lz4"), f"{LOOK} put append to-npy", MIDDLE),
    "size-bcolz": ("bytes", mib(*GROWN), mib(64)[0], of_size("bcolz", "--codec", "lz4"), f"{LOOK} put append to-npy", MIDDLE),
    "size-ra": ("bytes", mib(*GROWN), mib(64)[0], of_size("ra"), f"{LOOK} put append to-npy", MIDDLE),
    "arrays-asdf": ("arrays", [1, 100, 1000, 10_000, 100_000], 10_000, asdf_arrays,
                    "info ls tree blocks window verify deep put append add drop set new defrag diff repair to-asdf", arrays),
    "arrays-inline": ("arrays", [1, 100, 1000, 10_000, 100_000], 10_000, asdf_inline, "info ls tree window verify put append to-asdf", arrays),
    "columns-bcolz": ("columns", [1, 100, 1000, 10_000], 1000, columns("bcolz"), "info ls window read verify deep cut to-bcolz to-asdf",
                      lambda n: {"array": ["."], "one": None}),
    "columns-csv": ("columns", [1, 100, 1000, 10_000], 1000, columns("csv"), "to-asdf-as to-bcolz-as",
                    lambda n: {"convert": ["--from", "csv", "--header"]}),
    "nodes-wide": ("nodes", [200, 2000, 20_000, 200_000, 2_000_000], 200_000, tree("wide"), f"{TREE_OPS} diff to-asdf to-b2nd to-bcolz", {"array": ["data"], "leaf": lambda n: f"leaf/key{n // 4}"}),
    "nodes-list": ("nodes", [200, 2000, 20_000, 200_000, 2_000_000], 200_000, tree("list"), f"{TREE_OPS} diff to-asdf", {"array": ["data"], "leaf": lambda n: f"leaf/{n // 2}"}),
    "nodes-flow": ("nodes", [200, 2000, 20_000, 200_000, 2_000_000], 200_000, tree("flow"), f"{TREE_OPS} diff to-asdf", {"array": ["data"], "leaf": lambda n: f"leaf/{n // 2}"}),
    "nodes-records": ("nodes", [240, 2400, 24_000, 240_000, 2_400_000], 240_000, tree("records"), f"{TREE_OPS} diff to-asdf", {"array": ["data"], "leaf": lambda n: f"leaf/{n // 24}/time"}),
    "nodes-json": ("nodes", [200, 2000, 20_000, 200_000, 2_000_000], 200_000, json_tree, "ls tree window put append to-asdf to-b2nd", {}),
    "nodes-msgpack": ("nodes", [200, 2000, 20_000, 200_000, 2_000_000], 200_000, msgpack_tree, "ls tree window put append to-asdf to-bcolz", {}),
    "chunks-b2nd": ("chunks", [10, 1000, 10_000, 100_000, 1_000_000], 100_000, of_chunks("b2nd", "--option", "chunks=16"),
                    f"{CHUNK_OPS} refs to-npy to-b2nd-as", ALONG | {"convert": ["--option", "chunks=16"]}),
    "chunks-sparse": ("chunks", [10, 1000, 10_000, 100_000], 1000, of_chunks("b2nd", "--option", "chunks=16", "--sparse"), f"{CHUNK_OPS} to-npy", ALONG),
    "chunks-blp": ("chunks", [10, 1000, 10_000, 100_000, 1_000_000], 100_000, of_chunks("blp", "--option", "chunk_size=64"),
                   f"{CHUNK_OPS} to-npy to-blp-as", ALONG | {"convert": ["--option", "chunk_size=64"]}),
    "chunks-blz": ("chunks", [10, 1000, 10_000, 100_000, 1_000_000], 100_000, of_chunks("blz", "--option", "chunklen=16", "--option", "superchunk=10000"),
                   f"{CHUNK_OPS} to-npy to-blz-as", ALONG | {"convert": ["--option", "chunklen=16", "--option", "superchunk=10000"]}),
    "chunks-bcolz": ("chunks", [10, 1000, 10_000, 100_000], 1000, of_chunks("bcolz", "--option", "chunklen=16"),
                     f"{CHUNK_OPS} to-npy to-bcolz-as", ALONG | {"convert": ["--option", "chunklen=16"]}),
    "chunks-asdf01": ("chunks", [10, 1000, 10_000, 100_000, 1_000_000], 100_000, of_chunks("asdf", "--standard", "0.1.0", "--encode", "[[tile, {shape: [16]}], zlib]"),
                      f"{CHUNK_OPS} to-npy", ALONG),
    "chunks-bls2": ("chunks", [10, 1000, 10_000], 1000, of_chunks("asdf", "--codec", "bls2", per=1 << 16), f"{CHUNK_OPS} to-npy", ALONG),
    "steps-asdf": ("steps", [10, 100, 1000, 10_000], 1000, of_steps("asdf"), "step-set step-set-again step-write step-read step-put step-new-set step-new-put", {}),
    "steps-arrays": ("steps", [10, 100, 1000, 10_000], 1000, asdf_arrays, "step-write-own step-append-own", {}),
    "steps-inline": ("steps", [10, 100, 1000, 10_000], 1000, asdf_inline, "step-write-own step-append-own", {}),
    "steps-b2nd": ("steps", [10, 100, 1000, 10_000], 1000, of_steps("b2nd"), "step-read step-write", {}),
    "steps-rows": ("steps", [10, 100, 1000, 10_000], 1000, of_chunks_of_rows, "step-append step-write", {}),
    "dims-npy": ("dims", [1, 2, 4, 8, 16], 16, of_dims("npy"), "ls read stat to-asdf to-b2nd", {}),
    "dims-b2nd": ("dims", [1, 2, 4, 8, 16], 16, of_dims("b2nd", "--codec", "lz4"), "ls read stat verify to-npy", {}),
}


def judge(before, now):
    """The growth of an item's share for ten times the items, and whether it is too much: of time, of memory."""
    (n, a), (m, b) = before, now
    out = []
    for which, least in ((0, LEAST_US), (2, LEAST_KIB)):
        grown = ((b[which] / m) / (a[which] / n)) ** (1 / math.log10(m / n))
        out += [grown, grown > LIMIT and b[which] - a[which] > least]
    return out


def run_row(bench, name, quick, only):
    unit, steps, most, make, ops, more = ROWS[name]
    found = {op: [] for op in ops.split() if not only or op in only}
    for n in steps:
        if quick and n > most:
            break
        how = more(n) if callable(more) else more
        path = make(bench, n)
        if how.get("one", ((1,), 4)):
            npy(bench.folder / "one.npy", how.get("one", ((1,), 4))[0], part=values(1024))
        words = commands(path, n, bench.folder, how)
        for op in found:
            clean = next((w for w in words[op] if isinstance(w, pathlib.Path) and w.name.startswith("out.")), None)
            found[op].append((n, bench.measure(words[op], clean, 1 if quick or op in ONCE else 2)))
            for left in bench.folder.glob("out.*"):
                remove(left)
        for left in list(bench.folder.iterdir()):
            remove(left)
    return unit, found


def show(name, unit, found):
    steps = next(iter(found.values()))
    print(f"\n{name}: {unit}" + "".join(f"{n:>24,}" for n, _ in steps))
    marked = []
    for op, series in found.items():
        line = f"  {op:12}"
        for i, (n, (cpu, _, peak)) in enumerate(series):
            line += f"  {cpu / 1e6:8.3f} s {peak / 1024:6.0f} M"
            if i:
                time, slow, memory, fat = judge(series[i - 1], series[i])
                line += f" x{time:4.2f}{'T' if slow else ''}{'M' if fat else ''}"
                if slow or fat:
                    marked.append(f"{name} {op} at {n:,} {unit}: time x{time:.2f}, memory x{memory:.2f}")
        print(line, flush=True)
    return marked


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    ap.add_argument("--quick", action="store_true")
    ap.add_argument("--rows")
    ap.add_argument("--only")
    ap.add_argument("--threads", type=int, default=1)
    ap.add_argument("--folder", type=pathlib.Path)
    ap.add_argument("--json", type=pathlib.Path)
    o = ap.parse_args()
    marked, out = [], {}
    for name in o.rows.split(",") if o.rows else ROWS:
        with tempfile.TemporaryDirectory(dir=o.folder) as folder:
            bench = Bench(o.build.resolve(), pathlib.Path(folder), o.threads)
            unit, found = run_row(bench, name, o.quick, o.only and o.only.split(","))
        marked += show(name, unit, found)
        out[name] = found
    print("\nworse than linear:" if marked else "\nnothing is worse than linear", *marked, sep="\n  ")
    if o.json:
        o.json.write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
