# SPDX-License-Identifier: BSD-3-Clause
"""bcolz 1.2.1 itself, both ways, where there is a Python 3.8 to build it for ($CIPPUS_PYTHON38, python3.8 or pyenv's)."""
import json
import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE.parents[1] / "build" / "bcolz"  # what was built is kept
BUILD = ["setuptools==59.8.0", "wheel==0.37.1", "cython==0.29.36", "numpy==1.23.5", "setuptools_scm==6.4.2"]
TYPES = ["i1", "<i2", "<i4", "<u8", "<f4", "<f8", "?", "S5", "<U3"]


def python38():
    found = [os.environ.get("CIPPUS_PYTHON38"), shutil.which("python3.8"),
             *sorted(map(str, (pathlib.Path.home() / ".pyenv" / "versions").glob("3.8.*/bin/python")))]
    for path in filter(None, found):
        if subprocess.run([path, "-c", "import sys; sys.exit(sys.version_info[:2] != (3, 8))"], capture_output=True).returncode == 0:
            return path
    return None


def build():
    """The Python that has bcolz; skips where there is none."""
    mine, done = FOLDER / "bin" / "python", FOLDER / "done"
    if done.exists():
        return mine
    path = python38()
    if path is None:
        pytest.skip("no Python 3.8 for bcolz 1.2.1")
    shutil.rmtree(FOLDER, ignore_errors=True)
    pip = [mine, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for words in ([path, "-m", "venv", FOLDER], [*pip, *BUILD], [*pip, "--no-build-isolation", "bcolz==1.2.1"]):
        p = subprocess.run(words, capture_output=True, env={**os.environ, "DISABLE_BCOLZ_AVX2": "true"})
        if p.returncode != 0:
            pytest.skip(f"bcolz 1.2.1 could not be built: {p.stderr.decode(errors='replace')[-300:]}")
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
