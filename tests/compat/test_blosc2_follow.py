# SPDX-License-Identifier: BSD-3-Clause
"""cat --follow on frames that grow under it, by our appends and by python-blosc2's."""
import subprocess
import sys
import time

import blosc2
import numpy as np
import pytest

COLUMNS, STEPS = 50, 40

APPENDER = """
import sys, time, numpy as np, blosc2
path, locking, columns = sys.argv[1], sys.argv[2] == "True", int(sys.argv[3])
a = blosc2.open(path, mode="a", locking=locking)
rng = np.random.default_rng(int(sys.argv[5]))
n = a.shape[0]
for i in range(int(sys.argv[4])):
    more = int(rng.integers(1, 9))
    if locking:
        with a.holding_lock():
            a.resize((n + more, columns))
            a[n:] = np.arange(n, n + more)[:, None] + np.zeros((more, columns), "i8")
    else:
        new = np.arange(n, n + more)[:, None] + np.zeros((more, columns), "i8")
        a.resize((n + more, columns))
        a[n:] = new
    n += more
    time.sleep(0.02)
print(n)
"""


def start(path, contiguous, locking):
    blosc2.asarray(np.zeros((1, COLUMNS), "<i8"), chunks=(7, COLUMNS), blocks=(2, 16), urlpath=str(path), mode="w",
                   contiguous=contiguous, locking=locking)


class Follower:
    def __init__(self, cippus, path, out):
        self.out = out
        self.process = subprocess.Popen([cippus.path, "cat", "--follow", "--to", "raw", str(path)], stdout=open(out, "wb"),
                                        stderr=subprocess.PIPE)

    def rows(self):
        return np.frombuffer(self.out.read_bytes(), "<i8")

    def until(self, n):
        end = time.monotonic() + 60
        while len(self.rows()) < n * COLUMNS and time.monotonic() < end and self.process.poll() is None:
            time.sleep(0.05)
        time.sleep(0.5)  # no more may come
        running = self.process.poll() is None
        self.process.kill()
        assert running, self.process.stderr.read().decode()
        return self.rows().reshape(-1, COLUMNS)


@pytest.mark.parametrize("contiguous", [True, False], ids=["contiguous", "sparse"])
def test_rows_that_a_locking_writer_appends(cippus, tmp_path, contiguous):
    """Every row once, in order, and none before it is whole."""
    path = tmp_path / "x.b2nd"
    start(path, contiguous, True)
    follower = Follower(cippus, path, tmp_path / "out")
    done = subprocess.run([sys.executable, "-c", APPENDER, path, "True", str(COLUMNS), str(STEPS), "1"], capture_output=True)
    assert done.returncode == 0, done.stderr
    n = int(done.stdout)
    got = follower.until(n)
    assert (got == np.arange(n)[:, None]).all() and len(got) == n


@pytest.mark.parametrize("contiguous", [True, False], ids=["contiguous", "sparse"])
def test_a_writer_without_locks_does_not_end_it(cippus, tmp_path, contiguous):
    """It destroys the index for an instant in each step, and rows are zeros until they are written: both are states that
    others see; but the follower goes on, and tells of as many rows as there are in the end."""
    path = tmp_path / "x.b2nd"
    start(path, contiguous, False)
    follower = Follower(cippus, path, tmp_path / "out")
    done = subprocess.run([sys.executable, "-c", APPENDER, path, "False", str(COLUMNS), str(STEPS), "2"], capture_output=True)
    assert done.returncode == 0, done.stderr
    n = int(done.stdout)
    got = follower.until(n)
    assert len(got) == n
    assert ((got == np.arange(n)[:, None]) | (got == 0)).all()


@pytest.mark.parametrize("locking", [True, False])
def test_rows_that_cippus_appends(cippus, tmp_path, locking):
    path, new = tmp_path / "x.b2nd", tmp_path / "new.npy"
    start(path, True, locking)
    follower = Follower(cippus, path, tmp_path / "out")
    for i in range(1, 16):
        np.save(new, np.full((1, COLUMNS), i))
        cippus.run("append", "--wait", "20", "--durability", "process", path, new)
    got = follower.until(16)
    assert (got == np.arange(16)[:, None]).all()


def test_what_stays_damaged_ends_it(cippus, tmp_path):
    path = tmp_path / "x.b2nd"
    start(path, True, False)
    follower = Follower(cippus, path, tmp_path / "out")
    end = time.monotonic() + 30
    while len(follower.rows()) < COLUMNS and time.monotonic() < end:
        time.sleep(0.05)
    with open(path, "r+b") as f:
        f.seek(200)
        f.write(bytes(300))
    assert follower.process.wait(timeout=60) == 3
    assert b"x.b2nd" in follower.process.stderr.read()
