#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times each row's contenders in turn, round after round; prints the best of each and the ratios.

usage: bench/run.py --build build/release [--before DIR] [--rows tree,small,...] [--rounds 7] [--scale 1.0] [--cpu] [--json FILE]
                    [--quick] [--tmpfs]

With --before, the contenders are this build and that of an earlier commit, in the folder DIR. --quick is --rounds 3 --scale .125:
less than five minutes. --tmpfs has all files in memory, so that no disk takes part.
"""
import argparse
import datetime
import functools
import importlib.util
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
from importlib import metadata

HERE = pathlib.Path(__file__).resolve().parent
PEERS = ("asdf", "blosc2", "bloscpack", "h5py", "hdf5plugin", "zarr", "zarrs", "tensorstore", "astropy", "fitsio", "rapidgzip", "indexed_bzip2", "numpy")
NONE = 2**64 - 1  # a contender that gives nothing to compare
RATIOS = "theirs / ours of the bests and, of each round's, the median"
WAS = {f"cippus-{n}": f"before-{n}" for n in (1, 2)}

# row: file, what it is, contenders of ours, rounds of the peer (it is slow)
ROWS = {
    "tree": ("tree", "open and list a tree of 222,000 nodes", ["cippus-1"], 2),
    "small": ("small", "open and read a small array", ["cippus-1"], 20),
    "view": ("raw", "1 GiB raw: view and sum", ["cippus-1"], 2),
    "copy": ("raw", "1 GiB raw: copy out", ["cippus-1", "cippus-2"], 2),
    "copy-checked": ("raw", "1 GiB raw: copy out, compared with its MD5 before", ["cippus-1", "cippus-2"], 1),
    "md5": ("raw", "1 GiB raw: verify its MD5", ["cippus-1"], 1),
    "swap": ("swap", "256 MiB big-endian float64 to native", ["cippus-1", "cippus-2"], 2),
    "window-raw": ("raw", "100 x 100 window of 1 GiB raw", ["cippus-1"], 5),
    "window-lz4": ("lz4", "100 x 100 window of 1 GiB lz4, cold", ["cippus-1", "cippus-2"], 2),
    "later-lz4": ("lz4", "another one (bare, peer: cold)", ["cippus-1", "cippus-2"], 2),
    "window-zlib": ("window-zlib", "100 x 100 window of 1 GiB zlib, cold (bare: zlib to its end)", ["cippus-1", "cippus-2"], 1),
    "later-zlib": ("window-zlib", "another one (bare, peer: cold; stored: bytes of checkpoints)", ["cippus-1", "cippus-2"], 1),
    "window-bzp2": ("window-bzp2", "100 x 100 window of 64 MiB bzp2, cold (bare: libbz2 to its end)", ["cippus-1", "cippus-2"], 1),
    "later-bzp2": ("window-bzp2", "another one (bare, peer: cold; stored: bytes of checkpoints)", ["cippus-1", "cippus-2"], 1),
    "zlib": ("zlib", "decode 256 MiB zlib", ["cippus-1"], 1),
    "bzp2": ("bzp2", "decode 64 MiB bzp2", ["cippus-1", "cippus-2"], 1),
    "lz4": ("lz4", "decode 1 GiB lz4", ["cippus-1", "cippus-2"], 1),
    "write": ("raw", "write 1 GiB raw, no checksum (the peer: with), no sync", ["cippus-1"], 2),
    "write-md5": ("raw", "write 1 GiB raw with MD5, no sync", ["cippus-1", "cippus-2"], 2),
    "set": ("raw", "one value in the tree of a 1 GiB file, level process", ["cippus-1"], 2),
    "set-power": ("raw", "the same, level power (the peer does not sync)", ["cippus-1"], 1),
    "append": ("small", "1000 rows of 400 bytes to a stream, one by one", ["cippus-1"], 5),
}
WRITES = {"zlib": "64 MiB", "lz4": "256 MiB", "bzp2": "16 MiB"}
for codec, size in WRITES.items():
    for kind in ("f4q", "i2", "i8"):
        text = f"compress {size} of {kind} with {codec} into a file (bare: one thread)"
        ROWS[f"{codec}-{kind}"] = (kind, text, ["cippus-1", "cippus-2"], 1)


class Worker:
    def __init__(self, argv):
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if len(answer) not in (2, 3):
            sys.exit(f"bench: no answer to {words}")
        return [int(x) for x in answer]


BLOSCPACK = [(codec, checksum) for codec in ("blosclz:7", "lz4:5", "zstd:1") for checksum in ("none", "adler32")]


def writes(row):
    return row.startswith("pack/") or row in ("write", "write-md5", "set", "set-power", "append") or row.split("-")[0] in WRITES and "-" in row


def run_row(row, asks, check, rounds):
    """asks: for each contender what runs a turn of it, and its rounds; check: what the peer wrote."""
    results, stored, times = set(), {}, {name: [] for name in asks}
    for name, (ask, _) in asks.items():  # a first turn each: warms up and compares
        answer = ask()
        results.add(answer[1])
        if name == "peer" and writes(row):
            answer = check()
            results.add(answer[1])
        stored[name] = answer[2] if len(answer) > 2 else 0
    results.discard(NONE)
    if row != "tree" and len(results) > 1:  # the peer counts other things in the tree
        sys.exit(f"bench: {row}: the contenders' results differ: {results}")
    for i in range(rounds):  # there and back: who comes first may pay for the others
        for name, (ask, most) in list(asks.items())[:: 1 if i % 2 == 0 else -1]:
            if i < most:
                times[name].append(ask()[0])
    return {name: {"best": min(t), "runs": sorted(t), "stored": stored[name]} for name, t in times.items()}


def show(row, text, found):
    print(f"\n{row}: {text}")
    for name, f in found.items():
        mid = f["runs"][len(f["runs"]) // 2]
        line = f"  {name:10} best {f['best'] / 1e6:10.3f} ms  median {mid / 1e6:10.3f} ms"
        if "bare" in found:
            line += f"  x bare {f['best'] / found['bare']['best']:7.3f}  peer / it {found['peer']['best'] / f['best']:8.2f}"
        elif WAS.get(name) in found:
            line += f"  before / it {found[WAS[name]]['best'] / f['best']:6.3f}"
        elif "peer" in found:
            line += f"  peer / it {found['peer']['best'] / f['best']:8.2f}"
        print(line + (f"  stored {f['stored']}" if f["stored"] else ""), flush=True)


def blosc2_lines(build, o, what, words, rounds):
    """One process for all rows, it interleaves them itself against the library of the Python package. Its lines."""
    library = pathlib.Path(importlib.util.find_spec("blosc2").origin).parent / "lib" / "libblosc2.so"
    argv = [build.resolve() / "bench_worker", what, library, rounds, *words]
    done = subprocess.run(list(map(str, argv)), stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"bench: {what} failed")
    return done.stdout.splitlines()


def run_kernels(o, files):
    """The kernels of filters and casts at each level of vector instructions, by bench_kernels."""
    library = pathlib.Path(importlib.util.find_spec("blosc2").origin).parent / "lib" / "libblosc2.so"
    print("\nkernels: filters and casts in cache and in memory, GB/s at each level of vector instructions; ratios of the last level's time")
    done = subprocess.run([o.build.resolve() / "bench_kernels", "all", library], stdout=subprocess.PIPE, text=True, check=True)
    out, memcpy = {}, {}
    for line in done.stdout.splitlines():
        name, width, size, levels = re.match(r"(.+?) +(\d+) +(\d+)((?:  \S+ [\d.]+)+)", line).groups()
        rates = {level: float(rate) for level, rate in re.findall(r"(\S+) ([\d.]+)", levels)}
        peer = rates.pop("c-blosc2", None)
        ours = list(rates.values())[-1]  # the level that is used
        memcpy.setdefault(size, ours)
        ratios = f"  memcpy {memcpy[size]} / it {ours / memcpy[size]:5.2f}" + (f"  c-blosc2 {peer} / it {ours / peer:5.2f}" if peer else "")
        print(f"  {name:15} {width:>2} {size:>8}" + "".join(f"  {level} {rate:5.1f}" for level, rate in rates.items()) + ratios, flush=True)
        out[f"{name} {width} {size}"] = rates | ({"c-blosc2": peer} if peer else {})
    return out


def better(a, b):
    """Of two runs' lines: the lower of each number."""
    pairs = [list(zip(x.split(), y.split())) for x, y in zip(a, b)]
    return [" ".join(str(min(int(x), int(y))) if x.isdigit() else x for x, y in line) for line in pairs]


def against_blosc2(o, what, *words):
    """The lines of a run. With --before, of runs of both builds in turn: its numbers stand in the library's place."""
    if o.before is None:
        return blosc2_lines(o.build, o, what, words, o.rounds)
    best = {}
    for i in range(o.rounds):
        for build in (o.build, o.before):
            lines = blosc2_lines(build, o, what, words, 2)
            best[build] = better(best.get(build, lines), lines)
    out = ["the build before"]
    for now, before in list(zip(best[o.build], best[o.before]))[1:]:
        words, was = now.split(), before.split()
        first = 4 if what in ("blosc", "b2nd-write") else 2  # NAME BYTES and what both store, then ours, theirs, ratio
        for i in range(first, len(words), 3):
            words[i + 1 : i + 3] = was[i], int(1000 * int(was[i]) / max(int(words[i]), 1))
        out.append(" ".join(map(str, words)))
    return out


def pairs(numbers):
    """[ours, theirs, median of theirs / ours] of each pair of contenders."""
    return [[int(a), int(b), int(ratio) / 1000] for a, b, ratio in zip(*[iter(numbers)] * 3)]


def pair_text(pair):
    ours, theirs, median = pair
    return f"{ours / 1e6:9.3f} {theirs / 1e6:9.3f} {theirs / ours:6.2f} {median:6.2f}"


def run_blosc(o, files):
    """Chunks of Blosc."""
    words = [max(1 << 22, int((16 << 20) * o.scale))]
    for kind, typesize in (("f4q", 4), ("i2", 2)):
        words += [kind, typesize, files[kind].resolve()]
    version, *lines = against_blosc2(o, "blosc", *words)
    print(f"\nblosc: 2 MiB chunks at level 5, one thread, against {version}; MB/s, ours, theirs, {RATIOS}")
    print(f"  {'':22} {'ratio':>13}  {'encode':>24}  {'decode theirs':>24}  {'decode ours':>24}")
    out = {}
    for line in lines:
        name, raw, ours, theirs, *ns = line.split()
        raw = int(raw)
        encode, theirs_decoded, ours_decoded = pairs(ns)
        text = "  ".join(f"{raw / a * 1e3:6.0f} {raw / b * 1e3:6.0f} {b / a:5.2f} {m:5.2f}" for a, b, m in pairs(ns))
        print(f"  {name:22} {raw / int(ours):6.3f} {raw / int(theirs):6.3f}  {text}")
        stored = {"raw": raw, "stored": [int(ours), int(theirs)]}
        out[name] = stored | {"encode": encode, "decode_theirs": theirs_decoded, "decode_ours": ours_decoded}
    return out


B2ND = {
    "open": "open and close",
    "read": "read all",
    "windows": "200 windows of 100 x 100 (a frame: slices as long)",
    "points": "1000 points in one call",
    "elements": "1000 elements one by one",
    "rows": "20 whole rows",
    "columns": "20 whole columns",
}


def run_b2nd(o, files):
    """b2nd arrays and a frame; one array in our default shapes and in the peer's."""
    paths = {k: str(f.resolve()) for k, f in files["blosc2"].items()}
    mine = files["raw"].resolve().with_suffix(".b2nd")
    convert = [o.build.resolve() / "cippus", "convert", "--overwrite", files["raw"].resolve(), mine, "--codec", "zstd:5"]
    subprocess.run(convert, check=True, stdout=subprocess.DEVNULL)
    paths["each-its-own"] = f"{mine}={paths['default-zstd-5']}"
    version, *lines = against_blosc2(o, "b2nd", *paths.values())
    print(f"\nb2nd: whole files against {version}; ms, ours, theirs, {RATIOS}")
    print("".join(f"  {name}: {text}\n" for name, text in B2ND.items()), end="")
    print(f"  each-its-own: zstd-5 in our default shapes, {mine.stat().st_size} bytes, and in the peer's, {files['blosc2']['default-zstd-5'].stat().st_size}")
    out = {}
    for line in lines:
        name, *words = line.split()
        if name == "file":
            stem = next(k for k, f in paths.items() if f == words[0])
            continue
        nbytes, *ns = words
        found = {f"{t}t": pair for t, pair in enumerate(pairs(ns), 1) if pair[0]}
        text = "  ".join(f"{t}: {pair_text(pair)}" for t, pair in found.items())
        print(f"  {stem:15} {int(nbytes) >> 20:5d} MiB {name:9} {text}")
        out[f"{stem}-{name}"] = found
    mine.unlink()
    return out


def run_b2nd_write(o, files):
    """New b2nd arrays."""
    version, *lines = against_blosc2(o, "b2nd-write", files["raw"].resolve())
    print(f"\nb2nd-write: new .b2nd files, chunks of 1024 x 1024, blocks of 128 x 128, no sync, against {version}; ms, ours, theirs, {RATIOS}")
    out = {}
    for line in lines:
        name, nbytes, ours, theirs, *ns = line.split()
        found = {f"{t}t": pair for t, pair in enumerate(pairs(ns), 1)}
        text = "  ".join(f"{t}: {pair_text(pair)}" for t, pair in found.items())
        print(f"  {name:15} {int(nbytes) >> 20:5d} MiB  stored {ours} {theirs}  {text}")
        out[name] = {"stored": [int(ours), int(theirs)]} | found
    return out


def run_b2nd_update(o, files):
    """b2nd arrays that change."""
    version, *lines = against_blosc2(o, "b2nd-update", files["raw"].resolve())
    print(f"\nb2nd-update: 16 MiB in lz4 chunks of 1 MiB, against {version}; ms a step, ours, theirs, {RATIOS}; the same of ours at level power")
    out = {}
    for line in lines:
        name, _, *ns = line.split()
        process, power = pairs(ns)
        print(f"  {name:11} {pair_text(process)}   power {pair_text(power)}")
        out[name] = {"process": process, "power": power}
    return out


def peak(*argv):
    """Runs a command: the most memory that it held, MiB. By a small process: a child counts what its parent held, too."""
    run = "import resource as r, subprocess as s, sys; s.run(sys.argv[1:], check=True); print(r.getrusage(r.RUSAGE_CHILDREN).ru_maxrss)"
    done = subprocess.run([sys.executable, "-c", run, *map(str, argv)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"bench: {done.stderr}")
    return int(done.stdout) >> 10


def run_bloscpack(o, files, ours):
    """Files of bloscpack against the package, a folder of bcolz against python-blosc reading it as bcolz does."""
    before = o.before is not None
    peer = Worker([o.before.resolve() / "bench_worker"] if before else [sys.executable, HERE / "peer_bloscpack.py"])
    out, source = {}, files["f4q"].resolve()
    size = source.stat().st_size >> 20

    def run(row, what, path):
        turn = lambda worker, *words: lambda: worker.ask(row, *words)
        asks = {name: (turn(ours, name, path), o.rounds) for name in ("cippus-1", "cippus-2")}
        if before:
            asks |= {WAS[name]: (turn(peer, f"cippus-{name[-1]}", path), o.rounds) for name in list(asks)}
        else:
            asks["peer"] = (turn(peer, path), o.rounds)
        out[what] = run_row(row, asks, turn(ours, "check", path), o.rounds)
        show(what, f"{row.split('/')[0]} {size} MiB", out[what])

    for codec, checksum in BLOSCPACK:
        run(f"pack/{codec}/{checksum}", f"bloscpack-pack {codec} {checksum}", source)
        written = source.with_name(source.name + (".cippus-1.blp" if before else ".peer.blp"))
        run("unpack", f"bloscpack-unpack {codec} {checksum}", written)
        if (codec, checksum) == ("lz4:5", "adler32"):
            run("points", f"bloscpack-points {codec} {checksum}", written)
            cippus, npy = o.build.resolve() / "cippus", source.with_suffix(".npy")
            there = peak(cippus, "convert", "--overwrite", "--threads", 2, source, written)
            back = peak(cippus, "convert", "--overwrite", "--threads", 2, written, npy)
            print(f"  cippus convert on 2 threads held {there} MiB packing {size} MiB, {back} MiB unpacking them")
            npy.unlink()
    run("pack/lz4:5/folder", "bcolz-write lz4:5", source)
    folder = source.with_name(source.name + (".cippus-1.bcolz" if before else ".peer.bcolz"))
    run("unpack", "bcolz-read", folder)
    run("points", "bcolz-points", folder)
    for left in source.parent.glob(f"{source.name}.*"):
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    return out


PYTHON = {
    "python-open": ("a leaf of a tree of 222,000 nodes, and files of 8 x 8 float32: open, read, close", 512),
    "python-read": ("64 MiB of float32 opened and read whole", 4096),
    "python-slices": ("16 MiB opened, then 200 windows of 100 x 100, 1000 elements one by one, 1000 in one call, 50 lines", 2048),
    "python-write": ("16 MiB into a new file, not synced", 2048),
    "python-archives": ("64 MiB of float32 in HDF5, Zarr, FITS and npz opened and read whole; a table of 80 MiB", 4096),
    "python-archives-parts": ("16 MiB of them opened, then 200 windows of 100 x 100; of a table of 20 MiB 200 times 100 rows, a column", 2048),
    "python-archives-write": ("16 MiB into a new file of these formats, and 1,000 arrays of 100 elements, not synced", 2048),
    "python-streams": ("64 MiB of float32 in one compressed stream: opened and read whole; opened, then 20 windows of 100 x 100", 4096),
    "python-cube": ("the array of zarrs' benchmark, 1024^3 of 16 bits, chunks of 256^3 in blocks of 64^3: whole, chunk by chunk", 1024),
}


def run_python(row, o, files):
    """Our Python package against others, in one process for each number of threads."""
    text, side = PYTHON[row]
    side = max(512, int(side * o.scale))
    print(f"\n{row}: {text}; ms: ours, then of each other {RATIOS}")
    out = {}
    for threads in ((1,) if row == "python-open" else (1, 2)):
        argv = [HERE / "bench_python.py", row, o.data.resolve() / "python", files["tree"].resolve(), o.rounds, threads, side]
        env = {**os.environ, "BLOSC_NTHREADS": str(threads)}  # HDF5's filter of Blosc asks for it
        with subprocess.Popen([sys.executable, *map(str, argv)], stdout=subprocess.PIPE, text=True, env=env) as process:
            for line in process.stdout:
                name, best, medians = json.loads(line)
                ours = best.pop("cippus")
                text = "".join(f"  {who} {ns / 1e6:9.3f} {ns / ours:6.2f} {medians[who]:6.2f}" for who, ns in best.items())
                print(f"  {threads}t {name:21} {ours / 1e6:9.3f}{text}", flush=True)
                out[f"{name} {threads}t"] = {"cippus": ours, **best, "medians": medians}
        if process.returncode != 0:
            sys.exit(f"bench: {row} failed")
    return out


def machine():
    """The processor's name and how many of them there are."""
    names = [line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores"


def disk(folder):
    """The kind of file system that a folder lies on, and what is free there."""
    found = subprocess.run(["df", "--output=fstype,avail", "-h", folder], capture_output=True, text=True).stdout.split()
    return f"{found[-2]}, {found[-1]} free" if len(found) > 2 else "an unknown file system"


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--build", type=pathlib.Path, required=True)
    ap.add_argument("--before", type=pathlib.Path)
    ap.add_argument("--rows", default=",".join([*ROWS, "blosc", "b2nd", "b2nd-write", "b2nd-update", "bloscpack", "kernels", *PYTHON]))
    ap.add_argument("--rounds", type=int, default=7)
    ap.add_argument("--scale", type=float, default=1.0)
    ap.add_argument("--json", type=pathlib.Path)
    ap.add_argument("--quick", action="store_true", help="--rounds 3 --scale .125")
    ap.add_argument("--tmpfs", action="store_true", help="files in /dev/shm")
    ap.add_argument("--cpu", action="store_true", help="rows blosc, b2nd* and python-*: processor time in place of the clock's")
    o = ap.parse_args()
    if o.quick:
        o.rounds, o.scale = 3, 0.125
    o.data = pathlib.Path("/dev/shm/cippus-bench") if o.tmpfs else o.build / "bench-data"
    if o.cpu:
        os.environ["BENCH_CPU"] = "1"
    sys.path.insert(0, str(HERE))
    import make_data

    files = make_data.make(o.data, o.scale)
    c = Worker([o.build.resolve() / "bench_worker"])
    other = [sys.executable, HERE / "peer_asdf.py"] if o.before is None else [o.before.resolve() / "bench_worker"]
    peer = Worker(other)
    version = subprocess.run([o.build.resolve() / "cippus", "--version"], capture_output=True, text=True)
    print(version.stdout.strip())
    print(f"{machine()}, Python {platform.python_version()}; best of {o.rounds} interleaved rounds; scale {o.scale}")
    print(f"files on {disk(o.data)}; read from the page cache; nothing is synced but by set-power")
    print(", ".join(f"{name} {metadata.version(name)}" for name in PEERS))
    runs = {"blosc": run_blosc, "b2nd": run_b2nd, "b2nd-write": run_b2nd_write, "b2nd-update": run_b2nd_update, "kernels": run_kernels}
    runs["bloscpack"] = lambda o, files: run_bloscpack(o, files, c)
    runs |= {row: functools.partial(run_python, row) for row in PYTHON}
    out = {}
    for row in o.rows.split(","):
        if row in runs:
            out[row] = runs[row](o, files)
            continue
        file, text, ours, peer_rounds = ROWS[row]
        path = files[file].resolve()
        rounds = o.rounds * 20 if row in ("small", "window-raw") else o.rounds
        turn = lambda worker, *words: lambda: worker.ask(row, *words)
        asks = {name: (turn(c, name, path), rounds) for name in ours}
        if o.before is not None:
            asks |= {WAS[name]: (turn(peer, name, path), rounds) for name in ours}
        else:
            asks |= {"bare": (turn(c, "bare", path), rounds), "peer": (turn(peer, path), peer_rounds)}
        out[row] = run_row(row, asks, turn(c, "check", path), rounds)
        show(row, text, out[row])
        for left in files[file].parent.glob(f"{files[file].name}.{row}.*.asdf"):
            left.unlink()
    if o.json:
        about = {"version": version.stdout.split()[1], "date": str(datetime.date.today()), "machine": machine(), "scale": o.scale, "rounds": o.rounds, "cpu": o.cpu}
        o.json.write_text(json.dumps({"about": about} | out, indent=1) + "\n")


if __name__ == "__main__":
    main()
