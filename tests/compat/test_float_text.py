# SPDX-License-Identifier: BSD-3-Clause
"""Floats of all bit patterns as text are what Python and numpy print. Several millions with CIP_FULL=1."""
import sys

import numpy as np
import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests" / "support"))
import effort

N = 4_000_000 if effort.FULL else 100_000


def texts(cippus, folder, a):
    (folder / "a.raw").write_bytes(a.tobytes())
    return cippus.run("cat", "--from", "raw", "--dtype", a.dtype.name, "--to", "csv", folder / "a.raw").decode().split()


def finite(bits, dtype):
    a = bits.view(dtype)
    return a[np.isfinite(a)]


def numpy_text(v):
    """numpy's shortest digits; with an exponent where a double has one (numpy 2.4 has it from 1e3 and 1e6 on for narrower ones)."""
    return np.format_float_positional(v, trim="0") if v == 0 or 1e-4 <= abs(float(v)) < 1e16 else np.format_float_scientific(v, trim="-", exp_digits=2)


@pytest.mark.parametrize("kind", ["any bits", "decimals", "powers of two", "subnormal"])
def test_float64(cippus, tmp_path, kind):
    rng = np.random.default_rng(effort.SEED)
    bits = rng.integers(0, 2**64, N, dtype=np.uint64)
    powers = np.concatenate([(np.arange(2047, dtype=np.uint64) << np.uint64(52)) + np.uint64(i) for i in range(3)])
    a = {
        "any bits": finite(bits, "f8"),
        "decimals": (bits % np.uint64(10**9)) / 10.0 ** rng.integers(0, 30, N),
        "powers of two": np.concatenate([finite(powers, "f8"), finite(powers[1:] - np.uint64(1), "f8")]),
        "subnormal": finite(bits >> np.uint64(12), "f8"),
    }[kind]
    assert texts(cippus, tmp_path, a) == [repr(v) for v in a.tolist()]


def test_float32(cippus, tmp_path):
    rng = np.random.default_rng(effort.SEED)
    a = finite(np.concatenate([rng.integers(0, 2**32, N, dtype=np.uint32), np.arange(255, dtype=np.uint32) << np.uint32(23)]), "f4")
    assert texts(cippus, tmp_path, a) == [numpy_text(v) for v in a]


def test_float16(cippus, tmp_path):
    a = finite(np.arange(2**16, dtype=np.uint16), "f2")
    assert texts(cippus, tmp_path, a) == [numpy_text(v) for v in a]
