# SPDX-License-Identifier: BSD-3-Clause
"""Files of bloscpack that cippus wrote and changed, read by bloscpack: types, codecs, filters, digests, sizes; updates."""
import io
import itertools

import numpy as np
import pytest

from test_bloscpack_read import CODECS, SUMS, TYPES, append_fp, bp, random_array

FILTERS = ["none", "shuffle", "bitshuffle"]


def given(rng, **more):
    words = {"chunk_size": int(rng.integers(1, 400)), "filter": FILTERS[rng.integers(0, 3)],
             "offsets": ["yes", "yes", "no"][rng.integers(0, 3)], **more}
    options = [x for k, v in words.items() for x in ("--option", f"{k}={v}")]
    return options + ["--codec", f"{CODECS[rng.integers(0, len(CODECS))]}:{int(rng.integers(1, 10))}",
                      "--checksum", SUMS[rng.integers(0, len(SUMS))].lower()]


def check(cippus, path, a):
    """The same by bloscpack and by us, and nothing for verify to find."""
    got = bp.unpack_ndarray_from_file(str(path))
    assert got.dtype == a.dtype and got.shape == a.shape and got.tobytes() == a.tobytes()
    assert cippus.array(path).tobytes() == a.tobytes()
    assert cippus.run("verify", "--deep", path).decode() == f"{path}: ok\n"


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_new_files(cippus, rng, tmp_path, dtype):
    for i in range(6):
        a = random_array(rng, dtype)
        npy, path, back = (tmp_path / f"{i}.{x}" for x in ("npy", "blp", "back.npy"))
        np.save(npy, a[:0] if i == 0 else a)
        cippus.run("convert", npy, path, *given(rng))
        check(cippus, path, np.load(npy))
        cippus.run("convert", path, back)
        assert back.read_bytes() == npy.read_bytes()


def test_codecs_filters_and_digests(cippus, rng, tmp_path):
    a = rng.integers(0, 50, (70, 9)).astype("<i4")
    np.save(tmp_path / "a.npy", a)
    for i, (codec, chosen) in enumerate(itertools.product([*CODECS, "none"], FILTERS)):
        for nbytes in (4 * 9 * 70, 4 * 9 * 70 - 4, 500, 36, 1 << 20):
            path = tmp_path / f"{i}-{nbytes}.blp"
            cippus.run("convert", tmp_path / "a.npy", path, "--codec", codec, "--checksum", SUMS[i % 9].lower(),
                       "--option", f"filter={chosen}", "--option", f"chunk_size={nbytes}")
            check(cippus, path, a)


def test_a_zero_dimensional_array(cippus, tmp_path):
    np.save(tmp_path / "a.npy", np.float64(2.5))
    cippus.run("convert", tmp_path / "a.npy", tmp_path / "a.blp")
    check(cippus, tmp_path / "a.blp", np.float64(2.5).reshape(()))


def change(cippus, rng, tmp_path, path, a):
    """One update, by us; the array that it makes."""
    new = tmp_path / "new.npy"
    kind = rng.integers(0, 5)
    if kind == 0:
        rows = random_rows(rng, a, int(rng.integers(1, 60)))
        np.save(new, rows)
        cippus.run("append", path, new)
        return np.concatenate([a, rows]).astype(a.dtype)
    if kind == 1:
        n = int(rng.integers(0, 2 * len(a) + 3))
        cippus.run("resize", path, ",".join(map(str, (n, *a.shape[1:]))))
        b = np.zeros((n, *a.shape[1:]), a.dtype)
        b[:min(n, len(a))] = a[:n]
        return b
    if kind >= 3:
        start, n = int(rng.integers(0, len(a) + 1)), int(rng.integers(0, 40))
        if kind == 3:
            cippus.run("rm", path, ".", f"[{start}:{start + n}]")
            return np.delete(a, slice(start, start + n), 0)
        rows = random_rows(rng, a, n)
        np.save(new, rows)
        cippus.run("put", "--insert", path, f"[{start}:{start}]", new)
        return np.concatenate([a[:start], rows, a[start:]]).astype(a.dtype)
    lo, hi = sorted(int(x) for x in rng.integers(0, len(a) + 1, 2))
    rows = random_rows(rng, a, hi - lo)
    np.save(new, rows)
    cippus.run("put", path, f"[{lo}:{hi}]", new)
    a = a.copy()
    a[lo:hi] = rows
    return a


def random_rows(rng, a, n):
    top = int(rng.integers(1, 1000))
    return rng.integers(0, top, (n, *a.shape[1:])).astype(a.dtype)


@pytest.mark.parametrize("dtype", ["<i2", ">f8", "S3"])
def test_updates(cippus, rng, tmp_path, dtype):
    for i in range(4):
        a = rng.integers(0, 90, (int(rng.integers(0, 40)), 5)).astype(dtype)
        npy, path = tmp_path / f"{i}.npy", tmp_path / f"{i}.blp"
        np.save(npy, a)
        cippus.run("convert", npy, path, *given(rng, spare=int(rng.integers(0, 9))))
        for _ in range(8):
            a = change(cippus, rng, tmp_path, path, a)
            check(cippus, path, a)


def test_updates_of_files_of_bloscpack(cippus, rng, tmp_path):
    for i in range(9):
        a = rng.integers(0, 90, (int(rng.integers(1, 40)), 5)).astype("<i4")
        path = tmp_path / f"{i}.blp"
        bp.pack_ndarray_to_file(a, str(path), chunk_size=60, bloscpack_args=bp.BloscpackArgs(checksum=SUMS[i], offsets=i % 3 != 0))
        for _ in range(5):
            a = change(cippus, rng, tmp_path, path, a)
            check(cippus, path, a)


def test_bloscpack_appends_to_ours(cippus, rng, tmp_path):
    path, a = tmp_path / "a.blp", rng.integers(0, 90, 300).astype("u1")
    np.save(tmp_path / "a.npy", a)
    cippus.run("convert", tmp_path / "a.npy", path, "--option", "chunk_size=70")
    with open(path, "r+b") as f:
        append_fp(f, io.BytesIO(bytes(200)), 200)
    assert b"the rest is not shown" in cippus.run("verify", "--deep", path, status=1)
    assert bp.unpack_bytes_from_file(str(path))[0] == a.tobytes() + bytes(200)


def test_a_pipe_gets_offsets_that_are_unset(cippus, rng, tmp_path):
    a = rng.integers(0, 90, 300).astype("u2")
    np.save(tmp_path / "a.npy", a)
    path = tmp_path / "a.blp"
    path.write_bytes(cippus.run("convert", tmp_path / "a.npy", "-", "--format", "bloscpack", "--option", "chunk_size=70"))
    assert cippus.array(path).tobytes() == a.tobytes()
    assert b"were never written" in cippus.run("verify", path, status=1)
    assert bp.unpack_ndarray_from_file(str(path)).tobytes() == a.tobytes()


def test_the_same_bytes_with_any_number_of_threads(cippus, rng, tmp_path):
    np.save(tmp_path / "a.npy", rng.integers(0, 9, 100000))
    for n in (1, 2, 5):
        cippus.run("convert", tmp_path / "a.npy", tmp_path / f"{n}.blp", "--threads", n, "--option", "chunk_size=9999")
    assert (tmp_path / "1.blp").read_bytes() == (tmp_path / "2.blp").read_bytes() == (tmp_path / "5.blp").read_bytes()
