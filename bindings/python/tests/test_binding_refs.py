# SPDX-License-Identifier: BSD-3-Clause
"""References into files, read by fsspec, zarr and xarray: what they read is what cippus reads."""
import json
import os
import pathlib
import random
import warnings

import numpy as np
import pytest

import cippus

fsspec = pytest.importorskip("fsspec")
zarr = pytest.importorskip("zarr", minversion="3")

ROOT = pathlib.Path(__file__).resolve().parents[3]
CORPUS = pathlib.Path(os.environ.get("CIPPUS_CORPUS", ROOT.parent / "shared" / "corpus"))
FULL = bool(os.environ.get("CIP_FULL"))
SAMPLES = ROOT / "samples"

pytestmark = pytest.mark.filterwarnings("ignore")


def group_of(found, **options):
    files = fsspec.filesystem("reference", fo=found, remote_protocol="file", asynchronous=True, **options)
    return zarr.open_group(zarr.storage.FsspecStore(files, read_only=True), mode="r", zarr_format=2)


def same(a, b):
    a, b = (np.asarray(x, x.dtype.newbyteorder("=")) for x in (a, b))
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def arrays_of(found):
    return [key.removesuffix("/.zarray") for key in found["refs"] if key.endswith("/.zarray")]


def compare(found, file):
    """Each array by its references, and the places of these within their files."""
    group = group_of(found)
    for name in arrays_of(found):
        array = file.arrays[name] if name in file.arrays else file.array
        assert same(group[name][...], array[...]), name
    for place in found["refs"].values():
        if isinstance(place, list):
            assert 0 <= place[1] and place[1] + place[2] <= os.path.getsize(place[0])


NAMES = ["night.asdf", "roman.asdf", "cube.b2nd", "tide.blp", "prices.bcolz", "phantom.ra", "complex.ra"]


@pytest.mark.parametrize("name", NAMES)
def test_references_read_what_cippus_reads(sample, name):
    compare(cippus.refs(SAMPLES / name), sample(name))


def test_arrays_that_cannot_be_referred_to_are_told_and_left_out(sample):
    told = []
    found = cippus.refs(SAMPLES / "night.asdf", on_finding=told.append)
    assert [(f.severity, f.part) for f in told] == [("warn", "masked"), ("note", "spectrum_again"), ("warn", "stars")]
    assert set(arrays_of(found)) == {"counts", "image", "spectrum", "spectrum_again"}
    none = cippus.refs(SAMPLES / "night.asdf", inline=0)
    assert "spectrum_again/.zarray" not in none["refs"]
    with pytest.raises(cippus.UnsupportedError, match="masked: it has a mask, and Zarr has none"):
        cippus.refs(SAMPLES / "night.asdf", path="masked")
    with pytest.raises(cippus.NotFoundError):
        cippus.refs(SAMPLES / "night.asdf", path="nothing")
    assert arrays_of(cippus.refs(sample("night.asdf"), path="counts")) == ["counts"]


def test_plain_codecs_need_nothing_of_cippus():
    found = cippus.refs(SAMPLES / "roman.asdf")["refs"] | cippus.refs(SAMPLES / "tide.blp")["refs"]
    metas = [json.loads(text) for key, text in found.items() if key.endswith(".zarray")]
    assert {m["compressor"]["id"] for m in metas} == {"lz4", "blosc"} and all(m["filters"] is None for m in metas)
    assert json.loads(found["roman/.zattrs"])["meta"]["telescope"] == "ROMAN"


def test_raw_data_are_cut_so_that_a_window_reads_a_part(tmp_path):
    cuts = {(30, 1000, 100): [10, 1000, 100], (3001, 1000): [1048, 1000], (2, 3): [2, 3], (1, 5000, 1000): [1, 1000, 1000]}
    for shape, chunks in cuts.items():
        values = np.arange(np.prod(shape), dtype="f4").reshape(shape)
        np.save(tmp_path / "a.npy", values)
        found = cippus.refs(tmp_path / "a.npy")
        meta = json.loads(found["refs"]["data/.zarray"])
        assert meta["chunks"] == chunks and (meta["filters"] is None) == (shape[0] != 3001)
        compare(found, cippus.open(tmp_path / "a.npy"))


def test_fortran_order_and_what_has_no_elements(tmp_path):
    for values in (np.asfortranarray(np.arange(2e6).reshape(1000, 2000)), np.ones(()), np.ones((0, 3)), np.ones((4, 0))):
        np.save(tmp_path / "a.npy", values)
        found = cippus.refs(tmp_path / "a.npy")
        compare(found, cippus.open(tmp_path / "a.npy"))
    np.save(tmp_path / "a.npy", np.zeros(3, [("a", ">i2"), ("b", "<f8")]))
    found = cippus.refs(tmp_path / "a.npy")
    assert json.loads(found["refs"]["data/.zarray"])["dtype"] == [["a", ">i2"], ["b", "<f8"]]
    assert group_of(found)["data"][...]["b"].sum() == 0


def test_chunks_of_one_value_come_along(tmp_path):
    values = np.zeros((64, 64), "f8")
    values[:8, :8], values[8:16] = np.random.default_rng(1).random((8, 8)), np.nan
    with cippus.create(tmp_path / "a.b2nd") as w:
        w.put("", values, chunks=(8, 8))
    compare(cippus.refs(tmp_path / "a.b2nd"), cippus.open(tmp_path / "a.b2nd"))


def test_lz4_whose_pieces_end_within_rows_is_one_chunk(tmp_path):
    values = np.arange(300 * 7, dtype="i4").reshape(300, 7)
    asdf = pytest.importorskip("asdf")
    pytest.importorskip("lz4")
    with asdf.config_context() as config:
        config.all_array_compression = "lz4"
        config.all_array_compression_kwargs = {"compression_block_size": 1000}
        asdf.AsdfFile({"a": values, "b": values.T.copy()}).write_to(tmp_path / "a.asdf")
    found = cippus.refs(tmp_path / "a.asdf")
    assert len([key for key in found["refs"] if key.startswith("a/") and "/." not in key]) == 1
    compare(found, cippus.open(tmp_path / "a.asdf"))


def test_outputs_are_whole_and_kerchunk_reads_them(tmp_path):
    found = cippus.refs(SAMPLES / "cube.b2nd", tmp_path / "a.json", url="s3://bucket/cube.b2nd")
    assert json.loads((tmp_path / "a.json").read_text()) == found
    assert {place[0] for place in found["refs"].values() if isinstance(place, list)} == {"s3://bucket/cube.b2nd"}
    with pytest.raises(FileExistsError):
        cippus.refs(SAMPLES / "cube.b2nd", tmp_path / "a.json")
    cippus.refs(SAMPLES / "cube.b2nd", tmp_path / "a.json", overwrite=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.json"]
    kerchunk = pytest.importorskip("kerchunk.utils")
    whole = cippus.open(SAMPLES / "cube.b2nd").array[...]
    renamed = kerchunk.rename_target(json.loads((tmp_path / "a.json").read_text()), {})
    assert same(group_of(renamed)["data"][...], whole)


def test_replaced_outputs_keep_their_modes_and_new_ones_get_the_usual(tmp_path):
    out = tmp_path / "a.json"
    mask = os.umask(0o022)
    try:
        cippus.refs(SAMPLES / "cube.b2nd", out)
        assert out.stat().st_mode & 0o777 == 0o644
        out.chmod(0o600)
        link = tmp_path / "link.json"
        link.symlink_to(out.name)
        cippus.refs(SAMPLES / "cube.b2nd", link, overwrite=True)
        assert link.is_symlink() and out.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(mask)


def test_parquet_replaces_nothing_but_folders_of_references(tmp_path):
    pytest.importorskip("pyarrow")
    out = tmp_path / "mine"
    out.mkdir()
    (out / "thesis.txt").write_text("years")
    (tmp_path / "file").write_text("years")
    for path in out, tmp_path / "file":
        with pytest.raises(FileExistsError, match="no folder of references"):
            cippus.refs(SAMPLES / "cube.b2nd", path, format="parquet", overwrite=True)
    (out / ".zmetadata").write_text('{"metadata": {}, "record_size": 1}')
    with pytest.raises(FileExistsError):  # another file is among them
        cippus.refs(SAMPLES / "cube.b2nd", out, format="parquet", overwrite=True)
    assert (out / "thesis.txt").read_text() == "years" and (tmp_path / "file").read_text() == "years"
    assert sorted(os.listdir(tmp_path)) == ["file", "mine"]
    (out / "thesis.txt").unlink()
    cippus.refs(SAMPLES / "cube.b2nd", out, format="parquet", overwrite=True)
    assert sorted(os.listdir(out)) == [".zmetadata", "data"]


@pytest.mark.parametrize("record_size", [3, 100])
def test_parquet_is_read_as_json_is(tmp_path, record_size):
    pytest.importorskip("pyarrow")
    for name in ("cube.b2nd", "night.asdf", "roman.asdf"):
        out = tmp_path / f"{name}.parq"
        for _ in range(2):
            found = cippus.refs(SAMPLES / name, out, format="parquet", record_size=record_size, overwrite=True)
        files = fsspec.implementations.reference.LazyReferenceMapper(str(out), engine="pyarrow")
        group = group_of(files)
        for array in arrays_of(found):
            assert same(group[array][...], group_of(found)[array][...])
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]
    with pytest.raises(FileExistsError):
        cippus.refs(SAMPLES / "cube.b2nd", tmp_path / "cube.b2nd.parq", format="parquet")


def test_xarray_opens_references_to_all_below_a_node(sample):
    xarray = pytest.importorskip("xarray")
    found = cippus.refs(SAMPLES / "roman.asdf", path="roman")
    options = {"consolidated": False, "storage_options": {"fo": found, "remote_protocol": "file"}}
    data = xarray.open_dataset("reference://", engine="zarr", chunks=None, backend_kwargs=options)
    assert set(data) == {"data", "dq", "err"} and data.attrs["meta"]["telescope"] == "ROMAN"
    for name in data:
        assert same(data[name].values, sample("roman.asdf")[f"roman/{name}"][...])
    alone = cippus.refs(SAMPLES / "roman.asdf", path="roman/dq")
    assert arrays_of(alone) == ["dq"] and same(group_of(alone)["dq"][...], sample("roman.asdf")["roman/dq"][...])


def test_wrong_calls(tmp_path):
    with pytest.raises(ValueError):
        cippus.refs(SAMPLES / "cube.b2nd", format="xml")
    with cippus.open(SAMPLES / "cube.b2nd") as file:
        pass
    with pytest.raises(ValueError):
        cippus.refs(file)
    with pytest.raises(ZeroDivisionError):
        cippus.refs(SAMPLES / "night.asdf", on_finding=lambda finding: 1 // 0)


def take(files, seed, n):
    return files if FULL else random.Random(seed).sample(files, min(n, len(files)))


def test_each_file_of_the_corpus_by_its_references():
    if not (CORPUS / "manifest.json").exists():
        pytest.skip("no corpus")
    files = [f for f in json.loads((CORPUS / "manifest.json").read_text())["files"] if "peer-cannot-read" not in f]
    n = refused = 0
    for row in take(files, 5, 120):
        try:
            with cippus.open(CORPUS / row["file"]) as file:
                found = cippus.refs(file, inline=0)
                n += len(arrays_of(found))
                compare(found, file)
        except cippus.UnsupportedError:
            refused += 1
        except (cippus.Error, ValueError) as error:
            if isinstance(error, ValueError) and not isinstance(error, cippus.Error):
                raise AssertionError(row["file"]) from error
    print(n, "arrays,", refused, "files refused")
    assert n > refused


def test_a_hostile_file_ends_in_an_error_of_cippus_or_within_the_file():
    if not (CORPUS / "hostile.json").exists():
        pytest.skip("no corpus")
    for row in take(json.loads((CORPUS / "hostile.json").read_text())["files"], 6, 200):
        try:
            found = cippus.refs(CORPUS / row["file"])["refs"]
        except cippus.Error:
            continue
        for place in found.values():
            if isinstance(place, list):
                assert 0 <= place[1] and place[1] + place[2] <= os.path.getsize(place[0]), row["file"]


warnings.filterwarnings("ignore")
