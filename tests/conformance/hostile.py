#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every hostile file ends as the corpus says, and as hostile.golden records: a change is seen. `diff` of it with itself ends as well.

usage: tests/conformance/hostile.py COMMAND [--update]

hostile.golden has a line a case: file, path, the exit status of `cat --to raw`, and the status that the message names or
the digest of the data. --update writes it anew; read its diff as you would a change of behaviour.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CORPUS = pathlib.Path(os.environ.get("CIPPUS_CORPUS") or ROOT.parent / "shared" / "corpus").resolve()
GOLDEN = HERE / "hostile.golden"
FORMATS = {"asdf", "asdf-0.1", "ra", "blosc1-chunk", "blosc2-schunk", "blosc2-schunk-sparse", "b2nd",
           "b2nd-sparse", "bloscpack", "blz-array", "blz-table"}
# Cases that are judged otherwise than hostile.json does, and why.
OVERRULED = {
    # The changed bytes are literals of a valid LZ4 chunk and the stored MD5 is of the changed bytes: nothing in the file is wrong.
    "hostile/asdf/comp_lz4_flip.asdf": "no-crash",
}


def complete_copy(folder):
    """The hostile files with the links and empty folders that the stored corpus leaves out; a complete copy has them."""
    shutil.copytree(CORPUS / "hostile", folder / "hostile", symlinks=True)
    rest = json.loads((CORPUS / "completed-by-copy.json").read_text())
    for name in rest["empty_dirs"]:
        if name.startswith("hostile/"):
            (folder / name).mkdir(parents=True, exist_ok=True)
    for link in rest["links"]:
        if link["link"].startswith("hostile/"):
            path = folder / link["link"]
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.is_symlink():
                path.symlink_to(link["target"])


def run(command, case, folder):
    """(exit status, digest of stdout, stderr, peak memory) or a word for how it went wrong."""
    path = (case.get("arrays") or [{}])[0].get("path", case.get("path") or "")
    argv = [command, "cat", "--to", "raw", str(folder / case["file"])] + ([path] if path else [])
    # The sanitizers' own memory is not the program's; what is held is bounded by the file's limits there.
    limit = max(case["max_rss"], 64 << 20) if "asan" not in os.environ.get("CIP_TEST_BUILD", "") else None
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(case["timeout_s"]) + 1,) * 2))
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = 0
        out.seek(0), err.seek(0)
        digest, text = hashlib.file_digest(out, "sha256").hexdigest(), err.read().decode("utf-8", "replace")
    if os.WIFSIGNALED(status):
        return path, f"ended by signal {os.WTERMSIG(status)}: {text[-400:]}", None, text
    if limit and usage.ru_maxrss * 1024 > limit:
        return path, f"held {usage.ru_maxrss >> 10} MiB, at most {limit >> 20} are allowed", None, text
    return path, os.WEXITSTATUS(status), digest, text


def status_name(text):
    """The status in the last line of an error: "cippus: FILE: corrupt (part): why"; paths that name nothing are told in words."""
    last = text.strip().splitlines()[-1] if text.strip() else ""
    if re.search(r"^cippus: .*?: no (array is named|node) '", last):
        return "not found"
    found = re.search(r"^cippus: .*?: (?!warning|note|damage)([a-z/ ]+?)(?: \(|:)", last)
    return found.group(1) if found else "-"


def judge(case, status, digest, text):
    if not isinstance(status, int):
        return status
    if status not in (0, 3):
        return f"exit status {status}: {text[-400:]}"
    expect = OVERRULED.get(case["file"], case["expect"])
    if expect == "error" and status == 0:
        return "accepted, but must be refused"
    if status == 3 and status_name(text) == "-":
        return f"refused without a clear message: {text[-400:]}"
    if expect == "data" and case.get("arrays"):
        if status != 0:
            return f"refused, but must give its data: {text[-400:]}"
        if digest != case["arrays"][0]["sha256"]:
            return "gave other data"
        if case.get("warning") and "warning" not in text and not case.get("verify"):
            return "no warning"
    return None


def verify_fails(command, case, folder):
    argv = [command, "verify", str(folder / case["file"])]
    return subprocess.run(argv, capture_output=True).returncode in (1, 3)


def diff_of_itself(command, case, folder):
    """None, or how it went wrong: there may be differences, as what cannot be read is none's equal."""
    file = str(folder / case["file"])
    try:
        done = subprocess.run([command, "diff", file, file], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "diff: not done after 60 s"
    return None if done.returncode in (0, 1, 3) else f"diff: status {done.returncode}: {done.stderr[-400:]}"


def one(command, case, folder):
    path, status, digest, text = run(command, case, folder)
    wrong = judge(case, status, digest, text)
    if not wrong and case.get("verify") == "error" and not verify_fails(command, case, folder):
        wrong = "verify finds nothing"
    wrong = wrong or diff_of_itself(command, case, folder)
    name = f"{case['file']} {path or '.'}"
    return name, f"{name} {status} {digest[:16] if status == 0 else status_name(text)}" if digest else name, wrong


def main():
    if not (CORPUS / "hostile.json").exists():
        print(f"skipped: no corpus in {CORPUS}", file=sys.stderr)
        sys.exit(77)
    cases = [c for c in json.loads((CORPUS / "hostile.json").read_text())["files"] if c["format"] in FORMATS]
    golden = set(GOLDEN.read_text().splitlines()) if GOLDEN.exists() else set()
    lines, failed = [], 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complete_copy(pathlib.Path(folder))
        for name, line, wrong in pool.map(lambda c: one(sys.argv[1], c, pathlib.Path(folder)), cases):
            if not wrong and "--update" not in sys.argv and line not in golden:
                wrong = f"not as recorded in hostile.golden: {line}"
            print(f"[ RUN      ] {name}")
            if wrong:
                print(wrong)
            print(f"[  FAILED  ] {name}" if wrong else f"[       OK ] {name}")
            lines.append(line)
            failed += bool(wrong)
    if "--update" in sys.argv:
        GOLDEN.write_text("\n".join(lines) + "\n")
    print(f"{len(cases)} cases, {failed} wrong", file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
