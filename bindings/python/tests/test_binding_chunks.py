# SPDX-License-Identifier: BSD-3-Clause
"""The chunks of an array as they are stored."""
import hashlib
import math
import zlib

import numpy as np
import pytest

import cippus

NAMES = ("night.asdf", "cube.b2nd", "tide.blp", "wells.blz", "prices.bcolz", "phantom.ra", "complex.ra")


@pytest.mark.parametrize("name", NAMES)
def test_each_chunk_has_the_bytes_that_the_table_tells(sample, name):
    for array in sample(name).arrays.values():
        table = list(array.chunk_table())
        assert sum(c.run for c in table) == array.nchunks and [c.number for c in table][:1] == [0]
        for chunk in table:
            assert len(array.read_chunk(chunk.number)) == chunk.decoded_nbytes
            assert len(array.read_chunk(chunk.number, stored=True)) == chunk.stored_nbytes


def test_stored_bytes_lie_where_the_table_says(sample):
    file = sample("night.asdf")
    chunk = file["counts"].chunk(0)
    with open(file.path, "rb") as raw:
        raw.seek(chunk.offset)
        stored = raw.read(chunk.stored_nbytes)
    assert stored == file["counts"].read_chunk(0, stored=True)
    assert zlib.decompress(stored) == file["counts"][...].tobytes()
    assert (chunk.codec, chunk.place, chunk.member, chunk.checksum_kind) == ("zlib", "file", "", "md5")


def test_each_chunk_has_its_own_place_and_checksum(tmp_path):
    asdf = pytest.importorskip("asdf")
    tree = {"x": np.arange(8.0), "y": np.ones(8), "z": np.zeros(8)}  # blocks of one length
    asdf.AsdfFile(tree).write_to(tmp_path / "a.asdf")
    asdf.AsdfFile(tree).write_to(tmp_path / "e.asdf", all_array_storage="external")
    with cippus.create(tmp_path / "s.b2nd", options={"sparse": "yes"}) as w:
        w.put("", np.random.default_rng(1).random((8, 8)), chunks=(4, 4))
    with cippus.create(tmp_path / "t.bcolz", format="bcolz") as w:
        w["x"] = np.arange(9.0)
    with cippus.create(tmp_path / "c.blp", options={"chunk_size": "64"}) as w:
        w.put("", np.arange(30.0), codec="lz4")
    sums = {"md5": lambda b: hashlib.md5(b).digest(), "crc32": lambda b: zlib.crc32(b).to_bytes(4, "big"), "": lambda b: b""}
    places = set()
    for name in ("a.asdf", "e.asdf", "s.b2nd", "t.bcolz", "c.blp"):
        for array in cippus.open(tmp_path / name).arrays.values():
            for chunk in array.chunk_table():
                holder = tmp_path / name / chunk.member if name[0] in "st" else tmp_path / (chunk.member or name)
                stored = array.read_chunk(chunk.number, stored=True)
                assert holder.read_bytes()[chunk.offset :][: chunk.stored_nbytes] == stored
                assert sums[chunk.checksum_kind](stored) == chunk.checksum
                places.add((holder, chunk.offset, chunk.checksum_kind))
    assert len(places) == 3 + 3 + 4 + 1 + 4 and {p[2] for p in places} == set(sums)


def test_boxes_of_a_grid_are_what_reading_them_gives(sample):
    array = sample("cube.b2nd").array
    whole, seen = array[...], 0
    for chunk in array.chunk_table():
        box = tuple(slice(a, b) for a, b in zip(chunk.start, chunk.stop))
        assert chunk.box_exact and chunk.padded == array.chunks
        outer = [n // b for n, b in zip(chunk.padded, chunk.block)]
        inner = np.frombuffer(array.read_chunk(chunk.number), array.stored_dtype).reshape(*outer, *chunk.block)
        order = [axis for pair in zip(range(3), range(3, 6)) for axis in pair]
        values = inner.transpose(order).reshape(chunk.padded)
        corner = tuple(slice(0, b - a) for a, b in zip(chunk.start, chunk.stop))
        assert np.array_equal(values[corner], whole[box])
        seen += math.prod(values[corner].shape)
    assert seen == array.size


def test_a_run_of_special_chunks_is_one_row(made):
    zeros = cippus.open(made({"": np.zeros((64, 64), "f4")}, format="blosc2", options={"chunks": "8,8"})).array
    table = list(zeros.chunk_table())
    assert zeros.nchunks == 64 and all(c.stored_nbytes == 0 or c.codec == "zeros" for c in table)


def test_a_chunk_that_there_is_not_is_an_index_error(sample):
    array = sample("cube.b2nd").array
    with pytest.raises(IndexError):
        array.chunk(array.nchunks)
    with pytest.raises(IndexError):
        array.read_chunk(10**9)
    array.file.close()
    with pytest.raises(ValueError):
        array.chunk(0)
