# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C ends what the library is at, and leaves nothing behind."""
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import cippus

WORK = {
    "verify": "cippus.verify(source, deep=True)",
    "diff": "[cippus.diff(f, g) for f in [cippus.open(source)] for g in [cippus.open(source)]]",
    "repair": "cippus.repair(source, out, overwrite=True)",
    "convert": "cippus.convert(source, out, overwrite=True, codec='zstd:9')",
    "convert to asdf": "cippus.convert(source, out, overwrite=True, codec='zstd:9')",
    "refs": "cippus.refs(source)",
    "verify bytes": "cippus.verify(data, deep=True)",
    "verify a file object": "cippus.verify(open(source, 'rb'), deep=True)",
    "diff file objects": "cippus.diff(open(source, 'rb'), open(source, 'rb'))",
    "repair bytes": "cippus.repair(data, out, overwrite=True)",
    "convert an open file": "[cippus.convert(f, out, overwrite=True, codec='zstd:9') for f in [cippus.open(source)]]",
    "convert to a file object": "cippus.convert(source, io.BytesIO(), format='blosc2', codec='zstd:9')",
    "open, and read a file object": "cippus.open(open(source, 'rb')).array.read()",
    "points": "points.array.points(at)",
    "read_chunk": "points.array.read_chunk(7)",
    "slabs": "slabs(out)",
}
PROGRAM = """
import io, signal, sys, time, numpy as np, cippus
source, out = sys.argv[1:3]
with open(source, 'rb') as file:
    data = file.read()
points, at = cippus.open(source), np.arange(0, 40_000_000, 200)
values = np.random.default_rng(1).integers(0, 9, 20_000_000, 'u1')
def slabs(out):
    with cippus.create(out, overwrite=True, codec='zstd:9') as w:
        w.declare('', values.shape, 'u1', chunks=(1 << 18,))[:] = values
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
print('ready', flush=True)
try:
    while True:
        {work}
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("signals") / "big.b2nd"
    with cippus.create(path, codec="zstd:1") as w:
        w.put("", np.random.default_rng(1).integers(0, 9, 40_000_000, "u1"), chunks=(1 << 18,))
    return path


@pytest.mark.parametrize("what", WORK)
def test_ctrl_c_ends_long_calls(source, tmp_path, what):
    out = tmp_path / ("out.asdf" if what == "convert to asdf" else "out.b2nd")
    words = [sys.executable, "-c", PROGRAM.format(work=WORK[what]), str(source), str(out)]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.5)
    sent = time.monotonic()
    child.send_signal(signal.SIGINT)
    try:
        answer, _ = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 0 and float(answer) - sent < 10  # 0.2 s where the machine is quiet
    # A round that was over before the signal has left its whole file; one that was not leaves nothing.
    assert [p.name for p in tmp_path.iterdir() if p != out] == []
    if out.exists():
        assert cippus.verify(out, deep=True) == []


def interrupted(program, *words):
    """What the child says, which was sent Ctrl-C a moment after its first line."""
    start = "import signal, sys, numpy as np, cippus\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    child = subprocess.Popen(
        [sys.executable, "-c", start + program, *map(str, words)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.2)
    child.send_signal(signal.SIGINT)
    try:
        answer, _ = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 0
    return answer.strip()


@pytest.mark.parametrize("name, codec, n", [("a.b2nd", "zlib:1", 120_000_000), ("a.asdf", "bzp2", 12_000_000)])
def test_ctrl_c_ends_a_read_halfway(tmp_path, name, codec, n):
    path = tmp_path / name
    with cippus.create(path, codec=codec) as w:
        w.put("a" if name == "a.asdf" else "", np.random.default_rng(1).integers(0, 99, n, "u1"))
    reads = """
with cippus.open(sys.argv[1], threads=1) as f:
    a, = f.arrays.values()
    out = np.empty(a.shape, "u1")
    print('ready', flush=True)
    try:
        while True:
            reading = False
            out.fill(255)
            reading = True
            a.read(out=out)
    except KeyboardInterrupt:
        print(np.count_nonzero(out == 255) if reading else 0, flush=True)
    assert (a[:100] < 99).all()  # the file is read as before
"""
    # One that comes while a read decodes its last chunks finds it whole.
    assert any(int(interrupted(reads, path)) > 0 for _ in range(8))


def test_ctrl_c_ends_a_commit_and_the_file_is_the_old_one(tmp_path):
    path = tmp_path / "a.b2nd"
    with cippus.create(path, codec="zstd:9") as w:
        w.put("", np.zeros(6_000_000, "f4"), chunks=(1 << 16,))
    said = interrupted(
        """
with cippus.open(sys.argv[1], "r+", threads=1) as f:
    f[""][...] = np.random.default_rng(1).standard_normal(6_000_000).cumsum()
    print('ready', flush=True)
    try:
        f.commit()
    except KeyboardInterrupt:
        print('stopped', flush=True)
""",
        path,
    )
    assert said == "stopped"
    with cippus.open(path) as f:
        assert not f[""][...].any()
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    assert cippus.verify(path, deep=True) == []
