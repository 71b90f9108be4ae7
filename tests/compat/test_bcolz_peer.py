# SPDX-License-Identifier: BSD-3-Clause
"""bcolz 1.2.1 itself, both ways: built once, in about a minute, for a Python 3.8 to 3.11 (the tests' own, or $CIPPUS_PYTHON_BCOLZ)."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE.parents[1] / "build" / "bcolz"  # what was built is kept
BUILD = ["setuptools==59.8.0", "wheel==0.37.1", "cython==0.29.36", "numpy==1.23.5", "setuptools_scm==6.4.2"]
TYPES = ["i1", "<i2", "<i4", "<u8", "<f4", "<f8", "?", "S5", "<U3"]
FITS = "import sys; sys.exit(not (3, 8) <= sys.version_info[:2] <= (3, 11))"  # as that numpy, whose API bcolz needs


def old_python():
    found = [os.environ.get("CIPPUS_PYTHON_BCOLZ"), sys.executable, *map(shutil.which, ("python3.11", "python3.10", "python3.9", "python3.8"))]
    for path in filter(None, found):
        if subprocess.run([path, "-c", FITS], capture_output=True).returncode == 0:
            return path
    return None


def must(words):
    env = {**os.environ, "DISABLE_BCOLZ_AVX2": "true", "SETUPTOOLS_SCM_PRETEND_VERSION": "1.2.1"}
    p = subprocess.run(words, capture_output=True, env=env)
    if p.returncode != 0:
        pytest.skip(f"bcolz 1.2.1 could not be built: {p.stderr.decode(errors='replace')[-300:]}")


def build():
    """The Python that has bcolz; skips where there is none."""
    mine, done = FOLDER / "bin" / "python", FOLDER / "done"
    if done.exists():
        return mine
    path = old_python()
    if path is None:
        pytest.skip("no Python 3.8 to 3.11 for bcolz 1.2.1")
    shutil.rmtree(FOLDER, ignore_errors=True)
    pip, quiet = [mine, "-m", "pip", "--disable-pip-version-check"], ["--quiet", "--no-build-isolation", "--no-deps"]
    must([path, "-m", "venv", FOLDER])
    must([*pip, "install", "--quiet", *BUILD])
    must([*pip, "download", *quiet, "--no-binary", ":all:", "-d", FOLDER, "bcolz==1.2.1"])
    with tarfile.open(FOLDER / "bcolz-1.2.1.tar.gz") as tar:
        tar.extractall(FOLDER)  # Debian 12's Python has no filter yet
    (FOLDER / "bcolz-1.2.1/bcolz/carray_ext.c").unlink()  # made by a Cython for Python 3.8; it is made again
    must([*pip, "install", *quiet, FOLDER / "bcolz-1.2.1"])
    done.touch()
    return mine


class Bcolz:
    def __init__(self, python):
        self.process = subprocess.Popen([python, HERE / "bcolz_peer.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def __call__(self, *words):
        self.process.stdin.write(json.dumps([w if isinstance(w, int) else str(w) for w in words]).encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert "error" not in answer, answer
        return answer


@pytest.fixture(scope="module")
def bcolz():
    peer = Bcolz(build())
    yield peer
    peer.process.stdin.close()
    peer.process.wait()


def values(rng, dtype, n, inner=()):
    if dtype == "table":
        a = np.zeros(n, [("a", "<i4"), ("b", "<f8"), ("c", "S3")])
        for name in a.dtype.names:
            a[name] = rng.integers(0, 90, n)
        return a
    return rng.integers(0, 90, (n, *inner)).astype(dtype)


def same(cippus, bcolz, tmp_path, root, want):
    bcolz("read", root, tmp_path / "out.npy")
    for got in (np.load(tmp_path / "out.npy"), cippus.array(root)):
        assert got.shape == want.shape and got.dtype == want.dtype and got.tobytes() == want.tobytes()


def cases():
    for i, dtype in enumerate([*TYPES, "table"]):
        for inner in [(), (3, 2)] if dtype != "table" else [()]:
            yield pytest.param(dtype, inner, i, id=f"{dtype}{len(inner)}")


@pytest.mark.parametrize("dtype, inner, i", list(cases()))
@pytest.mark.parametrize("writer", ["cippus", "bcolz"])
def test_both_write_and_change_one_folder(cippus, bcolz, rng, tmp_path, writer, dtype, inner, i):
    a, root, new = values(rng, dtype, 100, inner), tmp_path / "x.bcolz", tmp_path / "new.npy"
    np.save(new, a)
    if writer == "bcolz":
        bcolz("write", new, root, 16, ["lz4", "blosclz", "zlib", "zstd"][i % 4], i % 3)
    else:
        cippus.run("convert", new, root, "--option", "chunklen=16", "--codec", ["lz4", "blosclz", "zlib", "zstd"][i % 4])
    same(cippus, bcolz, tmp_path, root, a)
    for step in range(12):
        rows, kind = values(rng, dtype, int(rng.integers(1, 30)), inner), int(rng.integers(0, 3))
        np.save(new, rows)
        n, ours = len(a), step % 2 == 0
        if kind == 0 or n < 40:
            cippus.run("append", root, new) if ours else bcolz("append", root, new)
            a = np.concatenate([a, rows])
        elif kind == 1:
            k = int(rng.integers(1, 20))
            cippus.run("resize", root, ",".join(map(str, (n - k, *inner)))) if ours else bcolz("trim", root, k)
            a = a[:n - k]
        else:
            k = int(rng.integers(0, n - len(rows) + 1))
            cippus.run("put", root, ".", f"[{k}:{k + len(rows)}]", new) if ours else bcolz("put", root, k, new)
            a = a.copy()
            a[k:k + len(rows)] = rows
        same(cippus, bcolz, tmp_path, root, a)
    cippus.run("verify", "--deep", root)


@pytest.mark.parametrize("dtype", ["<f8", "table"])
def test_bcolz_appends_to_what_has_no_rows(cippus, bcolz, rng, tmp_path, dtype):
    root, new, rows = tmp_path / "x.bcolz", tmp_path / "new.npy", values(rng, dtype, 30)
    np.save(new, rows[:0])
    cippus.run("convert", new, root)
    np.save(new, rows)
    bcolz("append", root, new)
    same(cippus, bcolz, tmp_path, root, rows)
