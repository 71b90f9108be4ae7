#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is written stays the same, byte for byte: a digest of the files of each case, compared with written.txt.

usage: tests/conformance/written.py COMMAND WRITE_SCRIPT [--update] [--only TEXT] [--keep FOLDER]

A case is a few calls of the API (written_cases.py, through write_script.c) or of the command (written_commands.py) in a folder
of its own. Its line in written.txt: name, digest of all that is in the folder, what was refused. Part of the cases run with 4
threads too, part through callbacks and into memory (the same bytes). --update writes the list anew; --only runs the cases with this in their names; --keep leaves the files there.

The version of cippus in a file counts for nothing. Compressed bytes are the codec library's: the list's head says which
versions made it, and cases of codecs that have another version here are left out.
$CIP_WRITTEN_WITHOUT names codecs and cases (with * and ?) that are left out: liblz4 gives other bytes on big-endian machines, and so
does libzstd for some data.
With sanitizers (CIP_TEST_BUILD=asan) a sample is tried, drawn by CIP_SEED; CIP_FULL=1 tries all.
"""
import concurrent.futures
import fnmatch
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import effort  # noqa: E402
import written_cases  # noqa: E402
import written_commands  # noqa: E402

LIST = HERE / "written.txt"
SOFTWARE = re.compile(rb"(name: cippus,\s+version: )[^,}\s]+")
CODEC_OF = {"bls2": "zstd", "zlib": "zlib", "bzp2": "bzip2", "lz4": "lz4", "lz4f": "lz4f", "zstd": "zstd"}
TAKE_THREADS = ("create", "edit", "convert")


def versions(command):
    """What the bytes depend on: codec -> its library's version; and how long the version of cippus is, which moves what
    follows it."""
    text = subprocess.run([command, "--version"], check=True, capture_output=True, text=True).stdout
    found = dict(re.findall(r"(\w+) \(([^)]*)\)", re.search(r"^codecs: (.*)$", text, re.M).group(1)))
    out = {codec: found.get(codec, "none") for codec in CODEC_OF.values()}
    return {"cippus": f"a version of {len(text.split()[1])} characters", **out}


def codecs_of(name):
    return {CODEC_OF[c] for c in re.findall(r"bls2|zlib|bzp2|lz4f|lz4|zstd", name)}


def digest(folder):
    h = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        data = b"" if file.is_dir() else SOFTWARE.sub(rb"\1?", file.read_bytes())
        h.update(f"{file.relative_to(folder)} {len(data)}\n".encode() + data)
    return h.hexdigest()[:16]


def result(folder, refused):
    """The rest of a case's line; its folder goes."""
    text = f"{digest(folder)} {refused}".rstrip()
    if "--keep" not in sys.argv:
        shutil.rmtree(folder)
    return text


# --- the two ways to write -----------------------------------------------------------------------

def run_scripts(program, todo):
    """[(case, folder, lines, threads)] in one process -> (case, result)"""
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for case, folder, lines, threads in todo:
        how = [f"threads={threads}"] if isinstance(threads, int) else [f"into={threads}", "threads=1"]
        words = [["case", str(folder)], *(x + how if x[0] in TAKE_THREADS else x for x in lines), ["end"]]
        try:
            process.stdin.write("".join("\t".join(w) + "\n" for w in words))
            process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = process.stdout.readline()
        if not answer:
            yield case, f"crashed with status {process.wait()}"
            return
        yield case, result(folder, answer.strip().removeprefix("ok"))
    process.stdin.close()
    if process.wait() != 0:
        yield todo[-1][0], f"crashed at its end with status {process.returncode}"


def run_commands(command, top, folder, steps, threads):
    folder.mkdir()
    refused = []
    environment = {**os.environ, "VISUAL": "sed -i s/old/edited/", "LC_ALL": "C"}
    for verb, *words in steps:
        words = [re.sub(r"^(<?)@(.*)$", rf"\1{top}/in/\2.npy", w) for w in words]
        words = [re.sub(r"^(<?)\+(.*)$", rf"\1{top}/in/\2", w) for w in words]
        if verb == "link":
            os.link(folder / words[0], folder / words[1])
            continue
        stdin = next((pathlib.Path(w[1:]).read_bytes() for w in words if w[0] == "<"), b"")
        argv = [command, verb, "--threads", str(threads), "--durability", "process", *(w for w in words if w[0] != "<")]
        done = subprocess.run(argv, input=stdin, capture_output=True, cwd=folder, env=environment, timeout=300)
        if done.stdout and words[-1] == "-":
            (folder / "stdout").write_bytes(done.stdout)
        if done.returncode != 0 and not refused:
            refused.append(f"{verb}:{done.returncode}")
    return result(folder, " ".join(refused))


# --- all of them ---------------------------------------------------------------------------------

def make_inputs(top, scripts, commands):
    (top / "in").mkdir()
    words = " ".join(w for _, _, lines, _ in scripts for line in lines for w in line)
    words += " ".join(f"in/{w.lstrip('<')[1:]}.npy" for _, _, steps, _ in commands for step in steps for w in step if re.match("<?@", w))
    for name in set(re.findall(r"in/([^ ]+)\.npy", words)):
        (top / "in" / f"{name}.npy").write_bytes(written_cases.npy(name))
    for name, data in written_commands.TEXTS.items():
        (top / "in" / name).write_bytes(data)


INTO = {3: "store", 6: "memory"}


def has_a_name(line):
    """One that memory can have."""
    return line[0] != "create" or ("." in line[1] and "/" not in line[1])


def chosen(here, there):
    """Names of cases to run with their lines, and those left out."""
    scripts, commands, left = [], [], []
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    without = set(os.environ.get("CIP_WRITTEN_WITHOUT", "").split())
    for kind, cases in ((scripts, written_cases.cases()), (commands, ((n, s, i % 16 == 5) for i, (n, s) in enumerate(written_commands.commands())))):
        for name, lines, threaded in cases:
            if only not in name:
                continue
            if any(fnmatch.fnmatchcase(name, w) for w in without) or any(c in without or here[c] != there.get(c, here[c]) for c in codecs_of(name)):
                left.append(name)
                continue
            kind.append((name, name, lines, 1))
            if threaded:
                kind.append((name, f"{name} (4 threads)", lines, 4))
            into = INTO.get(len(kind) % 8) if kind is scripts and not re.search("blz|bcolz|zarr|/sparse/", name) else None  # a folder is no file
            if into == "store" or (into and all(has_a_name(line) for line in lines)):
                kind.append((name, f"{name} (into {into})", lines, into))
    if os.environ.get("CIP_TEST_BUILD") == "asan":
        scripts, commands = effort.sample(scripts, 600), effort.sample(commands, 60)
    return scripts, commands, left


def run_all(top, scripts, commands):
    """(name in the list, case, result) of each."""
    program, jobs = sys.argv[2], max(2, os.cpu_count() or 2)
    todo = [((name, case), top / f"s{i}", lines, threads) for i, (name, case, lines, threads) in enumerate(scripts)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        parts = [pool.submit(lambda part: list(run_scripts(program, part)), todo[k::2 * jobs]) for k in range(2 * jobs) if todo[k::2 * jobs]]
        runs = [(name, case, pool.submit(run_commands, sys.argv[1], top, top / f"c{i}", steps, threads))
                for i, (name, case, steps, threads) in enumerate(commands)]
        found = [(*case, text) for part in parts for case, text in part.result()]
        return found + [(name, case, run.result()) for name, case, run in runs]


def read_list():
    head, golden = {}, {}
    for line in LIST.read_text().splitlines() if LIST.exists() else []:
        name, _, rest = line.partition("\t")
        if line.startswith("# "):
            head[name[2:]] = rest
        else:
            golden[name] = rest
    return head, golden


def write_list(here, found):
    lines = {name: text for name, _, text in found}
    LIST.write_text("".join(f"# {k}\t{v}\n" for k, v in here.items()) + "".join(f"{k}\t{v}\n" for k, v in sorted(lines.items())))


def compare(found, golden):
    failed = 0
    for name, case, text in found:
        print(f"[ RUN      ] {case}")
        if golden.get(name) != text:
            print(f"expected {golden.get(name, 'no such case')}, found {text}\n[  FAILED  ] {case}")
            failed += 1
        else:
            print(f"[       OK ] {case}")
    return failed


def main():
    update = "--update" in sys.argv
    sys.argv[1:3] = (os.path.abspath(program) for program in sys.argv[1:3])
    here = versions(sys.argv[1])
    there, golden = ({}, {}) if update else read_list()
    if there.get("cippus", here["cippus"]) != here["cippus"]:
        print(f"skipped: files have {here['cippus']}, the list was made with {there['cippus']}: --update", file=sys.stderr)
        sys.exit(77)
    scripts, commands, left = chosen(here, there)
    folder = sys.argv[sys.argv.index("--keep") + 1] if "--keep" in sys.argv else tempfile.mkdtemp()
    top = pathlib.Path(folder).resolve()
    top.mkdir(exist_ok=True)
    try:
        make_inputs(top, scripts, commands)
        found = run_all(top, scripts, commands)
    finally:
        if "--keep" not in sys.argv:
            shutil.rmtree(top)
    if update:
        write_list(here, found)
        golden = read_list()[1]  # so that 4 threads are compared with one
    failed = compare(found, golden)
    complete = len(found) == len(scripts) + len(commands)
    known = {name for name, _, _ in found} | set(left)
    gone = [] if "--only" in sys.argv or os.environ.get("CIP_TEST_BUILD") == "asan" else sorted(set(golden) - known)
    for name in gone:
        print(f"{name}: in the list, but no case\n[  FAILED  ] {name}")
    for codec in sorted({c for c in CODEC_OF.values() if here[c] != there.get(c, here[c])}):
        print(f"{codec}: left out, {here[codec]} here and {there[codec]} in the list", file=sys.stderr)
    print(f"{len(known) - len(left)} cases, {len(found)} runs, {failed + len(gone)} wrong, {len(left)} left out"
          f"{'' if complete else '; NOT ALL WERE RUN'}", file=sys.stderr)
    sys.exit(1 if failed or gone or not complete else 0)


if __name__ == "__main__":
    main()
