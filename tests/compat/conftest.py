# SPDX-License-Identifier: BSD-3-Clause
"""What the compat tests share: the command under test ($CIPPUS), and arrays through it."""
import io
import os
import pathlib
import select
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Command:
    def __init__(self, path):
        self.path = path

    def run(self, *words, status=0):
        done = subprocess.run([self.path, *map(str, words)], capture_output=True)
        assert done.returncode == status, done.stderr.decode()
        return done.stdout

    def array(self, file, path="", *words):
        """An array of a file, by way of npy."""
        out = self.run("cat", "--to", "npy", file, *([path] if path else []), *words)
        return np.load(io.BytesIO(out))


@pytest.fixture(scope="session")
def cippus():
    path = os.environ.get("CIPPUS") or str(ROOT / "build" / "release" / "cippus")
    assert os.access(path, os.X_OK), f"no command in {path}"
    return Command(path)


@pytest.fixture
def rng():
    return np.random.default_rng(20261121)


class Script:
    """The library in one process that goes on (tests/conformance/write_script.c), for thousands of small files."""

    def __init__(self, folder):
        program = pathlib.Path(os.environ.get("CIPPUS_PROGRAMS") or ROOT / "build" / "dev" / "tests") / "write_script"
        assert program.exists(), f"no program {program}"
        self.folder = folder
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder)

    def send(self, *lines):
        self.process.stdin.write("".join("\t".join(str(w) if str(w) else "." for w in words) + "\n" for words in [*lines, ("end",)]))
        self.process.stdin.flush()

    def answered(self):
        return bool(select.select([self.process.stdout], [], [], 0)[0])

    def answer(self):
        """ "ok", or the first call that was refused."""
        return self.process.stdout.readline().strip()

    def run(self, *lines):
        self.send(*lines)
        return self.answer()

    def bytes(self, name, path=""):
        """An array's elements, little-endian and packed."""
        assert self.run(("read", name, path, "read.raw")) == "ok"
        return (self.folder / "read.raw").read_bytes()

    def close(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


@pytest.fixture
def script(tmp_path):
    s = Script(tmp_path)
    yield s
    s.close()
