# SPDX-License-Identifier: BSD-3-Clause
"""Blosc2 frames that others use at the same time: writers of ours, a reader of python-blosc2's while we write and the reverse;
and disks that are full."""
import pathlib
import resource
import signal
import subprocess
import sys

import blosc2
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from effort import FULL  # noqa: E402

ROUNDS = 1000 if FULL else 60


def make(cippus, tmp_path, a, *words):
    np.save(tmp_path / "in.npy", a)
    cippus.run("convert", tmp_path / "in.npy", tmp_path / "a.b2nd", *words)
    return tmp_path / "a.b2nd"


def by_python(path):
    return blosc2.open(str(path), mode="r")[...]


def test_several_writers_take_turns(cippus, tmp_path):
    path = make(cippus, tmp_path, np.zeros((0, 50), "<i4"), "--chunks", "8,50", "--blocks", "4,50")
    jobs = []
    for i in range(8):
        np.save(tmp_path / f"{i}.npy", np.full((5 + i, 50), i + 1, "<i4"))
        jobs.append(subprocess.Popen([cippus.path, "append", path, tmp_path / f"{i}.npy", "--wait", "60"], stderr=subprocess.PIPE))
    for p in jobs:
        assert p.communicate()[1] == b"" and p.returncode == 0
    a = by_python(path)
    starts = [0, *(np.flatnonzero(np.diff(a[:, 0])) + 1), len(a)]
    assert sorted(a[i, 0] for i in starts[:-1]) == [*range(1, 9)]
    assert all(stop - start == 4 + a[start, 0] and (a[start:stop] == a[start, 0]).all() for start, stop in zip(starts, starts[1:]))
    assert np.array_equal(cippus.array(path), a) and cippus.run("verify", "--deep", path).decode().endswith(f"{path}: ok\n")


def test_python_reads_while_we_write(cippus, script, tmp_path):
    """Each value fills the array. python-blosc2 reads the header anew for each chunk: one chunk is of one state, several may be of two;
    and where it changes while a frame is being opened, that fails, and does not the next time."""
    path = make(cippus, tmp_path, np.zeros((60, 50), "<i4"), "--chunks", "20,50", "--blocks", "5,50")
    for k in range(50):
        np.save(tmp_path / f"v{k}.npy", np.full((60, 50), k, "<i4"))
    of_two = of_old = failed = 0
    for k in range(1, ROUNDS):
        script.send(("edit", "a.b2nd"), ("write", "", "", f"v{k % 50}.npy"), ("commit",))
        while not script.answered():
            try:
                a = by_python(path)
            except RuntimeError:
                failed += 1
                continue
            assert all((c == c[0, 0]).all() and c[0, 0] in ((k - 1) % 50, k % 50) for c in (a[:20], a[20:40], a[40:]))
            of_two += (a != a[0, 0]).any()
            of_old += (a == (k - 1) % 50).all()
        assert script.answer() == "ok"
        assert (by_python(path) == k % 50).all()
    print(f"{ROUNDS} updates, read as before {of_old} times, {of_two} times in between, {failed} times not")


@pytest.mark.parametrize("killed", [False, True])
def test_full_disk(cippus, tmp_path, killed):
    """Files may have so many bytes and no more: the process fails, or is killed at that byte."""
    def limited(n):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL if killed else signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (n, n))
        return limit
    rng = np.random.default_rng(7)
    a = rng.integers(0, 2**31, (40, 30), "<i4")
    path = make(cippus, tmp_path, a, "--chunks", "10,30", "--blocks", "5,10", "--codec", "lz4")
    rows = rng.integers(0, 2**31, (7, 30), "<i4")
    np.save(tmp_path / "rows.npy", rows)
    size, before = path.stat().st_size, path.read_bytes()
    fails = 0
    for n in range(0, size + 3000, 1 if FULL else 97):
        p = subprocess.run([cippus.path, "append", path, tmp_path / "rows.npy", "--durability", "process"], preexec_fn=limited(n), capture_output=True)
        if p.returncode == 0:
            break
        fails += 1
        assert p.returncode == (-signal.SIGXFSZ if killed else 3) and (killed or p.stderr)
        assert np.array_equal(by_python(path), a) and np.array_equal(cippus.array(path), a)
        assert killed or path.read_bytes() == before
    assert fails > 10
    a = np.concatenate([a, rows])
    assert np.array_equal(by_python(path), a) and np.array_equal(cippus.array(path), a)
    assert cippus.run("verify", "--deep", path).decode().endswith(f"{path}: ok\n")
    assert {p.name for p in tmp_path.iterdir()} == {"in.npy", "rows.npy", "a.b2nd"}
