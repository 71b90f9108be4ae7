#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Updates of every file of the corpus: what was not changed stays as it was, and what is refused stays whole.

usage: tests/conformance/updates.py COMMAND DIGEST_PROGRAM corpus|hostile

Each file gets some of the updates, in turn (CIP_SEED says which); with CIP_FULL=1 every one.

corpus: after `set`, a `set` that needs room, `rm`, `defrag` and `convert` to ASDF (files of 0.1 also to 0.1.0, with an encoding
chain, exploded and imploded) every array still has its digest of manifest.json.
hostile: every update ends with exit status 0, 2 or 3; where it is not 0 the file keeps each byte and nothing lies beside it, and
where it is 0 the array that could be read before reads the same.
"""
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

import corpus
import hostile
from corpus import effort

# Trees in which nothing can be set, and why.
REFUSED = {
    "asdf/hand/root_list.asdf": "the root is no mapping",
    "generated/asdf01/enc_unknown.asdf": "an array with an unknown encoding is not converted",
}
OWN = threading.local()


def run(command, verb, *words):
    done = subprocess.run([command, verb, "--durability", "process", *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120)
    return done.returncode, done.stderr.decode("utf-8", "replace")[-300:]


def beside(source, folder):
    """A copy of the file, with the small ones beside it that belong to it."""
    folder.mkdir(parents=True)
    for other in source.parent.glob(source.stem.split("_")[0] + "*"):
        if other != source and other.is_file() and other.stat().st_size < 1 << 20:
            shutil.copy(other, folder / other.name)
    for other in source.parent.iterdir():
        if other.is_dir() and len(list(other.iterdir())) < 4:
            shutil.copytree(other, folder / other.name, symlinks=True)
    return pathlib.Path(shutil.copy(source, folder / source.name))


def differing(digests, file, entry):
    for a in entry["arrays"]:
        found = digests.ask(str(file), a["path"])
        if found != a["sha256"] and not found.startswith("! unsupported"):
            yield f"{a['path']}: {found}"


def is_part(entry, words, text):
    """Whether `defrag` keeps its hands off blocks that no array of the file names, as other files may read them."""
    return words[0] == "defrag" and not entry["arrays"] and "other files may read these blocks" in text


def of_corpus(command, program, entry, folder, turn):
    """What is wrong, and how many updates were made."""
    file, n = beside(corpus.CORPUS / entry["file"], folder), 0
    if not hasattr(OWN, "digests"):
        OWN.digests = corpus.Digests(program)
    steps = [["set", file, "cippus_test", "{a: 1}"], ["set", "--string", file, "cippus_test/b", "x" * 9000],
             ["rm", file, "cippus_test/b"], ["defrag", file], ["convert", file, folder / "out.asdf"]]
    if entry["format"] == "asdf-0.1":
        steps += [["convert", "--standard", "0.1.0", "--overwrite", file, folder / "out.asdf"],
                  ["convert", "--encode", "[[tile, {shape: [3]}], zlib]", "--overwrite", file, folder / "out.asdf"],
                  ["explode", file, folder / "apart.asdf"], ["implode", folder / "apart.asdf", folder / "whole.asdf"]]
    for words in steps if effort.FULL else [steps[:3], [steps[0], steps[3]], [steps[0], *steps[4:]]][(turn + effort.SEED) % 3]:
        status, text = run(command, *words)
        if words[0] == "convert" and "hint: --no-check" in text:  # some real files were written with wrong sums
            status, text = run(command, words[0], "--no-check", *words[1:])
        if status != 0 and (entry["file"] in REFUSED or is_part(entry, words, text)):
            continue
        if status != 0:
            return f"{words[0]}: exit status {status}: {text}", n
        made = words[0] in ("convert", "explode", "implode")
        wrong = list(differing(OWN.digests, words[-1] if made else file, entry))
        if wrong:
            return f"after {words[0]}: {wrong[:3]}", n
        n += 1
    return None, n


def state(file):
    """Of a file its bytes, of a folder each name in it with what it is."""
    if not file.is_dir():
        return file.read_bytes()
    return {str(p.relative_to(file)): os.readlink(p) if p.is_symlink() else p.read_bytes() if p.is_file() else None
            for p in sorted(file.rglob("*"))}


def of_hostile(command, entry, folder, turn):
    n = 0
    path = (entry.get("arrays") or [{}])[0].get("path", entry.get("path") or "")
    source = folder.parent.parent / "from" / entry["file"]
    zeros = folder.parent / f"{folder.name}.raw"
    zeros.write_bytes(bytes(4096))
    node = "attributes/cippus_test" if entry["format"].startswith("blz") else "cippus_test"
    for i, words in enumerate([["set", "FILE", node, "1"], ["rm", "FILE", path or "a"], ["put", "FILE", path, "[0:1]", zeros],
                               ["append", "FILE", path, zeros], ["resize", "FILE", path, "3"], ["finish", "FILE"], ["defrag", "FILE"]]):
        if not effort.FULL and (i + turn + effort.SEED) % 7 > 1:
            continue
        if source.is_dir():
            file = pathlib.Path(shutil.copytree(source, folder / str(i) / source.name, symlinks=True))
        else:
            file = beside(source, folder / str(i))
        old, names = state(file), sorted(os.listdir(file.parent))
        status, text = run(command, *[file if w == "FILE" else w for w in words])
        if status not in (0, 2, 3):
            return f"{words[0]}: exit status {status}: {text}", n
        if sorted(os.listdir(file.parent)) != names:
            return f"{words[0]} left {sorted(set(os.listdir(file.parent)) - set(names))}", n
        if status != 0 and state(file) != old:
            return f"{words[0]} was refused and changed the file", n
        if status == 0 and words[0] in ("set", "finish", "defrag"):
            before = subprocess.run([command, "cat", "--to", "raw", source, *([path] if path else [])], capture_output=True)
            after = subprocess.run([command, "cat", "--to", "raw", file, *([path] if path else [])], capture_output=True)
            if before.returncode == 0 and (after.returncode, after.stdout) != (0, before.stdout):
                return f"{words[0]} changed an array: {after.stderr[-200:]}", n
        n += 1
    return None, n


def main():
    command, program, what = sys.argv[1:4]
    name = "manifest.json" if what == "corpus" else "hostile.json"
    if not (corpus.CORPUS / name).exists():
        print(f"skipped: no corpus in {corpus.CORPUS}", file=sys.stderr)
        sys.exit(77)
    entries = [e for e in json.loads((corpus.CORPUS / name).read_text())["files"]
               if e["format"] in ("asdf", "asdf-0.1") or (what == "hostile" and e["format"] in ("ra", "blz-array", "blz-table"))]
    entries = [e for e in entries if "peer-cannot-read" not in e.get("features", [])]
    failed = updates = 0
    with tempfile.TemporaryDirectory() as top, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        top = pathlib.Path(top)
        if what == "hostile":
            (top / "from").mkdir()
            hostile.complete_copy(top / "from")
        (top / "to").mkdir()

        def one(i):
            folder = top / "to" / str(i)
            try:
                if what == "corpus":
                    return of_corpus(command, program, entries[i], folder, i)
                return of_hostile(command, entries[i], folder, i)
            except (OSError, subprocess.TimeoutExpired) as e:
                return repr(e), 0
            finally:
                shutil.rmtree(folder, ignore_errors=True)

        for entry, (wrong, n) in zip(entries, pool.map(one, range(len(entries)))):
            print(f"[ RUN      ] {entry['file']}")
            print(f"{wrong}\n[  FAILED  ] {entry['file']}" if wrong else f"[       OK ] {entry['file']}")
            failed, updates = failed + bool(wrong), updates + n
    print(f"{len(entries)} files, {updates} updates, {failed} files wrong", file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
