# SPDX-License-Identifier: BSD-3-Clause
"""Files as Zarr stores, read by zarr-python and xarray."""
import asyncio
import json
import os
import pathlib
import pickle
import random
import warnings

import numpy as np
import pytest

import cippus

zarr = pytest.importorskip("zarr", minversion="3")
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
CORPUS = pathlib.Path(os.environ.get("CIPPUS_CORPUS", ROOT.parent / "shared" / "corpus"))
FULL = bool(os.environ.get("CIP_FULL"))

pytestmark = pytest.mark.filterwarnings("ignore:.*Zarr V3 specification")


def same(a, b):
    a, b = (np.asarray(x, x.dtype.newbyteorder("=")) for x in (a, b))
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("name", ["cube.b2nd", "tide.blp", "phantom.ra", "complex.ra"])
def test_a_file_of_one_array_is_an_array(name):
    path = ROOT / "samples" / name
    whole = cippus.open(path).array[...]
    with cippus.zarr_store(path) as store:
        found = zarr.open_array(store, mode="r")
        assert same(found[...], whole)
        some = tuple(slice(1, n // 2 + 1) for n in whole.shape)
        assert np.array_equal(found[some], whole[some])


def test_a_file_of_many_is_a_group_with_the_scalars_of_its_tree(sample):
    with cippus.zarr_store(ROOT / "samples" / "roman.asdf") as store:
        root = zarr.open_group(store, mode="r")
        roman = root["roman"]
        assert sorted(roman.array_keys()) == ["data", "dq", "err"] and list(root.group_keys()) == ["roman"]
        assert roman.attrs["meta"]["telescope"] == "ROMAN"
        for name, array in roman.arrays():
            assert same(array[...], sample("roman.asdf")[f"roman/{name}"][...])


def test_what_zarr_cannot_hold_is_refused_and_named():
    with cippus.zarr_store(ROOT / "samples" / "night.asdf") as store:
        group = zarr.open_group(store, mode="r")
        assert set(store.refused) == {"masked", "stars"} and "no mask" in store.refused["masked"]
        assert sorted(group.array_keys()) == ["counts", "image", "spectrum", "spectrum_again"]
        with pytest.raises(cippus.UnsupportedError, match="masked: elements may be missing"):
            group["masked"]
    with pytest.raises(cippus.UnsupportedError, match="Zarr has no type"):
        cippus.zarr_store(ROOT / "samples" / "night.asdf", "stars")
    with pytest.raises(KeyError):
        cippus.zarr_store(ROOT / "samples" / "night.asdf", "nothing")


TYPES = ["?", "i1", "<u8", ">i4", "<f2", ">f8", "<c16", ">c8", "S5", "<U3", ">U3", "<M8[ns]", ">m8[s]"]


@pytest.mark.parametrize("dtype", TYPES)
def test_each_type_is_what_zarr_reads(made, dtype):
    values = np.arange(60).astype("i8").astype(dtype).reshape(4, 15)
    for format in ("asdf", "npy", "blosc2"):
        try:
            data = made({"a" if format == "asdf" else "": values}, format=format)
        except cippus.Error:
            continue
        store = cippus.zarr_store(data, "a" if format == "asdf" else "")
        assert same(zarr.open_array(store, mode="r")[...], values)


def test_records_are_read_with_their_fields(made):
    values = np.zeros(7, [("a", ">i2"), ("b", "<f8")])
    values["a"], values["b"] = np.arange(7), np.arange(7) / 2
    found = zarr.open_array(cippus.zarr_store(made({"": values}, format="npy")), mode="r")[...]
    assert np.array_equal(found["a"], values["a"]) and np.array_equal(found["b"], values["b"])


def test_windows_read_only_the_chunks_they_touch(tmp_path):
    path = tmp_path / "big.b2nd"
    values = np.random.default_rng(1).integers(0, 9, (200, 300)).astype("i4")
    with cippus.create(path) as w:
        w.put("", values, chunks=(32, 64))
    store = cippus.zarr_store(path)
    asked = []
    chunk, store._chunk = store._chunk, lambda *which: asked.append(which) or chunk(*which)
    array = zarr.open_array(store, mode="r")
    assert array.chunks == (32, 64)
    assert np.array_equal(array[30:40, 250:300], values[30:40, 250:300])
    assert sorted(index for _, index in asked) == [(0, 3), (0, 4), (1, 3), (1, 4)]
    choose = random.Random(2)
    for _ in range(50):
        key = tuple(slice(*sorted(choose.choices(range(n + 1), k=2)), choose.choice((1, 3))) for n in values.shape)
        assert np.array_equal(array[key], values[key])


def test_an_array_in_one_piece_is_cut_along_its_first_axes(tmp_path):
    values = np.arange(3 * 1000 * 1000, dtype="f4").reshape(3, 1000, 1000)
    np.save(tmp_path / "a.npy", values)
    array = zarr.open_array(cippus.zarr_store(tmp_path / "a.npy"), mode="r")
    assert array.chunks == (1, 1000, 1000)
    assert np.array_equal(array[2, 5:7], values[2, 5:7])
    for shape in ((), (0,), (5, 0, 2)):
        empty = np.ones(shape)
        np.save(tmp_path / "b.npy", empty)
        assert same(zarr.open_array(cippus.zarr_store(tmp_path / "b.npy"), mode="r")[...], empty)


def test_keys_and_ranges_are_those_of_a_store():
    async def look():
        store = cippus.zarr_store(ROOT / "samples" / "cube.b2nd")
        keys = [k async for k in store.list()]
        assert keys[0] == "zarr.json" and len(keys) == 9 and all([await store.exists(k) for k in keys])
        assert [k async for k in store.list_prefix("c/1/")] == [k for k in keys if k.startswith("c/1/")]
        assert [k async for k in store.list_dir("")] == ["zarr.json", "c"]
        assert [k async for k in store.list_dir("c/1")] == ["0", "1"]
        for key in ("c/2/0/0", "c/0/0", "c/-1/0/0", "c/00/0/0", "x/zarr.json", "x", "c/0/0/0/0"):
            assert not await store.exists(key) and await store.get(key) is None
        whole = (await store.get("c/0/1/1")).to_bytes()
        assert await store.getsize("c/0/1/1") == len(whole)
        parts = [RangeByteRequest(3, 9), OffsetByteRequest(2000), SuffixByteRequest(7), SuffixByteRequest(10**6), None]
        wanted = [whole[3:9], whole[2000:], whole[-7:], whole, whole]
        buffers = await store.get_partial_values(zarr.core.buffer.default_buffer_prototype(), [("c/0/1/1", p) for p in parts])
        assert [b.to_bytes() for b in buffers] == wanted
        with pytest.raises(ValueError, match="read-only"):
            await store.set("c/0/0/0", buffers[0])
        with pytest.raises(ValueError, match="read-only"):
            await store.delete("zarr.json")
        assert json.loads((await store.get("zarr.json")).to_bytes())["shape"] == [6, 24, 30]

    asyncio.run(look())


def test_the_loop_goes_on_while_a_chunk_is_read(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(4))

    async def look():
        store, loop = cippus.zarr_store(tmp_path / "a.npy"), asyncio.get_running_loop()
        done = asyncio.Event()
        store._find = lambda key: asyncio.run_coroutine_threadsafe(done.wait(), loop).result(10)
        asked = asyncio.create_task(store.get("c/0"))
        await asyncio.sleep(0.01)
        done.set()
        await asyncio.gather(asked, return_exceptions=True)

    asyncio.run(look())


def test_a_store_of_a_path_is_pickled_by_it(made):
    store = cippus.zarr_store(ROOT / "samples" / "cube.b2nd")
    again = pickle.loads(pickle.dumps(store))
    assert again == store and same(zarr.open_array(again)[...], zarr.open_array(store)[...])
    with pytest.raises(TypeError, match="path"):
        pickle.dumps(cippus.zarr_store(made({"a": np.arange(3)})))


def test_a_changed_array_is_never_read_as_the_old_one(tmp_path):
    path = tmp_path / "a.b2nd"
    with cippus.create(path) as w:
        w.put("", np.arange(40, dtype="i4"), chunks=(8,))
    with cippus.open(path, "r+") as file:
        array = zarr.open_array(cippus.zarr_store(file), mode="r")
        file.array[3] = 77
        file.commit()
        assert array[3] == 77
        file.array.resize(20)
        file.commit()
        with pytest.raises(cippus.BusyError, match="another shape"):
            array[:]
        assert zarr.open_array(cippus.zarr_store(file), mode="r").shape == (20,)
    with pytest.raises(ValueError):
        array[:]


def test_xarray_opens_the_store(sample):
    xarray = pytest.importorskip("xarray")
    with cippus.zarr_store(ROOT / "samples" / "roman.asdf") as store:
        found = xarray.open_zarr(store, group="roman", consolidated=False, chunks=None)
        file = sample("roman.asdf")
        assert set(found) == {"data", "dq", "err"} and found.attrs["meta"]["telescope"] == "ROMAN"
        for name in found:
            assert same(found[name].values, file[f"roman/{name}"][...])


def take(files, seed, n):
    return files if FULL else random.Random(seed).sample(files, min(n, len(files)))


def test_each_file_of_the_corpus_is_what_cippus_reads():
    if not (CORPUS / "manifest.json").exists():
        pytest.skip("no corpus")
    files = [f for f in json.loads((CORPUS / "manifest.json").read_text())["files"] if "peer-cannot-read" not in f]
    for row in take(files, 3, 150):
        try:
            file = cippus.open(CORPUS / row["file"])
        except cippus.Error:
            continue
        with file:
            try:
                store = cippus.zarr_store(file)
            except cippus.UnsupportedError:
                continue
            for path, array in store._arrays.items():
                try:
                    whole = array[...]
                except cippus.Error:
                    continue
                found = zarr.open_array(store, path=path, mode="r")[...]
                assert same(np.asarray(found), np.asarray(whole)), (row["file"], path)


def test_a_hostile_file_ends_in_an_error_of_cippus_or_in_data():
    if not (CORPUS / "hostile.json").exists():
        pytest.skip("no corpus")
    files = json.loads((CORPUS / "hostile.json").read_text())["files"]
    for row in take(files, 4, 120):
        try:
            store = cippus.zarr_store(CORPUS / row["file"])
            for path in store._arrays:
                array = zarr.open_array(store, path=path, mode="r")
                array[tuple(slice(0, 2) for _ in array.shape)]
        except (cippus.Error, MemoryError):
            continue


warnings.filterwarnings("ignore", message=".*Zarr V3 specification")
