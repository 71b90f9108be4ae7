# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 files that cippus writes, read by h5py and hdf5plugin: types, codecs, chunks, trees, axes; and copies of copies."""
import json
import os
import random
import re
import subprocess

import asdf
import numpy as np
import pytest

h5py = pytest.importorskip("h5py")
pytest.importorskip("hdf5plugin")

CIPPUS = os.environ["CIPPUS"]
DTYPES = ["?", "i1", "u1", "<i2", ">i4", "<u4", "<i8", ">u8", "<f2", "<f4", ">f8", "<c8", ">c16", "<U5", "S6", "<M8[25s]", "<m8[ns]", "V5",
          [("a", "<i4"), ("b", ">f8"), ("s", "S3"), ("c", "<c8"), ("n", "?")], [("x", "<f4", (2, 3)), ("t", "<M8[D]")],
          np.dtype({"names": ["a", "b"], "formats": ["<i2", "<f8"], "offsets": [1, 8], "itemsize": 20})]
CODECS = ["none", "zlib", "zlib:1", "zstd", "zstd:9", "lz4", "blosc", "blosc:9", "blosc2", "blosc2:1"]
NSEED = 1000 if os.environ.get("FULL") else 80


def run(*argv, status=0):
    p = subprocess.run([CIPPUS, *map(str, argv)], capture_output=True)
    assert p.returncode == status, p.stderr.decode()
    return p.stdout


def values(rng, dtype, shape):
    dt = np.dtype(dtype)
    n = int(np.prod(shape)) * dt.itemsize
    if dt.names:
        made = np.zeros(shape, dt)
        for name in dt.names:
            base, sub = dt[name].subdtype or (dt[name], ())
            made[name] = values(rng, base, (*shape, *sub))
        return made
    if dt.kind == "U":
        return rng.integers(97, 122, n // 4).astype("<u4").view(dt).reshape(shape)
    if dt.kind in "SV":
        return rng.integers(65, 90, n).astype("u1").view(dt).reshape(shape)
    if dt.kind in "mM":
        return rng.integers(-1000, 1000, shape).astype("i8").astype(dt)
    made = rng.integers(0, 2 if dt.kind == "b" else 100, shape)
    return (made * (rng.random(shape) < 0.5 if rng.random() < 0.3 else 1)).astype(dt)


def options(r, shape, dtype):
    codec = r.choice(CODECS)
    found = ["--codec", codec]
    if shape and r.random() < 0.7:
        found += ["--option", "chunks=" + ",".join(str(r.randint(1, 12)) for _ in shape)]
    blosc = codec.startswith("blosc")
    if codec != "none" and r.random() < 0.5:
        found += ["--option", "shuffle=" + r.choice(["byte", "none", "bit"] if blosc else ["byte", "none"])]
    if blosc and r.random() < 0.5:
        found += ["--option", "inner=" + r.choice(["blosclz", "lz4", "lz4hc", "zlib", "zstd"])]
    if not codec.startswith("blosc2") and r.random() < 0.3:
        found += ["--option", "fletcher32=yes"]
    return found


def as_stored(want):
    """Strings of code points are stored as bytes, records are little-endian, all else is as it is."""
    return want.astype(f"S{want.dtype.itemsize // 4}") if want.dtype.kind == "U" else want


def equal(got, want):
    got = np.asarray(got)
    if want.dtype.names:
        return got.dtype.names == want.dtype.names and got.shape == want.shape and all(equal(got[n], as_stored(want[n].astype(want[n].dtype.newbyteorder("<")))) for n in want.dtype.names)
    return got.dtype == want.dtype and got.shape == want.shape and got.tobytes() == want.tobytes()


@pytest.mark.parametrize("seed", range(NSEED))
@pytest.mark.filterwarnings("ignore")
def test_random_arrays(tmp_path, seed):
    r, rng = random.Random(seed), np.random.default_rng(seed)
    dtype = DTYPES[seed % len(DTYPES)]
    shape = tuple(r.choice([1, 5, 17, 40]) for _ in range(r.choice([0, 1, 2, 2, 3])))
    if r.random() < 0.1 and shape:
        shape = (0, *shape[1:])
    want = values(rng, dtype, shape)
    np.save(tmp_path / "a.npy", want)
    out = tmp_path / "a.h5"
    words = options(r, shape, dtype)
    run("convert", tmp_path / "a.npy", out, *words)
    with h5py.File(out) as f:
        found = f["data"]
        assert equal(found[()], as_stored(want)), words
        if found.chunks and "--option" in words and words[words.index("--option") + 1].startswith("chunks="):
            asked = [int(n) for n in words[words.index("--option") + 1][7:].split(",")]
            assert found.chunks == tuple(min(c, n) for c, n in zip(asked, shape))
    assert run("verify", "--deep", out).decode().endswith(": ok\n")
    run("convert", out, tmp_path / "b.npy")
    assert equal(np.load(tmp_path / "b.npy"), as_stored(want))
    run("convert", out, tmp_path / "again.h5", *words)
    assert (tmp_path / "again.h5").read_bytes() == out.read_bytes()


def nested(n):
    return [nested(n - 1)] if n else 1


TREE = {"title": "näht", "n": 7, "max": 2**63 - 1, "deep": nested(32), "neg": -3, "x": 2.5, "yes": True, "none": None, "empty list": [], "words": ["a", "", "ccc"],
        "mixed": [1, 2.5], "grid": [[1, 2], [3, 4]], "flags": [True, False],
        "obs": {"image": np.arange(12.0).reshape(3, 4), "x": np.arange(4, dtype="i2"), "y": np.arange(3), "gain": 2.5, "loose": np.zeros((2, 4)),
                "dims": {"image": ["y", "x"], "x": ["x"], "y": ["y"], "loose": ["z", "x"]}, "attrs": {"image": {"units": "K", "range": [0.0, 11.0]}, "x": {"units": "m"}}},
        "meta": {"instrument": {"name": "X", "modes": [1, 2, 3]}, "nothing": {}}, "table": {"id": np.arange(5), "name": "n"}}


def test_a_tree_becomes_groups_and_comes_back(tmp_path):
    asdf.AsdfFile(TREE).write_to(tmp_path / "a.asdf")
    run("convert", tmp_path / "a.asdf", tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5") as f:
        assert list(f) == ["meta", "obs", "table"]  # asdf sorts them
        assert f.attrs["title"] == "näht" and f.attrs["n"] == 7 and f.attrs["max"].dtype == "i8" and f.attrs["deep"].shape == (1,) * 32 and f.attrs["x"] == 2.5
        assert f.attrs["yes"] is np.True_ and f.attrs["none"].shape is None and list(f.attrs["words"]) == ["a", "", "ccc"]
        assert f.attrs["grid"].tolist() == [[1, 2], [3, 4]] and f.attrs["empty list"].shape == (0,)
        assert f["meta/instrument"].attrs["name"] == "X" and f["meta/instrument"].attrs["modes"].tolist() == [1, 2, 3]
        image = f["obs/image"]
        assert equal(image[...], TREE["obs"]["image"]) and image.attrs["units"] == "K"
        assert image.dims[1].keys() == ["x"] and image.dims[0].keys() == ["y"] and image.dims[0].label == ""
        loose = f["obs/loose"].dims  # other programs read no mixture of axes with and without a scale
        assert [d.label for d in loose] == ["z", "x"] and loose[1].keys() == []
        assert len(f.attrs) == len(list(f.attrs)) and len(image.attrs) == len(list(image.attrs)) == 3
        assert f["obs/x"].is_scale and equal(image.dims[1]["x"][...], TREE["obs"]["x"])
        assert f[image.attrs["DIMENSION_LIST"][1][0]] == f["obs/x"] and f["obs/x"].attrs["REFERENCE_LIST"][0][1] == 1
    first, back = (json.loads(run("tree", "--json", tmp_path / name)) for name in ("a.asdf", "a.h5"))
    del first["asdf_library"], first["history"]
    for name in ("x", "y"):  # what makes it a scale
        assert back["obs"]["attrs"][name].pop("CLASS") == "DIMENSION_SCALE" and back["obs"]["attrs"][name].pop("NAME") == name
    assert back["obs"]["attrs"].pop("y") == {}
    assert {k: v for k, v in back.items() if k not in ("obs", "table")} == {k: v for k, v in first.items() if k not in ("obs", "table")}
    assert back["obs"]["dims"] == first["obs"]["dims"] and back["obs"]["attrs"] == first["obs"]["attrs"]
    run("convert", tmp_path / "a.h5", tmp_path / "b.h5")
    run("convert", tmp_path / "b.h5", tmp_path / "c.h5")
    assert (tmp_path / "b.h5").read_bytes() == (tmp_path / "c.h5").read_bytes()


def test_xarray_reads_axes(tmp_path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    data = xarray.Dataset({"t": (("time", "x"), np.arange(6.0).reshape(2, 3), {"units": "K"})}, {"time": [10, 20], "x": [0.5, 1.5, 2.5]})
    data.to_zarr(tmp_path / "a.zarr", zarr_format=3)
    run("convert", tmp_path / "a.zarr", tmp_path / "a.nc")
    with xarray.open_dataset(tmp_path / "a.nc", engine="h5netcdf") as back:
        assert back["t"].dims == ("time", "x") and back["t"].attrs["units"] == "K"
        xarray.testing.assert_equal(back.load(), data)


def test_numbers_that_are_compared_have_the_type_of_their_dataset(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as f:
        d = f.create_dataset("t", data=np.zeros(3, "f4"))
        d.attrs["_FillValue"], d.attrs["valid_range"], d.attrs["scale_factor"] = np.float32(0.1), np.array([-1, 1], "f4"), 0.1
        f.create_dataset("n", data=np.zeros(3, "i2")).attrs["missing_value"] = np.int16(-99)
        f["n"].attrs["_FillValue"] = 70000  # no int16
        f["n"].attrs["_Netcdf4Dimid"] = np.int32(2)
    run("convert", tmp_path / "a.h5", tmp_path / "b.h5")
    with h5py.File(tmp_path / "b.h5") as f:
        assert f["t"].attrs["_FillValue"].dtype == "f4" and f["t"].attrs["_FillValue"] == np.float32(0.1)
        assert f["t"].attrs["valid_range"].dtype == "f4" and f["t"].attrs["scale_factor"].dtype == "f8"
        assert f["n"].attrs["missing_value"].dtype == "i2" and f["n"].attrs["_FillValue"] == 70000 and f["n"].attrs["_Netcdf4Dimid"].dtype == "i4"


def test_what_hdf5_says_of_axes_is_written_once(tmp_path):
    tree = {"a": np.arange(3), "b": np.arange(3), "dims": {"a": ["x"]},
            "attrs": {"a": {"DIMENSION_LABELS": ["foo"], "DIMENSION_LIST": [5]}, "b": {"DIMENSION_LABELS": 5, "CLASS": "DIMENSION_SCALE", "k": 1}}}
    asdf.AsdfFile(tree).write_to(tmp_path / "a.asdf")
    p = subprocess.run([CIPPUS, "convert", tmp_path / "a.asdf", tmp_path / "a.h5", "--accept-loss"], capture_output=True, text=True)
    for name in ("a/DIMENSION_LABELS", "a/DIMENSION_LIST", "b/DIMENSION_LABELS", "b/CLASS"):
        assert f"{name}: this attribute is lost" in p.stderr
    with h5py.File(tmp_path / "a.h5") as f:
        assert f["a"].dims[0].label == "foo" and f["b"].dims[0].label == "" and list(f["b"].attrs) == ["k"]
    run("convert", "--path", "b", tmp_path / "a.h5", tmp_path / "one.h5")
    with h5py.File(tmp_path / "one.h5") as f:
        assert list(f) == ["b"] and dict(f["b"].attrs) == {"k": 1}
    with h5py.File(tmp_path / "c.h5", "w") as f:  # a scale with a name of its own, and a label besides
        f["x"], f["d"] = np.arange(2), np.arange(2)
        f["x"].make_scale("the x")
        f["d"].dims[0].attach_scale(f["x"])
        f["d"].dims[0].label = "l"
    run("convert", tmp_path / "c.h5", tmp_path / "d.h5")
    with h5py.File(tmp_path / "d.h5") as f:
        assert f["x"].attrs["NAME"] == b"the x" and f["d"].dims[0].label == "l" and f["d"].dims[0].keys() == ["the x"]
        assert sorted(f["d"].attrs) == ["DIMENSION_LABELS", "DIMENSION_LIST"] and len(f["d"].attrs) == 2


def test_each_entry_beside_arrays_is_judged_alone(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f["attrs"], f["d"], f["e"] = 1, np.arange(2), h5py.Empty("f4")
        f["d"].attrs["k"], f["e"].attrs["k"], f.attrs["c"] = 1, 2, 1 + 2j
        f["soft"] = h5py.SoftLink("/d")
        f["type"] = np.dtype("i4")
        f["type"].attrs["k"] = 3
    p = subprocess.run([CIPPUS, "convert", tmp_path / "a.h5", tmp_path / "b.h5", "--accept-loss"], capture_output=True, text=True)
    assert "type: what is said of it is lost" in p.stderr
    with h5py.File(tmp_path / "b.h5") as f:
        assert sorted(f) == ["attrs", "d", "soft", "type"] and f["d"].attrs["k"] == 1 and f.attrs["c"] == 1 + 2j


def test_enumerations_and_links_stay(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as f:
        kinds = h5py.enum_dtype({"RED": 1, "GREEN": -2, "BLUE": 3}, basetype="<i2")
        f.create_dataset("kind", data=[1, -2, 3], dtype=kinds)
        f["soft"] = h5py.SoftLink("/kind")
        f["outside"] = h5py.ExternalLink("other.h5", "/x/y")
        f.create_group("group/below")
        f["group/below/up"] = f["group"]  # in a circle
        f["again"] = f["group/below"]
    run("convert", tmp_path / "a.h5", tmp_path / "b.h5")
    with h5py.File(tmp_path / "b.h5") as f:
        assert h5py.check_enum_dtype(f["kind"].dtype) == {"RED": 1, "GREEN": -2, "BLUE": 3}
        assert f.get("soft", getlink=True).path == "/kind" and f["soft"][...].tolist() == [1, -2, 3]
        assert f.get("outside", getlink=True).filename == "other.h5" and f.get("outside", getlink=True).path == "/x/y"
        assert f["again"].id == f["group/below"].id and f["again/up"].id == f["group"].id


def test_blosc2_chunks_move_as_they_are(tmp_path):
    blosc2 = pytest.importorskip("blosc2")
    want = np.random.default_rng(1).normal(size=(100, 90)).astype("f4")
    blosc2.asarray(want, chunks=(40, 30), blocks=(16, 16), urlpath=str(tmp_path / "a.b2nd"), cparams={"codec": blosc2.Codec.ZSTD, "clevel": 7})
    run("convert", tmp_path / "a.b2nd", tmp_path / "a.h5", "--codec", "blosc2")
    with h5py.File(tmp_path / "a.h5") as f:
        assert f["data"].chunks == (40, 30) and equal(f["data"][...], want)
    frame = (tmp_path / "a.b2nd").read_bytes()
    at = int.from_bytes(frame[11:15], "big")  # the header's length: the first chunk follows
    stored = frame[at:at + int.from_bytes(frame[at + 12:at + 16], "little")]
    assert len(stored) > 1000
    assert stored in (tmp_path / "a.h5").read_bytes()


def test_many_chunks_and_groups(tmp_path):
    """Indexes of several levels, chunks that are left out, and groups of thousands."""
    want = np.zeros(300_000, "u1")
    want[::2000] = 1
    np.save(tmp_path / "a.npy", want)
    run("convert", tmp_path / "a.npy", tmp_path / "a.h5", "--option", "chunks=10", "--codec", "zlib")
    with h5py.File(tmp_path / "a.h5") as f:
        assert equal(f["data"][...], want) and f["data"].id.get_num_chunks() == 150
    want[:] = 1
    np.save(tmp_path / "a.npy", want)
    run("convert", tmp_path / "a.npy", tmp_path / "full.h5", "--option", "chunks=10", "--codec", "zlib")
    with h5py.File(tmp_path / "full.h5") as f:
        assert equal(f["data"][...], want) and f["data"].id.get_num_chunks() == 30_000
    data = (tmp_path / "full.h5").read_bytes()
    none, at = 2**64 - 1, [m.start() for m in re.finditer(b"TREE\x01\x00", data)]  # the leaves, side by side
    beside = [(int.from_bytes(data[a + 8:a + 16], "little"), int.from_bytes(data[a + 16:a + 24], "little")) for a in at]
    assert len(at) == 469 and beside == list(zip([none] + at[:-1], at[1:] + [none]))
    asdf.AsdfFile({f"a{i}": {"x": np.arange(i % 3 + 1), "n": i} for i in range(1000)}).write_to(tmp_path / "b.asdf")
    run("convert", tmp_path / "b.asdf", tmp_path / "b.h5")
    with h5py.File(tmp_path / "b.h5") as f:
        assert list(f) == sorted(f"a{i}" for i in range(1000)) and all(f[f"a{i}"].attrs["n"] == i for i in range(0, 1000, 50))


def test_many_texts_share_the_heap(tmp_path):
    tree = {"a": np.arange(3)} | {f"t{i}": "x" * (i % 90) for i in range(3000)}
    asdf.AsdfFile(tree).write_to(tmp_path / "a.asdf")
    run("convert", tmp_path / "a.asdf", tmp_path / "a.h5")
    assert (tmp_path / "a.h5").stat().st_size < 600_000
    with h5py.File(tmp_path / "a.h5") as f:
        assert len(f.attrs) == 3000 and all(f.attrs[f"t{i}"] == "x" * (i % 90) for i in range(3000))


def test_what_cannot_be_stored_is_told(tmp_path):
    tree = {"a": np.arange(3), "list": [1, {"x": 2}], "text": "a\0b", "both": [-1, "b"], "33": nested(33), "deep": {"null": [None]}}
    asdf.AsdfFile(tree).write_to(tmp_path / "a.asdf")
    p = subprocess.run([CIPPUS, "convert", tmp_path / "a.asdf", tmp_path / "a.h5"], capture_output=True, text=True)
    assert p.returncode != 0 and not (tmp_path / "a.h5").exists()
    for name in ("list", "text", "both", "33", "deep/null"):
        assert f"{name}: this of the metadata is lost" in p.stderr
    (tmp_path / "b.asdf").write_bytes(b"#ASDF 1.0.0\n#ASDF_STANDARD 1.5.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n"
                                      b"a: !core/ndarray-1.0.0 {data: [1, 2], datatype: int32, shape: [2]}\nlarge: [18446744073709551611, 1.5]\n"
                                      b"bytes: !!binary |\n  AAEC\n  AwQ=\nt: !foo {b: !core/ndarray-1.0.0 {data: [1], datatype: int8, shape: [1]}}\n...\n")
    p = subprocess.run([CIPPUS, "convert", tmp_path / "b.asdf", tmp_path / "b.h5", "--accept-loss"], capture_output=True, text=True)
    assert "large: this of the metadata is lost" in p.stderr and "t/: its tag is lost" in p.stderr and p.returncode == 0
    with h5py.File(tmp_path / "b.h5") as f:
        assert f.attrs["bytes"].tobytes() == bytes(range(5))
    np.savez(tmp_path / "dot.npz", **{".": np.arange(2)})
    run("convert", tmp_path / "dot.npz", tmp_path / "dot.h5", status=3)
    np.save(tmp_path / "u.npy", np.array(["ä"]))
    p = subprocess.run([CIPPUS, "convert", tmp_path / "u.npy", tmp_path / "u.h5"], capture_output=True, text=True)
    assert p.returncode != 0 and not (tmp_path / "u.h5").exists()
