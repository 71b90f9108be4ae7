# SPDX-License-Identifier: BSD-3-Clause
"""What the compat tests share: the command under test ($CIPPUS), and arrays through it."""
import io
import os
import pathlib
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
