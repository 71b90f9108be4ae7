# SPDX-License-Identifier: BSD-3-Clause
"""cippus.diff: what differs between two files, open or by name."""
import io
import math

import numpy as np
import pytest

import cippus


def write(path, tree):
    with cippus.create(path) as f:
        for key, value in tree.items():
            f[key] = value
    return path


@pytest.fixture
def two(tmp_path):
    x = np.arange(12.0).reshape(3, 4)
    y = x.copy()
    y[1, 2] += 0.5
    y[2, 0] = np.nan
    a = write(tmp_path / "a.asdf", {"x": x, "same": x, "meta": {"t": 1.5, "n": 1}, "gone": [1]})
    b = write(tmp_path / "b.asdf", {"x": y, "same": x, "meta": {"t": 1.25, "n": 1.0}, "new": "v"})
    return a, b


def test_kinds_and_numbers(two):
    found = {d.path: d for d in cippus.diff(*two)}
    assert {p: d.kind for p, d in found.items()} == {
        "meta/t": "value", "meta/n": "type", "gone": "only_a", "new": "only_b", "x": "data"
    }
    x = found["x"]
    assert (x.elements, x.differing, x.first, x.max_abs) == (12, 2, (1, 2), 0.5)
    assert x.max_rel == 0.5 / 6.5 and "6.0 and 6.5" in x.text
    assert found["gone"].first is None and math.isnan(found["gone"].max_abs)
    assert cippus.diff(two[0], two[0]) == []


def test_tolerances_patterns_and_paths(two):
    assert [d.path for d in cippus.diff(*two, rtol=0.2, ignore=["gone", "new"])] == ["x"]
    assert cippus.diff(*two, rtol=0.2, ignore=["gone", "new"])[0].differing == 1
    assert [d.path for d in cippus.diff(*two, path="meta", ignore="meta/n")] == ["meta/t"]
    assert cippus.diff(*two, path="x", other_path="same") == []
    with pytest.raises(cippus.NotFoundError):
        cippus.diff(*two, path="nothing")
    with pytest.raises(cippus.ArgumentError):
        cippus.diff(*two, rtol=-1)


def test_open_files_of_two_formats_and_file_likes(two, tmp_path):
    cippus.convert(two[0], tmp_path / "x.b2nd", path="x", codec="zstd")
    with cippus.open(two[0]) as a, cippus.open(tmp_path / "x.b2nd") as b:
        assert cippus.diff(a, b, path="x") == []
        assert cippus.diff(a, a) == [] and not a.closed
    assert cippus.diff(io.BytesIO(two[0].read_bytes()), two[0]) == []
    with pytest.raises(ValueError):
        cippus.diff(a, two[1])


def test_exceptions_of_progress_come_out(two):
    told = []
    cippus.diff(*two, progress=lambda *x: told.append(x))
    assert told and told[-1] == (192, 192)

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cippus.diff(*two, progress=stop)


def test_against_numpy(tmp_path):
    rng = np.random.default_rng(1)
    for seed in range(60):
        shape = tuple(rng.integers(1, 30, rng.integers(1, 4)))
        x = rng.choice([0.0, 1.0, -3.5, np.nan, np.inf, 1e5], shape)
        y = np.where(rng.random(shape) < 0.3, rng.choice([0.0, 1.001, np.nan, -np.inf], shape), x)
        rtol, atol = rng.choice([0, 1e-2], 2)
        a = write(tmp_path / f"a{seed}.npy", {"": x})
        b = write(tmp_path / f"b{seed}.b2nd", {"": y})
        differ = ~np.isclose(x, y, rtol=rtol, atol=atol, equal_nan=True)
        found = cippus.diff(a, b, rtol=rtol, atol=atol)
        assert [(d.kind, d.differing, d.first) for d in found] == (
            [("data", differ.sum(), tuple(np.argwhere(differ)[0]))] if differ.any() else []
        )
