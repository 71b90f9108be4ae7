#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every array of the corpus's manifest decodes to its digest; a case a file.

usage: tests/conformance/corpus.py DIGEST_PROGRAM [--table]

Formats that this build does not read yet are left out by FORMATS below. --table prints the counts by feature.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))
import effort  # noqa: E402

CORPUS = pathlib.Path(os.environ.get("CIPPUS_CORPUS") or ROOT.parent / "shared" / "corpus").resolve()
FORMATS = {"asdf", "asdf-0.1", "ra", "blosc1-chunk", "blosc2-schunk", "blosc2-schunk-sparse", "b2nd",
           "b2nd-sparse", "blosc2-chunk", "blosc2-vlblocks", "blosc2-vlchunks", "bloscpack", "blz-array",
           "blz-table"}

# Lazy arrays: the manifest has the zeros of chunks that nobody wrote; the values are computed from other files.
REFUSED = {f"blosc2/real/legacy_{kind}_v1/expr.b2nd" for kind in ("lazyexpr", "lazyudf")}

# bcolz and blz misread their own stored chunks of snappy and shuffle, and the manifest has what they read; the files hold
# what those of every other codec hold.
MISREAD = {f"generated/{writer}/codec_snappy_sh1_l5": f"generated/{writer}/codec_lz4_sh1_l5" for writer in ("bcolz", "blz")}


class Digests:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words):
        self.process.stdin.write("\t".join(words) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")


def check(digests, entry):
    """What is wrong with the file's arrays, a line each."""
    file = str(CORPUS / entry["file"])
    for a in entry["arrays"]:
        found = digests.ask(file, a["path"])
        if entry["file"] in REFUSED:
            if not found.startswith("! unsupported"):
                yield f"{a['path']}: expected it to be refused, found {found or 'a crash'}"
        elif found.startswith("! ") or a["sha256"] not in (None, found):  # None: any content will do
            yield f"{a['path']}: expected {a['sha256']}, found {found or 'a crash'}"
        if "mask_sha256" in a:
            found = digests.ask(file, a["path"], "mask")
            if found != a["mask_sha256"]:
                yield f"{a['path']}: mask: expected {a['mask_sha256']}, found {found or 'a crash'}"


def main():
    if not (CORPUS / "manifest.json").exists():
        print(f"skipped: no corpus in {CORPUS}", file=sys.stderr)
        sys.exit(77)
    entries = json.loads((CORPUS / "manifest.json").read_text())["files"]
    arrays_of = {entry["file"]: entry["arrays"] for entry in entries}
    digests = Digests(sys.argv[1])
    failed, files, arrays, features = 0, 0, 0, collections.Counter()
    for entry in entries:
        if entry["format"] not in FORMATS or "peer-cannot-read" in entry["features"]:
            continue
        if entry["file"] in MISREAD:
            entry = dict(entry, arrays=arrays_of[MISREAD[entry["file"]]])
        print(f"[ RUN      ] {entry['file']}")
        wrong = list(check(digests, entry))
        print("\n".join(wrong), end="\n" if wrong else "")
        print(f"[  FAILED  ] {entry['file']}" if wrong else f"[       OK ] {entry['file']}")
        failed += bool(wrong)
        files += 1
        arrays += len(entry["arrays"])
        if not wrong:
            features.update(entry["features"])
    digests.process.stdin.close()
    status = digests.process.wait()
    if "--table" in sys.argv:
        for name, n in sorted(features.items()):
            print(f"{name:30} {n}")
    print(f"{files} files, {arrays} arrays, {failed} files wrong; the reader's status {status}", file=sys.stderr)
    sys.exit(1 if failed or status else 0)


if __name__ == "__main__":
    main()
