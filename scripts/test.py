#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds and runs all tests, and ends with one line: `N passed, N failed[, N skipped]`.

usage: scripts/test.py [STEP...]        without STEP: all of them, in order

Steps: dev (unit, property and command tests, fuzz corpora, with ASan and UBSan), tsan (the tests of
threads), release (command tests on the optimised build), packaging, python (tests/compat and the
scripts' own tests), check. Counted are test cases: those that cmocka, or another runner in its
words, names in its output; a program that names none counts as one.
"""
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "test-logs"
PYTHON = ROOT / ".venv" / "bin" / "python"
RELEASE = ROOT / "build" / "release"
PROGRAMS = ROOT / "build" / "dev" / "tests"
JOBS = str(os.cpu_count() or 1)
CASE = re.compile(r"^\[ +(RUN|OK|FAILED|SKIPPED) +\] (.*)$")


class Tally:
    def __init__(self):
        self.passed, self.skipped, self.failures = 0, 0, []

    def add(self, state, name):
        if state == "OK":
            self.passed += 1
        elif state == "SKIPPED":
            self.skipped += 1
        else:
            self.failures.append(name)

    def include(self, other):
        self.passed += other.passed
        self.skipped += other.skipped
        self.failures += other.failures

    def __str__(self):
        text = f"{self.passed} passed, {len(self.failures)} failed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")


def cases(text):
    """(state, name) of each case in a runner's output; one that never ended has failed."""
    running = None
    for line in text.splitlines():
        found = CASE.match(line.strip())
        if not found:
            continue
        state, name = found.groups()
        if state == "RUN":
            if running:
                yield "FAILED", running
            running = name
        elif name == running:  # the list of failures at the end names them once more
            yield state, name
            running = None
    if running:
        yield "FAILED", running


def tally_program(name, output, state):
    """Counts a program's cases; `state` is how it ended as a whole."""
    tally = Tally()
    for case_state, case in cases(output):
        tally.add(case_state, f"{name}: {case}")
    if state == "FAILED" and not tally.failures:
        tally.add("FAILED", f"{name} (as a whole)")
    elif not (tally.passed or tally.failures or tally.skipped):
        tally.add(state, name)
    return tally


def run(name, command, show=True, env=None):
    """(exit status, output) of a command; shown while it runs, or only when it failed."""
    LOGS.mkdir(parents=True, exist_ok=True)
    lines = []
    process = subprocess.Popen(
        [str(word) for word in command],
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    for line in process.stdout:
        lines.append(line)
        if show:
            print(line, end="", flush=True)
    status = process.wait()
    output = "".join(lines)
    (LOGS / f"{name}.log").write_text(output)
    if status != 0 and not show:
        print(output[-20000:], flush=True)
    return status, output


def program(name, command, env=None):
    status, output = run(name, command, env=env)
    return tally_program(name, output, "FAILED" if status else "OK")


def build(preset, *targets):
    for kind, command in (
        ("configure", ["cmake", "--preset", preset]),
        ("build", ["cmake", "--build", "--preset", preset, *(f"--target={t}" for t in targets)]),
    ):
        status, _ = run(f"{preset}-{kind}", command, show=False)
        if status != 0:
            tally = Tally()
            tally.add("FAILED", f"{preset}: {kind}")
            return tally
    return Tally()


def case_state(case):
    if case.find("failure") is not None or case.get("status") == "fail":
        return "FAILED"
    return "OK" if case.get("status") == "run" else "SKIPPED"


def ctest(preset):
    tally = build(preset)
    if tally.failures:
        return tally
    report = LOGS / f"{preset}.xml"
    report.unlink(missing_ok=True)
    size = str(1 << 24)  # the output is kept whole: it names the cases
    sizes = ["--test-output-size-passed", size, "--test-output-size-failed", size]
    command = ["ctest", "--preset", preset, "-j", JOBS, "--output-junit", report, *sizes]
    status, _ = run(f"{preset}-ctest", command)
    suite = xml.etree.ElementTree.parse(report).getroot() if report.exists() else []
    for case in suite:
        name = f"{preset}/{case.get('name')}"
        tally.include(tally_program(name, case.findtext("system-out") or "", case_state(case)))
    if status != 0 and not tally.failures:
        tally.add("FAILED", f"{preset}: ctest")
    return tally


def step_dev():
    return ctest("dev")


def step_tsan():
    return ctest("tsan")


def step_release():
    tally = build("release")
    if not tally.failures:
        runner = ROOT / "tests/support/cli_runner.py"
        tally.include(program("release-cli", [sys.executable, runner, RELEASE / "cippus"]))
    return tally


def step_packaging():
    tally = build("release")
    if not tally.failures:
        tally.include(program("packaging", [ROOT / "tests/packaging/packaging.sh", RELEASE]))
    return tally


def step_python():
    tally = build("release")
    tally.include(build("dev", "blosc_decode"))  # what the tests run beside the command
    if tally.failures:
        return tally
    report = LOGS / "python.xml"
    report.unlink(missing_ok=True)
    folders = [f for f in ("tests/compat", "tests/support") if (ROOT / f).exists()]
    command = [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
    status, _ = run("python", command + folders, env={"CIPPUS": str(RELEASE / "cippus"), "CIPPUS_PROGRAMS": str(PROGRAMS)})
    for case in xml.etree.ElementTree.parse(report).iter("testcase") if report.exists() else []:
        bad = case.find("failure") is not None or case.find("error") is not None
        skipped = case.find("skipped") is not None
        name = f"{case.get('classname')}.{case.get('name')}"
        tally.add("FAILED" if bad else "SKIPPED" if skipped else "OK", name)
    if status != 0 and not tally.failures:
        tally.add("FAILED", "pytest")
    return tally


def step_check():
    tally = build("release")
    tally.include(program("check", [ROOT / "scripts/check.sh"], env={"BUILD": str(RELEASE)}))
    return tally


STEPS = {
    name.removeprefix("step_"): function
    for name, function in list(globals().items())
    if name.startswith("step_")
}


def step(name):
    try:
        return STEPS[name]()
    except OSError as error:  # a program that is not there
        tally = Tally()
        tally.add("FAILED", f"{name}: {error}")
        return tally


def main():
    chosen = sys.argv[1:] or list(STEPS)
    unknown = [name for name in chosen if name not in STEPS]
    if unknown:
        sys.exit(f"unknown step {unknown[0]}; there are: {' '.join(STEPS)}")
    total, summary = Tally(), []
    for name in chosen:
        print(f"== {name}", flush=True)
        start = time.monotonic()
        tally = step(name)
        summary.append(f"{name:<10} {time.monotonic() - start:6.0f} s  {tally}")
        total.include(tally)
    print("== summary")
    print(*summary, sep="\n")
    for name in total.failures:
        print(f"failed: {name}")
    print(total, flush=True)
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
