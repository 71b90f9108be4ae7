# SPDX-License-Identifier: BSD-3-Clause
"""The functions of RawArray's own binding, against the header and order that its document gives."""
import struct

import numpy as np
import pytest

import cippus
from cippus import ra

ELTYPE = {"i": 1, "u": 2, "f": 3, "c": 4}


def document(data):
    """The bytes of a file, put together as the binding of the document does."""
    head = [8746397786917265778, data.dtype.str[0] == ">", ELTYPE.get(data.dtype.kind, 0), data.dtype.itemsize, data.nbytes, data.ndim]
    return struct.pack(f"<{6 + data.ndim}Q", *map(int, head), *data.shape) + data.transpose().tobytes()


ARRAYS = [np.arange(24, dtype=d).reshape(2, 3, 4) for d in ("i1", "<i2", "<u4", ">u8", "<f2", "<f4", ">f8", "<c8", "<c16")]
ARRAYS += [np.arange(5.0), np.zeros((3, 0)), np.asfortranarray(np.arange(12).reshape(3, 4)), np.arange(24).reshape(4, 6)[::-2, 1::2]]
OWN = [np.array([[True, False]]), np.array([b"abc", b"de"]), np.zeros(3, [("a", "<i2"), ("b", "<f4")])]


@pytest.mark.parametrize("data", ARRAYS + OWN, ids=lambda a: f"{a.dtype.str}-{a.shape}")
def test_files_are_those_of_the_document(tmp_path, data):
    path = tmp_path / "x.ra"
    ra.write(data, path)
    assert path.read_bytes() == document(data)
    ra.write(data, path)  # over the one that is there
    found = ra.read(path)
    if data.dtype.kind in ELTYPE:
        np.testing.assert_array_equal(found, data)
        assert found.dtype == data.dtype.newbyteorder("=") and found.shape == data.shape
    else:
        assert found == data.transpose().tobytes()


def test_query_is_the_documents_yaml(tmp_path):
    ra.write(np.zeros((3, 4), "c8"), tmp_path / "x.ra")
    name = str(tmp_path / "x.ra")
    assert ra.query(name) == f"---\nname: {name}\nendian: little\ntype: complex64\nsize: 96\ndimension: 2\nshape:\n  - 3\n  - 4\n..."
    ra.write(np.zeros(2, ">i4"), name)
    assert "endian: big\ntype: int32\n" in ra.query(name)


def test_dimensions_are_reversed_in_the_rest_of_the_package(tmp_path):
    ra.write(np.arange(6).reshape(2, 3), tmp_path / "x.ra")
    with cippus.open(tmp_path / "x.ra") as f:
        np.testing.assert_array_equal(f.array, np.arange(6).reshape(2, 3).T)


def test_what_is_no_rawarray_is_refused(tmp_path):
    (tmp_path / "x.ra").write_bytes(b"no array")
    for call in (ra.read, ra.query):
        with pytest.raises(cippus.Error):
            call(tmp_path / "x.ra")
        with pytest.raises(FileNotFoundError):
            call(tmp_path / "y.ra")
