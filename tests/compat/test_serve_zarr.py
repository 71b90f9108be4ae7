# SPDX-License-Identifier: BSD-3-Clause
"""Served files as stores of Zarr's version 3, by zarr-python and xarray, and by references."""
import json
import os
import urllib.parse

import numpy as np
import pytest
from served import SAMPLES, served, server  # noqa: F401

zarr = pytest.importorskip("zarr")
fsspec = pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")


def open_store(server, name, **options):
    url = f"http://{server.host}:{server.port}/zarr/{urllib.parse.quote(name)}"
    return zarr.open_group(zarr.storage.FsspecStore.from_url(url, storage_options=options, read_only=True), mode="r", zarr_format=3)


def same(a, b):
    """Element by element: numpy's types with and without padding, in either order, are told apart by nothing else."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.names:
        return a.dtype.names == b.dtype.names and all(same(a[n], b[n]) for n in a.dtype.names)
    return a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind in "fcmM")


def has_records_within(dtype):
    return "{" in dtype[1:] or ("{" in dtype and "[" in dtype)


@pytest.mark.parametrize("name", sorted(n for n in os.listdir(SAMPLES) if not n.endswith((".md", ".py", ".sh"))))
def test_every_sample_opens_equal(server, cippus, name):
    group = open_store(server, f"samples/{name}")
    left_out = group.attrs.asdict().get("cippus_left_out", {})
    told = json.loads(cippus.run("ls", "--json", SAMPLES / name))
    seen = 0
    for a in told:
        if a["path"] == "" and len(told) > 1:
            continue  # its columns
        if a["path"] in left_out:
            assert a["masked"] or a["state"] != "ok" or has_records_within(a["dtype"])
            continue
        array = group[a["path"] or "data"]
        assert list(array.shape) == a["shape"]
        if "chunk" in a:
            assert list(array.chunks) == [min(c, n) for c, n in zip(a["chunk"], a["shape"])]
        assert same(array[...], cippus.array(SAMPLES / name, a["path"] or "."))
        seen += 1
    assert seen + len(left_out) == sum(a["path"] != "" or len(told) == 1 for a in told)
    assert len(dict(group.members(max_depth=None))) >= seen, "consolidated"


def test_types_and_shapes(cippus, tmp_path):
    rng = np.random.default_rng(31)
    arrays = {t: (rng.integers(0, 100, (7, 5, 3))).astype(t) for t in ("i1", "<u2", ">i4", "<i8", "<f2", ">f4", "<f8", "<c8", ">c16", "?")}
    arrays |= {"s": np.array([b"a", b"bcd"]), "u": np.array([["é", "xyz"]]), "t": np.array(["2026-11-26", "NaT"], "M8[s]"),
               "d": np.array([1, 2, 3], "m8[ms]"), "r": np.array([(1, 2.5)], [("x", "<i2"), ("y", ">f8")]), "zero": np.zeros((0, 3)),
               "one": np.array(7.5), "big": rng.normal(size=(3000, 400)), "wide": rng.normal(size=(2, 300000)), "raw": np.array([b"\0\1"], "V2")}
    for key, a in arrays.items():
        np.save(tmp_path / f"{key.replace('<', 'l').replace('>', 'b').replace('?', 'q')}.npy", a)
    with served(cippus, tmp_path) as s:
        for key, a in arrays.items():
            name = key.replace("<", "l").replace(">", "b").replace("?", "q")
            got = open_store(s, f"{tmp_path.name}/{name}.npy")["data"]
            assert np.prod(got.chunks, dtype=int) * a.itemsize <= max(1 << 20, a.itemsize)
            if key == "raw":
                assert got[...].tobytes() == a.tobytes()
            else:
                assert same(got[...], a), key


def test_damage_is_no_fill_value(cippus, tmp_path):
    file = tmp_path / "x.b2nd"
    np.save(tmp_path / "x.npy", np.random.default_rng(1).normal(size=(8, 1000)))
    cippus.run("convert", tmp_path / "x.npy", file, "--chunks", "2,1000", "--codec", "zstd")
    data = bytearray(file.read_bytes())
    chunk = json.loads(cippus.run("info", "--chunks", "--json", file))[0]["arrays"][0]["chunks"][1]
    at = chunk["offset"]
    data[at + 16 : at + chunk["stored_nbytes"]] = bytes(chunk["stored_nbytes"] - 16)
    file.write_bytes(data)
    with served(cippus, file) as s:
        array = open_store(s, "x.b2nd")["data"]
        assert same(array[:2], np.load(tmp_path / "x.npy")[:2])
        with pytest.raises(Exception, match="500"):
            array[2:4]


def test_keys_that_are_none(server):
    for key in ("", "zarr.json/x", "image", "image/c", "image/c/0", "image/c/0/0/0", "image/c/00/0", "image/c/1/0", "image/c/-1/0",
                "image/c/0/0x0", "nothing/zarr.json", "nothing/c/0", "masked/c/0/0", ".zgroup", "image/.zarray", "data/zarr.json"):
        assert server.ask(f"/zarr/samples/night.asdf/{key}").status in (404, 410, 422), key
    assert server.ask("/zarr/samples/zarr.json").status == 404


def test_chunks_of_a_removed_file_are_no_fill_values(cippus, tmp_path):
    file = tmp_path / "x.npy"
    np.save(file, np.ones((3000, 1000)))
    with served(cippus, tmp_path) as s:
        array = open_store(s, f"{tmp_path.name}/x.npy")["data"]
        assert array[0, 0] == 1
        file.unlink()
        for key in ("c/0/0", "c/0", "c", "data/c/9999/0"):
            assert s.ask(f"/zarr/{tmp_path.name}/x.npy/{key}").status == 410
        for key in ("zarr.json", "abc/0", "c/0/x", "cc", "c0"):
            assert s.ask(f"/zarr/{tmp_path.name}/x.npy/{key}").status == 404
        with pytest.raises(Exception, match="410"):
            array[2000]
        np.save(file, np.ones((3, 1000)))
        assert s.ask(f"/zarr/{tmp_path.name}/x.npy/data/c/1/0").status == 410
        with pytest.raises(Exception, match="410"):
            array[2000]


def test_xarray(server):
    xarray = pytest.importorskip("xarray")
    url = f"http://{server.host}:{server.port}/zarr/samples"
    with xarray.open_dataset(f"{url}/model.zarr", engine="zarr", zarr_format=3) as got, xarray.open_zarr(SAMPLES / "model.zarr") as own:
        assert got["wind"].dims == ("time", "y", "x") and got.equals(own)
    with xarray.open_dataset(f"{url}/weather.h5", engine="zarr", zarr_format=3) as got:
        assert got["temperature"].dims == ("day", "station") and abs(float(got["temperature"].mean()) - 273) < 60


def test_a_zarr_folder_as_it_is_stored(server, cippus):
    url = f"http://{server.host}:{server.port}/files/samples/model.zarr"
    wind = zarr.open(zarr.storage.FsspecStore.from_url(url, read_only=True), mode="r")["wind"]
    assert same(wind[...], cippus.array(SAMPLES / "model.zarr", "wind"))


def test_references(server, cippus):
    url = f"http://{server.host}:{server.port}"
    refs = json.loads(server.ask("/refs/samples/weather.h5").body)["refs"]
    assert refs["day/0"][0] == f"{url}/files/samples/weather.h5"
    group = zarr.open_group(zarr.storage.FsspecStore(fsspec.filesystem("reference", fo={"version": 1, "refs": refs}, asynchronous=True,
                            remote_protocol="http", remote_options={"asynchronous": True}), read_only=True), mode="r", zarr_format=2)
    assert same(group["day"][...], cippus.array(SAMPLES / "weather.h5", "day"))


def test_token(cippus):
    with served(cippus, SAMPLES, "--public", "--bind", "127.0.0.1") as s:
        headers = {"Authorization": f"Bearer {s.token}"}
        group = open_store(s, "samples/night.asdf", headers=headers)
        assert group["image"].shape == (128, 160)
