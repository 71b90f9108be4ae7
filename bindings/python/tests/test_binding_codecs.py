# SPDX-License-Identifier: BSD-3-Clause
"""The codecs that numcodecs and Zarr find by their names."""
import itertools
import struct

import numpy as np
import pytest

import cippus

numcodecs = pytest.importorskip("numcodecs")
zarr = pytest.importorskip("zarr", minversion="3")

DATA = np.cumsum(np.random.default_rng(1).integers(-3, 4, 5000)).astype("i4")
NAMES = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]


def codec(**config):
    found = numcodecs.get_codec(config)
    assert numcodecs.get_codec(found.get_config()).get_config() == found.get_config()
    return found


@pytest.mark.parametrize("cname, filter", list(itertools.product(NAMES, ["none", "shuffle", "bitshuffle"])))
def test_blosc_of_cippus_and_of_numcodecs_read_each_other(cname, filter):
    own = codec(id="cippus_blosc", cname=cname, filter=filter, blosc1=True)
    other = numcodecs.Blosc(cname, 5, {"none": 0, "shuffle": 1, "bitshuffle": 2}[filter])
    for a, b in ((own, other), (other, own), (own, own)):
        assert bytes(b.decode(a.encode(DATA))) == DATA.tobytes()


def test_chunks_of_blosc2_have_what_blosc1_has_not():
    for filter in ("delta+shuffle", "shuffle+bytedelta", "none"):
        own = codec(id="cippus_blosc", cname="zstd", filter=filter, typesize=4)
        chunk = own.encode(DATA)
        out = np.empty_like(DATA)
        own.decode(chunk, out=out)
        assert np.array_equal(out, DATA) and chunk[0] > 2
    blosc2 = pytest.importorskip("blosc2")
    assert blosc2.decompress2(codec(id="cippus_blosc").encode(DATA)) == DATA.tobytes()
    assert bytes(codec(id="cippus_blosc").decode(blosc2.compress2(DATA))) == DATA.tobytes()


def test_a_damaged_chunk_is_an_error_of_cippus():
    chunk = codec(id="cippus_blosc", cname="lz4").encode(DATA)
    for wrong in (b"", b"x", chunk[:40], chunk[:-1], b"\xff" * 64, chunk[:4] + b"\xff" * 8 + chunk[12:]):
        with pytest.raises(cippus.Error):
            codec(id="cippus_blosc").decode(wrong)
    with pytest.raises(cippus.ArgumentError):
        codec(id="cippus_blosc", clevel=11).encode(DATA)


@pytest.mark.parametrize("format", [2, 3])
def test_zarr_writes_and_reads_with_it(tmp_path, format):
    from cippus.zarr_codecs import Blosc, BloscCodec

    made = (BloscCodec(cname="lz4", filter="bitshuffle") if format == 3 else Blosc("lz4", filter="bitshuffle"))
    values = DATA.reshape(50, 100)
    array = zarr.create_array(tmp_path / "a", shape=values.shape, chunks=(16, 32), dtype="i4", compressors=made, zarr_format=format)
    array[:] = values
    again = zarr.open_array(tmp_path / "a", mode="r")
    assert np.array_equal(again[...], values)
    stored = next((tmp_path / "a" / "c" / "0").iterdir()) if format == 3 else tmp_path / "a" / "0.0"
    head = stored.read_bytes()[:16]
    assert head[3] == 4 and struct.unpack("<I", head[4:8])[0] == 16 * 32 * 4


def test_pieces_of_lz4_are_those_of_asdf(tmp_path):
    asdf = pytest.importorskip("asdf")
    pytest.importorskip("lz4")
    path = tmp_path / "a.asdf"
    with asdf.config_context() as config:
        config.all_array_compression = "lz4"
        config.all_array_compression_kwargs = {"compression_block_size": 4096}
        asdf.AsdfFile({"a": DATA}).write_to(path)
    with cippus.open(path) as file:
        chunks = list(file["a"].chunk_table())
        first, last = chunks[0], chunks[-1]
        with open(path, "rb") as raw:
            raw.seek(first.offset - 8)
            stored = raw.read(last.offset + last.stored_nbytes - first.offset + 8)
        assert len(chunks) == 5 and codec(id="cippus_asdf_lz4").decode(stored) == DATA.tobytes()
        alone = codec(id="cippus_lz4", nbytes=first.decoded_nbytes)
        assert alone.decode(file["a"].read_chunk(0, stored=True)) == DATA.tobytes()[: first.decoded_nbytes]
    own = codec(id="cippus_asdf_lz4", piece=1000)
    assert own.decode(own.encode(DATA)) == DATA.tobytes()
    for wrong in (b"\0", stored[:-1], b"\xff" * 12, b"\0\0\0\2ab"):
        with pytest.raises((ValueError, RuntimeError)):
            own.decode(wrong)


def test_blocks_and_padding(sample):
    array = sample("cube.b2nd").array
    chunk = array.chunk(0)
    order = codec(id="cippus_blocks", chunk=[4, 16, 16], padded=[4, 16, 16], block=[2, 8, 8], itemsize=2)
    decoded = order.decode(array.read_chunk(0))
    assert decoded == array[:4, :16, :16].tobytes() and order.encode(decoded) == array.read_chunk(chunk.number)
    odd = codec(id="cippus_blocks", chunk=[3, 5], padded=[4, 6], block=[2, 3], itemsize=1)
    values = np.arange(15, dtype="u1").tobytes()
    assert odd.decode(odd.encode(values)) == values and len(odd.encode(values)) == 24
    with pytest.raises(ValueError):
        odd.decode(b"123")
    with pytest.raises(ValueError):
        codec(id="cippus_blocks", chunk=[3], padded=[4], block=[3], itemsize=1)
    pad = codec(id="cippus_pad", nbytes=5)
    assert pad.decode(b"abc") == b"abc\0\0"
    with pytest.raises(ValueError):
        pad.decode(b"abcdef")
