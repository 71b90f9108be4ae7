# SPDX-License-Identifier: BSD-3-Clause
"""Steps: changes of a file that are made together, or taken back by an exception."""
import numpy as np
import pytest

import cippus


@pytest.fixture(params=["asdf", "b2nd", "bcolz", "npy"])
def path(request, tmp_path):
    name = tmp_path / f"x.{request.param}"
    with cippus.create(name) as f:
        f["a" if request.param in ("asdf", "bcolz") else ""] = np.arange(6, dtype="i4")
    return name


def array_of(f):
    return f["a"] if f.format == "asdf" else f.array


def test_an_exception_takes_back_the_step_alone(path):
    with cippus.open(path, "r+") as f:
        array_of(f)[0] = 10
        with pytest.raises(ZeroDivisionError), f.step():
            array_of(f)[1] = 11
            array_of(f).append([6, 7])
            array_of(f).resize((3,))
            assert array_of(f)[...].tolist() == [10, 11, 2]
            raise ZeroDivisionError
        assert array_of(f)[...].tolist() == [10, 1, 2, 3, 4, 5]
        with f.step():
            array_of(f)[2] = 12
            with pytest.raises(ZeroDivisionError), f.step():
                array_of(f)[3] = 13
                raise ZeroDivisionError
    with cippus.open(path) as f:
        assert array_of(f)[...].tolist() == [10, 1, 12, 3, 4, 5]


def test_a_step_of_nothing_else_changes_nothing(path):
    before = path.read_bytes() if path.is_file() else None
    with cippus.open(path, "r+") as f, pytest.raises(ZeroDivisionError), f.step():
        array_of(f)[:] = 0
        raise ZeroDivisionError
    assert before is None or path.read_bytes() == before
    with cippus.open(path) as f:
        assert array_of(f)[...].tolist() == list(range(6))


def test_arrays_and_values_of_a_step_go(tmp_path):
    with cippus.create(tmp_path / "x.asdf") as f:
        f["a"] = np.arange(3)
    with cippus.open(tmp_path / "x.asdf", "r+") as f:
        with pytest.raises(KeyError), f.step():
            f["b"] = np.arange(5)
            f["meta"] = {"k": 1}
            f.move("a", "c")
            assert sorted(f.arrays) == ["b", "c"]
            f["nothing"]
        assert sorted(f.arrays) == ["a"] and "meta" not in f


def test_a_commit_within_ends_the_step(path):
    with cippus.open(path, "r+") as f:
        with pytest.raises(ZeroDivisionError), f.step():
            array_of(f)[0] = 10
            f.commit()
            raise ZeroDivisionError
        assert array_of(f)[0] == 10
