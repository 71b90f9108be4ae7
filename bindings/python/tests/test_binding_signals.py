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
}
PROGRAM = """
import signal, sys, time, cippus
source, out = sys.argv[1:3]
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
    out = tmp_path / "out.b2nd"
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
    assert [p.name for p in tmp_path.iterdir() if p != out] == []
