# SPDX-License-Identifier: BSD-3-Clause
"""References that the command writes, read by fsspec, zarr and numcodecs alone, without anything of ours."""
import json
import shutil

import fsspec
import numpy as np
import pyarrow.parquet
import pytest
import zarr
from conftest import ROOT
from fsspec.implementations.reference import LazyReferenceMapper

SAMPLES = ROOT / "samples"
PLAIN = {"roman.asdf": 0, "night.asdf": 1, "tide.blp": 0, "phantom.ra": 0, "complex.ra": 0}  # and the exit status
pytestmark = pytest.mark.filterwarnings("ignore")


def group_of(found):
    files = fsspec.filesystem("reference", fo=found, remote_protocol="file", asynchronous=True)
    return zarr.open_group(zarr.storage.FsspecStore(files, read_only=True), mode="r", zarr_format=2)


def compare(cippus, file, group, names):
    for name in names:
        array = cippus.array(file, *([name] if name != "data" else []))
        assert np.array_equal(group[name][...], array), name


@pytest.mark.parametrize("name", PLAIN)
def test_json_and_parquet_read_as_the_file_does(cippus, tmp_path, name):
    for form in ("json", "parquet"):
        cippus.run("zarr-refs", "--format", form, SAMPLES / name, tmp_path / form, status=PLAIN[name])
    found = json.loads((tmp_path / "json").read_text())
    names = [key.removesuffix("/.zarray") for key in found["refs"] if key.endswith("/.zarray")]
    meta = json.loads((tmp_path / "parquet" / ".zmetadata").read_text())["metadata"]
    assert meta == {k: json.loads(v) for k, v in found["refs"].items() if k.split("/")[-1].startswith(".z")}
    assert all(m["fill_value"] is None for k, m in meta.items() if k.endswith(".zarray"))
    compare(cippus, SAMPLES / name, group_of(found), names)
    compare(cippus, SAMPLES / name, group_of(LazyReferenceMapper(str(tmp_path / "parquet"), engine="pyarrow")), names)


def test_references_of_several_records(cippus, tmp_path):
    values = np.arange(25000, dtype="<i4")
    np.save(tmp_path / "a.npy", values)
    cippus.run("convert", tmp_path / "a.npy", tmp_path / "a.blp", "--option", "chunk_size=4", "--codec", "lz4")
    cippus.run("zarr-refs", "--format", "parquet", tmp_path / "a.blp", tmp_path / "out")
    assert sorted(p.name for p in (tmp_path / "out" / "data").iterdir()) == [f"refs.{i}.parq" for i in range(3)]
    group = group_of(LazyReferenceMapper(str(tmp_path / "out"), engine="pyarrow"))
    assert np.array_equal(group["data"][9990:10010], values[9990:10010])
    assert np.array_equal(group["data"][24990:], values[24990:])


@pytest.mark.parametrize("n", [1, 8, 63, 64, 129])
def test_tables_of_any_length(cippus, tmp_path, n):
    np.save(tmp_path / "a.npy", np.arange(n))
    cippus.run("convert", tmp_path / "a.npy", tmp_path / "a.blp", "--option", "chunk_size=8", "--codec", "lz4")
    cippus.run("zarr-refs", "--format", "parquet", "--url", "u", tmp_path / "a.blp", tmp_path / "out")
    found = pyarrow.parquet.ParquetFile(tmp_path / "out" / "data" / "refs.0.parq")
    columns = [found.metadata.row_group(0).column(k) for k in range(4)]
    assert all(set(c.encodings) == {"PLAIN", "RLE"} and c.num_values == n for c in columns)
    rows = found.read().to_pydict()
    assert rows["path"] == ["u"] * n and rows["raw"] == [None] * n and len(set(rows["offset"])) == n


def test_a_folder_of_references_is_there_as_a_whole_or_not(cippus, tmp_path):
    def refs(*words, status=0):
        cippus.run("zarr-refs", "--format", "parquet", *words, status=status)

    refs(SAMPLES / "roman.asdf", status=2)
    refs(SAMPLES / "roman.asdf", tmp_path / "none" / "out", status=3)
    refs(SAMPLES / "roman.asdf", tmp_path / "out")
    before = (tmp_path / "out" / ".zmetadata").read_bytes()
    refs(SAMPLES / "tide.blp", tmp_path / "out", status=3)
    refs("--path", "masked", "--overwrite", SAMPLES / "night.asdf", tmp_path / "out", status=3)
    assert (tmp_path / "out" / ".zmetadata").read_bytes() == before
    refs("--overwrite", SAMPLES / "tide.blp", tmp_path / "out")
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [".zmetadata", "data"]
    shutil.copy(SAMPLES / "tide.blp", tmp_path / "other")
    refs("--overwrite", SAMPLES / "tide.blp", tmp_path / "other", status=3)
    (tmp_path / "folder").mkdir()
    refs("--overwrite", SAMPLES / "tide.blp", tmp_path / "folder", status=3)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder", "other", "out"]
    assert (tmp_path / "out").stat().st_mode & 0o777 == (tmp_path / "folder").stat().st_mode & 0o777
