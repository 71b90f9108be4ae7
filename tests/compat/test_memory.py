# SPDX-License-Identifier: BSD-3-Clause
"""What is held in memory does not grow with the file."""
import resource
import subprocess

import numpy as np
import pytest

MIB = 1 << 20


def runs_within(cippus, limit, *words):
    """Whether the command succeeds with at most so much private memory (heap, stacks, anonymous maps)."""
    bound = lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    argv = [cippus.path, *map(str, words), "--threads", "1"]
    return subprocess.run(argv, stdout=subprocess.DEVNULL, preexec_fn=bound).returncode == 0


@pytest.fixture(scope="module")
def gibibyte(tmp_path_factory):
    """A .npy file of 1 GiB with a hole for data: it takes no room on disk."""
    path = tmp_path_factory.mktemp("large") / "zeros.npy"
    np.lib.format.open_memmap(path, "w+", "<f4", (16384, 16384)).flush()
    return path


def test_a_window_of_a_gibibyte_is_cheap(cippus, gibibyte):
    assert runs_within(cippus, 32 * MIB, "cat", "--to", "raw", gibibyte, "[8000:8100, 8000:8100]")


def test_a_whole_gibibyte_is_streamed(cippus, gibibyte):
    assert runs_within(cippus, 32 * MIB, "cat", "--to", "raw", gibibyte)
    assert runs_within(cippus, 64 * MIB, "stat", gibibyte)


def test_the_bound_is_felt(cippus, gibibyte):
    assert not runs_within(cippus, 2 * MIB, "cat", "--to", "raw", gibibyte)
