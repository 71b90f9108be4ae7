# SPDX-License-Identifier: BSD-3-Clause
"""python-blosc2's lock files (locking=True): honoured, never made, never taken for what they are not."""
import os
import pathlib
import signal
import subprocess
import sys
import time

import blosc2
import numpy as np
import pytest

ROWS, COLUMNS = 60, 40
BUSY = 3


def frame(path, contiguous=True, locking=True, rows=ROWS):
    a = np.zeros((rows, COLUMNS), "<i8")
    blosc2.asarray(a, chunks=(7, COLUMNS), blocks=(2, 16), urlpath=str(path), mode="w", contiguous=contiguous,
                   locking=locking)
    return a


def lock_of(path):
    path = pathlib.Path(path)
    return path / ".b2lock" if path.is_dir() else path.with_name(path.name + ".b2lock")


def count_of(path):
    return int.from_bytes(lock_of(path).read_bytes()[8:16], sys.byteorder)


def python(code, *words):
    return subprocess.Popen([sys.executable, "-c", "import sys, time, numpy as np, blosc2\n" + code, *map(str, words)],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)


HOLDER = """
a = blosc2.open(sys.argv[1], mode="a", locking=True)
with a.holding_lock():
    print("held", flush=True)
    sys.stdin.read()
"""


class Holder:
    def __init__(self, path):
        self.process = python(HOLDER, path)
        assert self.process.stdout.readline() == b"held\n"

    def end(self):
        self.process.communicate()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()


@pytest.fixture(params=["contiguous", "sparse"])
def path(request, tmp_path):
    p = tmp_path / "x.b2nd"
    frame(p, request.param == "contiguous")
    return p


def rows_file(tmp_path, n, value):
    new = tmp_path / f"rows{value}.npy"
    np.save(new, np.full((n, COLUMNS), value, "<i8"))
    return new


def replace(cippus, tmp_path, path, value, *words, status=0):
    """The whole frame anew, over the old one."""
    sparse = ["--sparse"] if path.is_dir() else []
    return cippus.run("convert", "--overwrite", rows_file(tmp_path, ROWS, value), path, *sparse, *words, status=status)


def test_a_lock_that_is_held_is_busy(cippus, tmp_path, path):
    before = count_of(path)
    holder = Holder(path)
    replace(cippus, tmp_path, path, 1, status=BUSY)
    cippus.run("cat", path, status=BUSY)
    holder.end()
    assert count_of(path) == before + 1  # the holder's
    assert (cippus.array(path) == 0).all()
    replace(cippus, tmp_path, path, 1)
    assert count_of(path) == before + 2
    assert (cippus.array(path) == 1).all()


def test_an_update_waits_for_the_lock(cippus, tmp_path):
    path = tmp_path / "x.b2nd"
    frame(path)
    new = rows_file(tmp_path, 3, 7)
    holder = Holder(path)
    cippus.run("append", path, new, status=BUSY)
    waiting = subprocess.Popen([cippus.path, "append", "--wait", "60", str(path), str(new)])
    time.sleep(0.7)
    assert waiting.poll() is None
    holder.end()
    assert waiting.wait() == 0
    a = blosc2.open(str(path), mode="r")
    assert a.shape == (ROWS + 3, COLUMNS) and (a[ROWS:] == 7).all()


def test_the_lock_of_who_was_killed_is_no_obstacle(cippus, tmp_path, path):
    Holder(path).kill()
    assert (cippus.array(path) == 0).all()
    replace(cippus, tmp_path, path, 1)
    assert (cippus.array(path) == 1).all()


def test_none_is_made(cippus, tmp_path):
    for contiguous in True, False:
        path = tmp_path / f"{contiguous}.b2nd"
        frame(path, contiguous, locking=False)
        cippus.run("cat", path)
        replace(cippus, tmp_path, path, 1)
        assert not lock_of(path).exists()


def test_a_reader_of_python_sees_our_change(cippus, tmp_path):
    """Also one that leaves the frame as long as it was: that is what the count is for."""
    path = tmp_path / "x.b2nd"
    frame(path)
    reader = blosc2.open(str(path), mode="r", locking=True)
    assert (reader[:] == 0).all()
    for value in 1, 2, 3:
        before = count_of(path)
        cippus.run("put", path, ".", "[0:60]", rows_file(tmp_path, ROWS, value))
        assert count_of(path) == before + 1
        assert (reader[:] == value).all()
    cippus.run("append", path, rows_file(tmp_path, 10, 9))
    assert (reader[:ROWS] == 3).all()
    reader.refresh()
    assert reader.shape == (ROWS + 10, COLUMNS) and (reader[ROWS:] == 9).all()


WRITER = """
a = blosc2.open(sys.argv[1], mode="a", locking=True)
rng = np.random.default_rng(int(sys.argv[3]))
for i in range(1, int(sys.argv[2]) + 1):
    with a.holding_lock():
        a[:] = i
        a.schunk.vlmeta["step"] = "x" * int(rng.integers(1, 300))
"""


def test_nothing_torn_is_read_while_python_writes(cippus, path):
    """Every read is of one state, or BUSY."""
    writer = python(WRITER, path, 300, 1)
    reads = busy = 0
    while writer.poll() is None or reads == 0:
        done = subprocess.run([cippus.path, "cat", "--to", "raw", path], capture_output=True)
        if done.returncode == 0:
            a = np.frombuffer(done.stdout, "<i8")
            assert a.size == ROWS * COLUMNS and (a == a[0]).all()
            reads += 1
        else:
            assert done.returncode == BUSY and b": busy" in done.stderr, done.stderr
            busy += 1
    writer.communicate()
    assert writer.returncode == 0
    print(reads, "reads,", busy, "busy")


READER = """
a = blosc2.open(sys.argv[1], mode="r", locking=True)
held = sys.argv[3] == "held"
n = 0
while True:
    if held:
        with a.holding_lock():
            got = a[:]
        time.sleep(0.02)  # holding it counts as a change: a writer needs time without one
    else:
        got = a[:]
    for part in [got] if held else [got[i:i + 7] for i in range(0, len(got), 7)]:
        assert (part == part.flat[0]).all(), got
    n += 1
    if (got == int(sys.argv[2])).all():
        break
print(n)
"""


@pytest.mark.parametrize("how", ["chunks", "held"])
def test_python_reads_nothing_torn_while_we_write(cippus, tmp_path, how):
    """Each chunk is of one state, and under holding_lock() the whole array. Without it python-blosc2 locks for each chunk alone."""
    path = tmp_path / "x.b2nd"
    frame(path)
    reader = python(READER, path, 25, how)
    for value in range(1, 26):
        put = [cippus.path, "put", "--wait", "20", "--durability", "process", path, ".", "[0:60]", rows_file(tmp_path, ROWS, value)]
        for _ in range(200):
            done = subprocess.run(put, capture_output=True)
            if done.returncode == 0:
                break
            assert done.returncode == BUSY and b": busy" in done.stderr, done.stderr
        assert done.returncode == 0
    out, _ = reader.communicate(timeout=60)
    assert reader.returncode == 0 and int(out) > 0


APPENDER = """
a = blosc2.open(sys.argv[1], mode="a", locking=True)
for i in range(int(sys.argv[2])):
    with a.holding_lock():
        n = a.shape[0]
        a.resize((n + 1, a.shape[1]))
        a[n:] = 1000 + i
    time.sleep(0.002)
"""


def test_two_writers_lose_nothing(cippus, tmp_path):
    path, n = tmp_path / "x.b2nd", 40
    frame(path, rows=1)
    other = python(APPENDER, path, n)
    for i in range(n):
        new = rows_file(tmp_path, 1, i + 1)
        for _ in range(100):
            done = subprocess.run([cippus.path, "append", "--wait", "20", "--durability", "process", str(path), str(new)],
                                  capture_output=True)
            if done.returncode == 0:
                break
            assert b": busy" in done.stderr, done.stderr
        assert done.returncode == 0
    other.communicate(timeout=120)
    assert other.returncode == 0
    a = blosc2.open(str(path), mode="r")[:]
    assert (a == a[:, :1]).all()
    assert [v for v in a[:, 0] if 0 < v < 1000] == list(range(1, n + 1))
    assert [v for v in a[:, 0] if v >= 1000] == list(range(1000, 1000 + n))
    assert (cippus.array(path) == a).all()


def make_link(lock, victim):
    lock.symlink_to(victim)


def make_second_name(lock, victim):
    os.link(victim, lock)


def make_fifo(lock, victim):
    os.mkfifo(lock)


def make_folder(lock, victim):
    lock.mkdir()


def make_huge(lock, victim):
    with open(lock, "wb") as f:
        f.truncate(1 << 40)


@pytest.mark.parametrize("make", [make_link, make_second_name, make_fifo, make_folder, make_huge])
def test_what_is_no_lock_file_is_left_alone(cippus, tmp_path, path, make):
    lock, victim = lock_of(path), tmp_path / "victim"
    victim.write_bytes(bytes(range(32)))
    lock.unlink()
    make(lock, victim)
    done = subprocess.run([cippus.path, "cat", "--to", "raw", path], capture_output=True, timeout=20)
    assert done.returncode == 0 and b"it is ignored" in done.stderr
    new = rows_file(tmp_path, ROWS, 1)
    words = ["--sparse"] if path.is_dir() else []
    done = subprocess.run([cippus.path, "convert", "--overwrite", new, path, *words], capture_output=True, timeout=20)
    assert done.returncode == 3 and b"expected a lock file" in done.stderr
    assert victim.read_bytes() == bytes(range(32))
    assert (cippus.array(path) == 0).all()
    if not path.is_dir():
        cippus.run("append", path, new, status=3)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable for root")
def test_a_lock_file_that_may_not_be_opened(cippus, tmp_path, path):
    lock_of(path).chmod(0)
    assert (cippus.array(path) == 0).all()
    replace(cippus, tmp_path, path, 1, status=3)
