#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of the command: tests/cli/<verb>/<name>.sh.

usage: tests/support/cli_runner.py [--update] BINARY [PART...]

Each script runs by `sh -eu` in an empty folder of its own, where `cippus` is BINARY and these are set:
SAMPLES and CORPUS (folders; CORPUS is empty where there is no corpus), ROOT (the project's). Beside
it may stand <name>.out and <name>.err, what the streams must be byte by byte, and <name>.exit, the
exit status (0 without it). Status 77 skips. PART: run only scripts whose path contains it.
--update writes .out and .err anew where they exist, and .out where none of the two does.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TIMEOUT = 1200 if os.environ.get("CIP_FULL") else 120
MARK = {"OK": "[       OK ]", "FAILED": "[  FAILED  ]", "SKIPPED": "[  SKIPPED ]"}  # as cmocka


def corpus():
    folder = pathlib.Path(os.environ.get("CIPPUS_CORPUS") or ROOT.parent / "shared" / "corpus").resolve()
    return str(folder) if (folder / "manifest.json").exists() else ""


def environment(binary, folder):
    bin_folder = folder / ".bin"
    bin_folder.mkdir()
    (bin_folder / "cippus").symlink_to(binary)
    env = {k: v for k, v in os.environ.items() if k in ("CIP_FULL", "CIP_SEED") or not k.startswith(("LC_", "CIP_"))}
    env.update(
        PATH=f"{bin_folder}:{env['PATH']}",
        LC_ALL="C.UTF-8",
        ROOT=str(ROOT),
        SAMPLES=str(ROOT / "samples"),
        CORPUS=corpus(),
    )
    return env


def differences(script, done, update):
    """What of the result is not as the files beside the script say, a text for each."""
    streams = [(script.with_suffix(s), d) for s, d in ((".out", done.stdout), (".err", done.stderr))]
    if update and not any(file.exists() for file, _ in streams):
        streams[0][0].touch()
    for file, found in streams:
        if not file.exists():
            continue
        if update:
            file.write_bytes(found)
        elif found != file.read_bytes():
            yield f"{file.name}: expected\n{file.read_text()}found\n{found.decode(errors='replace')}"
    exit_file = script.with_suffix(".exit")
    status = int(exit_file.read_text()) if exit_file.exists() else 0
    if done.returncode != status:
        text = done.stderr.decode(errors="replace")
        yield f"expected exit status {status}, found {done.returncode}; stderr:\n{text}"


def run(script, binary, update):
    """('OK' | 'FAILED' | 'SKIPPED', words)."""
    with tempfile.TemporaryDirectory(prefix="cippus-cli-") as name:
        folder = pathlib.Path(name)
        env = environment(binary, folder)
        work = folder / "work"
        work.mkdir()
        try:
            done = subprocess.run(
                ["sh", "-eu", str(script)],
                cwd=work,
                env=env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=TIMEOUT,
            )
        except subprocess.TimeoutExpired:
            return "FAILED", f"not done after {TIMEOUT} s"
        if done.returncode == 77:
            return "SKIPPED", done.stderr.decode(errors="replace")
        found = list(differences(script, done, update))
        return ("FAILED", "\n".join(found)) if found else ("OK", "")


def main():
    args = sys.argv[1:]
    update = "--update" in args
    args = [a for a in args if a != "--update"]
    if not args:
        sys.exit(__doc__)
    binary, parts = pathlib.Path(args[0]).resolve(), args[1:]
    scripts = sorted((ROOT / "tests/cli").glob("*/*.sh"))
    scripts = [s for s in scripts if not parts or any(p in str(s) for p in parts)]
    failed = False
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda s: run(s, binary, update), scripts)
        for script, (state, words) in zip(scripts, results):
            name = "cli/" + script.relative_to(ROOT / "tests/cli").with_suffix("").as_posix()
            print(f"[ RUN      ] {name}", *filter(None, [words]), f"{MARK[state]} {name}", sep="\n")
            failed = failed or state == "FAILED"
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
