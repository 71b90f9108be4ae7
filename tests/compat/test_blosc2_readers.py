# SPDX-License-Identifier: BSD-3-Clause
"""A long read of a frame that others change meanwhile: through our own updates it goes on with what it opened,
through python-blosc2's it ends BUSY, or with one state."""
import os
import subprocess
import sys
import time

import blosc2
import numpy as np
import pytest

ROWS, COLUMNS, EDGE = 1500, 512, 50
BUSY = 3


@pytest.fixture
def made(tmp_path, rng):
    """A frame that takes a second to be read into bzip2; its first and last chunks are zeros."""
    a = rng.integers(0, 1 << 16, (ROWS, COLUMNS)).astype("<i8")
    a[:EDGE] = a[-EDGE:] = 0
    path = tmp_path / "x.b2nd"
    blosc2.asarray(a, chunks=(EDGE, COLUMNS), blocks=(10, COLUMNS), urlpath=str(path), mode="w")
    return path, a


def long_read(cippus, path):
    return subprocess.Popen([cippus.path, "convert", "--overwrite", "--threads", "1", "--codec", "bzp2", str(path),
                             str(path.with_name("out.asdf"))], stderr=subprocess.PIPE)


def attributes(path):
    return [name for name in os.listxattr(path) if name.startswith("user.cippus")]


def test_a_long_convert_goes_on_while_cippus_writes(cippus, tmp_path, made):
    path, was = made
    new, rows, n = tmp_path / "row.npy", tmp_path / "rows.npy", ROWS
    try:
        os.setxattr(path, "user.probe", b"x")
    except OSError:
        pytest.skip("no extended attributes here")
    np.save(new, np.full((1, COLUMNS), -1, "<i8"))
    for i in range(1, 4):
        np.save(rows, np.full((EDGE, COLUMNS), i, "<i8"))
        reader, changes = long_read(cippus, path), 0
        time.sleep(0.05)
        while reader.poll() is None:
            cippus.run("append", "--durability", "process", path, new)
            cippus.run("put", "--durability", "process", path, ".", f"[0:{EDGE}]", rows)
            changes += 1
        assert reader.returncode == 0, reader.stderr.read().decode()
        print(changes, "times two changes while it was read")
        got = cippus.array(tmp_path / "out.asdf")
        assert n <= got.shape[0] <= n + changes
        assert (got[EDGE:ROWS] == was[EDGE:]).all() and (got[ROWS:] == -1).all() and (got[:EDGE] == got[0, 0]).all()
        assert got[0, 0] in (i - 1, i)
        n += changes
    cippus.run("append", path, new)
    assert attributes(path) == []  # nobody is left to be told


WRITER = f"""
import sys, numpy as np, blosc2
a = blosc2.open(sys.argv[1], mode="a")
i = int(sys.argv[2])
a[:{EDGE}] = i
a[-{EDGE}:] = i
"""


def test_one_that_python_changes_is_busy_or_whole(cippus, tmp_path, made):
    """It writes chunks over in place."""
    path, was = made
    busy = 0
    for i in range(1, 5):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(i)])
        time.sleep(0.1 * i)
        reader = long_read(cippus, path)
        assert reader.wait() in (0, BUSY) and writer.wait() == 0, reader.stderr.read().decode()
        busy += reader.returncode == BUSY
        if reader.returncode == 0:
            got = cippus.array(tmp_path / "out.asdf")
            assert (got[EDGE:-EDGE] == was[EDGE:-EDGE]).all()
            assert (got[:EDGE] == got[0, 0]).all() and (got[-EDGE:] == got[-1, 0]).all()
            assert i >= got[0, 0] >= got[-1, 0] >= i - 1
    print(busy, "of 4 busy")
