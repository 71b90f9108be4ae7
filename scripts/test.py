#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds and runs all tests, names the skipped and the failed, and ends with one line: `N passed, N failed[, N skipped]`.

usage: scripts/test.py [STEP...]        without STEP: all of them, in order; python while those after it run

Steps: dev (unit, property and command tests, fuzz corpora, with ASan and UBSan), tsan (the tests of
threads), release (command tests on the optimised build), packaging, python (tests/compat and the
scripts' own tests), binding (the Python package, from its wheel), oldest (the same built for the oldest
Python that it supports, where that is installed), counts (instructions of small jobs, against
bench/counts.json), check. Counted are test cases:
those that cmocka, or another runner in its words, names in its output; a program that names none
counts as one.

Only when named: quick, the unit tests of the modules that changed since HEAD, and the command's
tests when it or they changed, built without sanitizers; ALL=1 in the environment: of all modules.

Sweeps try a sample that is drawn by the seed $CIP_SEED; CIP_FULL=1 has them try everything.
"""
import concurrent.futures
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "test-logs"
PYTHON = ROOT / ".venv" / "bin" / "python"
RELEASE = ROOT / "build" / "release"
PROGRAMS = ROOT / "build" / "dev" / "tests"
JOBS = str(os.cpu_count() or 1)
CASE = re.compile(r"^\[ +(RUN|OK|FAILED|SKIPPED) +\] (.*)$")
ASIDE = ("python",)  # runs while the steps after it do: it takes long, and waits often
building = threading.Lock()  # two steps may want the same folder
output_of = threading.local()  # .file: where the thread's output goes, if not to the terminal
pool = concurrent.futures.ThreadPoolExecutor()  # of what runs beside the steps
environment = []  # the making of .venv, once it was begun


class Tally:
    def __init__(self):
        self.passed, self.skipped, self.failures = 0, [], []

    def add(self, state, name, why=""):
        if state == "OK":
            self.passed += 1
        elif state == "SKIPPED":
            self.skipped.append(f"{name}: {why or 'no reason given'}")
        else:
            self.failures.append(name)

    def include(self, other):
        self.passed += other.passed
        self.skipped += other.skipped
        self.failures += other.failures

    def __str__(self):
        text = f"{self.passed} passed, {len(self.failures)} failed"
        return text + (f", {len(self.skipped)} skipped" if self.skipped else "")


def cases(text):
    """(state, name, last words) of each case in a runner's output; one that never ended has failed."""
    running, words = None, ""
    for line in text.splitlines():
        found = CASE.match(line.strip())
        if not found:
            words = line.strip() or words
            continue
        state, name = found.groups()
        if state == "RUN":
            if running:
                yield "FAILED", running, words
            running, words = name, ""
        elif name == running:  # the list of failures at the end names them once more
            yield state, name, words
            running = None
    if running:
        yield "FAILED", running, words


def tally_program(name, output, state):
    """Counts a program's cases; `state` is how it ended as a whole."""
    tally = Tally()
    for case_state, case, words in cases(output):
        tally.add(case_state, f"{name}: {case}", words)
    if state == "FAILED" and not tally.failures:
        tally.add("FAILED", f"{name} (as a whole)")
    elif not (tally.passed or tally.failures or tally.skipped):
        tally.add(state, name, ([line.strip() for line in output.splitlines() if line.strip()] or [""])[-1])
    return tally


def tell(text):
    print(text, end="", file=getattr(output_of, "file", sys.stdout), flush=True)


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
            tell(line)
    status = process.wait()
    output = "".join(lines)
    (LOGS / f"{name}.log").write_text(output)
    if status != 0 and not show:
        tell(output[-20000:] + "\n")
    return status, output


def program(name, command, env=None):
    status, output = run(name, command, env=env)
    return tally_program(name, output, "FAILED" if status else "OK")


def build(preset, *targets):
    for kind, command in (
        ("configure", ["cmake", "--preset", preset]),
        ("build", ["cmake", "--build", "--preset", preset, *(f"--target={t}" for t in targets)]),
    ):
        with building:
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


def ctest(preset, *tests):
    """Runs all tests of a build, or those that the words `tests` of ctest choose."""
    report = LOGS / f"{preset}.xml"
    report.unlink(missing_ok=True)
    size = str(1 << 24)  # the output is kept whole: it names the cases
    sizes = ["--test-output-size-passed", size, "--test-output-size-failed", size]
    command = ["ctest", *(tests or ["--preset", preset]), "-j", JOBS, "--output-junit", report, *sizes]
    status, _ = run(f"{preset}-ctest", command)
    tally = Tally()
    suite = xml.etree.ElementTree.parse(report).getroot() if report.exists() else []
    for case in suite:
        name = f"{preset}/{case.get('name')}"
        tally.include(tally_program(name, case.findtext("system-out") or "", case_state(case)))
    if status != 0 and not tally.failures:
        tally.add("FAILED", f"{preset}: ctest")
    return tally


def built_and_tested(preset):
    tally = build(preset)
    if not tally.failures:
        tally.include(ctest(preset))
    return tally


def command_tests(preset, *parts):
    runner = ROOT / "tests/support/cli_runner.py"
    return program(f"{preset}-cli", [sys.executable, runner, ROOT / "build" / preset / "cippus", *parts])


def step_dev():
    return built_and_tested("dev")


def step_tsan():
    return built_and_tested("tsan")


def step_release():
    tally = build("release")
    if not tally.failures:
        tally.include(command_tests("release"))
        tally.include(all_written())
    return tally


def all_written():
    """The whole list of what is written, of which the sanitizers try a sample; its program is built as a user's would be."""
    script, folder = RELEASE / "write_script", ROOT / "tests/conformance"
    compiler = ["cc", "-std=c17", "-D_GNU_SOURCE", "-Iinclude", folder / "write_script.c", "-o", script]
    status, _ = run("release-write_script", [*compiler, RELEASE / "libcippus.so", f"-Wl,-rpath,{RELEASE}"], show=False)
    if status != 0:
        tally = Tally()
        tally.add("FAILED", "release: write_script")
        return tally
    return program("release-written", [sys.executable, folder / "written.py", RELEASE / "cippus", script])


def step_quick():
    folders, verbs = (["src"], [""]) if os.environ.get("ALL") else affected(changed_files())
    if not folders and not verbs:
        print("nothing that has tests differs from HEAD; ALL=1 runs the units of all modules")
        return Tally()
    tally = build("quick", *(f"{folder}/all" for folder in folders), *(["cippus"] if verbs else []))
    if tally.failures:
        return tally
    for folder in folders:
        tally.include(ctest("quick", "--test-dir", ROOT / "build/quick" / folder, "--output-on-failure"))
    if verbs:
        tally.include(command_tests("quick", *filter(None, verbs)))
    return tally


def step_packaging():
    tally = build("release")
    if not tally.failures:
        tally.include(program("packaging", [ROOT / "tests/packaging/packaging.sh", RELEASE]))
    return tally


def pytest_tally(name, python, folders, env, options=()):
    report = LOGS / f"{name}.xml"
    report.unlink(missing_ok=True)
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *options]
    status, _ = run(name, command + folders, env=env)
    tally = Tally()
    for case in xml.etree.ElementTree.parse(report).iter("testcase") if report.exists() else []:
        bad = case.find("failure") is not None or case.find("error") is not None
        skipped = case.find("skipped")
        case_name = f"{case.get('classname')}.{case.get('name')}"
        why = skipped.get("message", "") if skipped is not None else ""
        if why == "collection skipped":  # of a whole file: the reason is in the text
            why = skipped.text
        tally.add("FAILED" if bad else "OK" if skipped is None else "SKIPPED", case_name, why)
    if status != 0 and not tally.failures:
        tally.add("FAILED", f"{name}: pytest")
    return tally


def make_environment():
    """Begins it where it is not made or under way: mostly waiting for the network, while others compile."""
    if not environment:
        environment.append(pool.submit(run, "setup", [ROOT / "scripts/setup", "python", "browser"], False))
    return environment[0]


def without_environment(name):
    """What failed, where it could not be made."""
    tally = Tally()
    if make_environment().result()[0] != 0:
        tally.add("FAILED", f"{name}: scripts/setup")
    return tally


def step_python():
    tally = without_environment("python")
    tally.include(build("release"))
    tally.include(build("dev", "blosc_decode"))  # what the tests run beside the command
    if tally.failures:
        return tally
    folders = [f for f in ("tests/compat", "tests/support") if (ROOT / f).exists()]
    env = {"CIPPUS": str(RELEASE / "cippus"), "CIPPUS_PROGRAMS": str(PROGRAMS)}
    return pytest_tally("python", PYTHON, folders, env, ["-n", JOBS, "--dist", "loadfile"])


def step_binding():
    """The wheel of the Python package in an environment that has nothing else of this project."""
    folder = ROOT / "build" / "binding"
    wheels, room = folder / "wheels", folder / "env"
    shutil.rmtree(room, ignore_errors=True)
    pip = [PYTHON, "-m", "pip", "--disable-pip-version-check"]
    tally = without_environment("binding")
    if tally.failures:
        return tally
    for name, command in (
        ("wheel", [ROOT / "scripts/wheel.sh", wheels]),
        ("env", [PYTHON, "-m", "venv", "--without-pip", room]),
        ("install", [*pip, "--python", room / "bin/python", "install", "--no-deps", "--no-index", "-f", wheels, "cippus"]),
    ):
        status, _ = run(f"binding-{name}", command, show=False)
        if status != 0:
            tally.add("FAILED", f"binding: {name}")
            return tally
    library = subprocess.check_output([PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True)
    for site in room.glob("lib/python*/site-packages"):  # numpy and the tests' own packages
        (site / "oracles.pth").write_text(library)
    return pytest_tally("binding", room / "bin" / "python", ["bindings/python/tests"], {})


OLDEST = "3.10"
# Tests that need neither the newest numpy nor packages that no longer support that Python.
ON_OLDEST = "assign attrs export fields index keywords read slab store update values verbs words write"


def oldest_python():
    """The path of that Python, with its headers, or None."""
    homes = pathlib.Path.home().glob(f".pyenv/versions/{OLDEST}.*/bin/python{OLDEST}")
    has_headers = "import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path('include') + '/Python.h'))"
    for path in (shutil.which(f"python{OLDEST}"), *homes):
        if path and subprocess.run([path, "-c", has_headers], capture_output=True).returncode == 0:
            return path
    return None


def step_oldest():
    tally, python = Tally(), oldest_python()
    if python is None:
        tally.add("SKIPPED", "oldest", f"no Python {OLDEST} with headers")
        return tally
    room = ROOT / "build" / "oldest" / "env"
    pip = [room / "bin/python", "-m", "pip", "--disable-pip-version-check", "install", "-q"]
    build = ["--no-build-isolation", "--no-deps", "--config-settings", "build-dir=build/oldest/cmake", "."]
    for name, command in (
        ("env", [python, "-m", "venv", room]),
        ("packages", [*pip, "-r", "tests/compat/requirements-oldest.txt"]),
        ("build", [*pip, *build]),
    ):
        status, _ = run(f"oldest-{name}", command, show=False)
        if status != 0:
            tally.add("FAILED", f"oldest: {name}")
            return tally
    tests = [f"bindings/python/tests/test_binding_{name}.py" for name in ON_OLDEST.split()]
    return pytest_tally("oldest", room / "bin/python", tests, {})


def step_counts():
    tally = build("release", "cippus")
    if not tally.failures:
        status, output = run("counts", [sys.executable, ROOT / "bench/counts.py", "--build", RELEASE])
        tally.include(tally_program("counts", output, {0: "OK", 77: "SKIPPED"}.get(status, "FAILED")))
    return tally


def step_check():
    tally = build("release")
    tally.include(program("check", [ROOT / "scripts/check.sh"], env={"BUILD": str(RELEASE)}))
    return tally


def git_lines(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def changed_files():
    return git_lines("diff", "--name-only", "HEAD") + git_lines("ls-files", "--others", "--exclude-standard")


def module_of(file):
    """The folder of src/ or tests/ whose CMakeLists.txt builds the file's tests, or None."""
    for folder in pathlib.PurePosixPath(file).parents:
        if str(folder) in ("src", "tests", "tests/cli", "."):
            return None
        if folder.parts[0] in ("src", "tests") and (ROOT / folder / "CMakeLists.txt").exists():
            return str(folder)
    return None


def including(header):
    """The files that include a header of src/ or tests/ by its name from there."""
    files = [f for f in git_lines("ls-files", "src", "tests") if f.endswith((".c", ".h")) and (ROOT / f).exists()]
    return [f for f in files if f'#include "{header}"' in (ROOT / f).read_text(errors="replace")]


def affected(files):
    """(folders of tests, verbs of the command) that changes of these files may break: a file's own module,
    those that include a changed header, and everything where the build or a public header changed."""
    folders, verbs = set(), set()
    for file in files:
        shared = file.startswith("tests/support/") and file.endswith("_testing.h")
        if not shared and file.startswith(("include/", "cmake/", "tests/support/", "src/CMakeLists")) or "/" not in file and "CMake" in file:
            return ["src"], [""]
        if file.startswith("tools/"):
            verb = re.fullmatch(r"tools/cmd_(\w+)\.c", file)
            verbs.add(f"/{verb[1]}/" if verb else "")
        if file.startswith("tests/cli/"):
            verbs.add(str(pathlib.PurePosixPath(file).with_suffix(".sh")))
        users = [file]
        if shared or file.startswith("src/") and file.endswith(".h"):
            users += including(file.removeprefix("tests/" if shared else "src/"))
        folders |= {module_of(user) for user in users} - {None}
    if "" in verbs:
        verbs = {""}
    return sorted(folders), sorted(verbs)


STEPS = {
    name.removeprefix("step_"): function
    for name, function in list(globals().items())
    if name.startswith("step_")
}
ORDINARY = [name for name in STEPS if name != "quick"]


def step(name):
    try:
        return STEPS[name]()
    except OSError as error:  # a program that is not there
        tally = Tally()
        tally.add("FAILED", f"{name}: {error}")
        return tally


def timed(name, output=None):
    """(seconds, tally) of a step; what it says goes to `output` if that is given."""
    if output is not None:
        output_of.file = output
    tell(f"== {name}\n")
    start = time.monotonic()
    tally = step(name)
    return time.monotonic() - start, tally


def all_timed(names):
    done, aside = {}, {}
    if {"python", "binding"} & set(names):
        make_environment()
    for name in names:
        if name in ASIDE and name != names[-1]:
            output = io.StringIO()
            aside[name] = output, pool.submit(timed, name, output)
        else:
            done[name] = timed(name)
    for name, (output, running) in aside.items():
        done[name] = running.result()
        tell(output.getvalue())
    return [(name, *done[name]) for name in names]


def main():
    chosen = list(dict.fromkeys(sys.argv[1:] or ORDINARY))
    unknown = [name for name in chosen if name not in STEPS]
    if unknown:
        sys.exit(f"unknown step {unknown[0]}; there are: {' '.join(STEPS)}")
    total, summary = Tally(), []
    for name, seconds, tally in all_timed(chosen):
        summary.append(f"{name:<10} {seconds:6.0f} s  {tally}")
        total.include(tally)
    print("== summary")
    print(*summary, sep="\n")
    for name in total.skipped:
        print(f"skipped: {name}")
    for name in total.failures:
        print(f"failed: {name}")
    print(total, flush=True)
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
