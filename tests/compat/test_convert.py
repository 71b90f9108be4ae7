# SPDX-License-Identifier: BSD-3-Clause
"""What we write, numpy reads equal, and the bytes are those that numpy writes."""
import io

import numpy as np
import pytest

KINDS = ["<i1", "<u2", ">i4", "<f2", ">f4", "<f8", "<c8", ">c16", "?", "S4", "<U3", ">U3", "<M8[ns]", ">m8[h]"]


def sample(rng, dtype):
    raw = rng.integers(0, 100, (4, 5))
    if np.dtype(dtype).kind in "SU":
        return raw.astype("i8").astype(dtype)
    return raw.astype("<i8").view("<M8[ns]").astype(dtype) if np.dtype(dtype).kind == "M" else raw.astype(dtype)


@pytest.mark.parametrize("dtype", KINDS)
def test_npy_to_npy_is_byte_equal(cippus, rng, tmp_path, dtype):
    np.save(tmp_path / "in.npy", sample(rng, dtype))
    cippus.run("convert", tmp_path / "in.npy", tmp_path / "out.npy")
    assert (tmp_path / "out.npy").read_bytes() == (tmp_path / "in.npy").read_bytes()


def test_a_transposed_npy_is_read(cippus, rng, tmp_path):
    data = rng.normal(size=(3, 4, 5))
    np.save(tmp_path / "f.npy", np.asfortranarray(data))
    np.testing.assert_array_equal(cippus.array(tmp_path / "f.npy"), data)


@pytest.mark.parametrize("dtype", ["<i1", "<u2", ">i4", "<f2", "<f4", ">f8", "<c8", "<c16"])
@pytest.mark.parametrize("words", [[], ["--byteorder", "big"], ["--codec", "lz4"]])
def test_there_and_back_through_rawarray(cippus, rng, tmp_path, dtype, words):
    data = np.resize(sample(rng, dtype), (40, 50))
    np.save(tmp_path / "in.npy", data)
    cippus.run("convert", *words, tmp_path / "in.npy", tmp_path / "x.ra")
    np.testing.assert_array_equal(cippus.array(tmp_path / "x.ra"), data)
    dims = np.frombuffer((tmp_path / "x.ra").read_bytes()[48:64], "<u8")
    assert dims.tolist() == [50, 40]  # the first varies fastest


def test_a_loss_is_refused_until_it_is_accepted(cippus, tmp_path):
    table = np.array([(1, 2.5)], dtype=[("a", "<i4"), ("b", "<f8")])
    np.save(tmp_path / "t.npy", table)
    cippus.run("convert", tmp_path / "t.npy", tmp_path / "t.ra", status=3)
    assert not (tmp_path / "t.ra").exists()
    cippus.run("convert", "--accept-loss", tmp_path / "t.npy", tmp_path / "t.ra")
    assert (tmp_path / "t.ra").read_bytes()[-12:] == table.tobytes()


def test_an_output_that_exists_is_left_alone(cippus, rng, tmp_path):
    np.save(tmp_path / "in.npy", sample(rng, "<i4"))
    (tmp_path / "out.ra").write_bytes(b"mine")
    cippus.run("convert", tmp_path / "in.npy", tmp_path / "out.ra", status=3)
    assert (tmp_path / "out.ra").read_bytes() == b"mine"
    cippus.run("convert", "--overwrite", tmp_path / "in.npy", tmp_path / "out.ra")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.npy", "out.ra"]


def test_csv_and_text_read_back(cippus, rng, tmp_path):
    data = rng.normal(size=(6, 3))
    np.save(tmp_path / "in.npy", data)
    csv = cippus.run("cat", "--to", "csv", tmp_path / "in.npy")
    np.testing.assert_array_equal(np.loadtxt(io.BytesIO(csv), delimiter=","), data)
    text = cippus.run("cat", tmp_path / "in.npy")
    np.testing.assert_array_equal(np.loadtxt(io.BytesIO(text)), data)
