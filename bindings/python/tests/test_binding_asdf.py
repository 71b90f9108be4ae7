# SPDX-License-Identifier: BSD-3-Clause
"""The asdf package with cippus under it."""
import gc
import importlib.util
import io
import pathlib
import pickle
import threading
import warnings

import numpy as np
import pytest

import cippus

asdf = pytest.importorskip("asdf")
import cippus.asdf  # noqa: E402

SAMPLES = pathlib.Path(__file__).resolve().parents[3] / "samples"
SMOOTH = np.arange(70_000, dtype="<f8").reshape(70, 1000)
NOISE = np.random.default_rng(2).integers(0, 256, 500_001, dtype="u1")
TREE = {"smooth": SMOOTH, "noise": NOISE, "one": np.arange(3), "none": np.zeros((0, 4)), "c": np.arange(7) * 1j}


@pytest.fixture(autouse=True)
def silent():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Found more than one compressor")
        yield


def written(label, tree=TREE, extension=True, **kwargs):
    with asdf.config_context() as config:
        if extension:
            config.add_extension(cippus.asdf.Compression(label))
        file = io.BytesIO()
        asdf.AsdfFile(dict(tree)).write_to(file, all_array_compression=label, compression_kwargs=kwargs)
        return file.getvalue()


def read(data, label=None):
    with asdf.config_context() as config:
        if label:
            config.add_extension(cippus.asdf.Compression(label))
        with asdf.open(io.BytesIO(data), lazy_load=False, memmap=False) as af:
            return {key: np.array(af[key]) for key in TREE if key in af}


def same(found):
    assert set(found) == set(TREE)
    for key, value in TREE.items():
        np.testing.assert_array_equal(found[key], value)


@pytest.mark.parametrize("label", cippus.asdf.LABELS)
def test_each_reads_what_the_other_writes(label):
    ours = written(label)
    assert ours.count(label.ljust(4, "\0").encode()) >= 4
    same(read(ours, label))
    if label != "bls2":  # asdf and asdf-compression have no such
        same(read(ours))
        theirs = written(label, extension=False)
        same(read(theirs, label))
        with cippus.open(theirs) as f:
            same({key: f[key][...] for key in TREE})
    with cippus.open(ours) as f:
        same({key: f[key][...] for key in TREE})
        assert f["smooth"].codec == label


@pytest.mark.parametrize("label", ("lz4", "lz4f", "zstd", "blsc"))
def test_noise_of_several_pieces(label):
    noise = np.random.default_rng(2).integers(0, 256, 9_000_001, dtype="u1")
    np.testing.assert_array_equal(read(written(label, {"noise": noise}))["noise"], noise)


def test_lz4_of_others(sample):
    for label in ("lz4", "zlib", "bzp2"):
        with asdf.config_context() as config:
            config.add_extension(cippus.asdf.Compression(label))
            with asdf.open(SAMPLES / "night.asdf") as af:
                for key in ("image", "counts", "spectrum"):
                    np.testing.assert_array_equal(af[key], sample("night.asdf")[key][...])


def test_what_is_there_without_asking():
    labels = {c.label for e in asdf.get_config().extensions for c in e.compressors}
    assert {b"bls2", b"blsc", b"zstd", b"lz4f"} <= labels
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of two compressors with one label asdf would warn
        same(read(written("bls2", extension=False)))


@pytest.mark.parametrize("others", (False, True))
def test_no_label_of_others_is_registered_without_asking(monkeypatch, others):
    """lz4 is asdf's own label, also where the package lz4 is missing."""
    there = {"asdf_compression": object()} if others else {}
    monkeypatch.setattr(importlib.util, "find_spec", there.get)
    found = [c.label for e in cippus.asdf.get_extensions() for c in e.compressors]
    assert found == [b"bls2"] + ([] if others else [b"blsc", b"zstd", b"lz4f"])


def test_options():
    smooth = {"smooth": SMOOTH}
    assert written("zstd", smooth, level=19) != written("zstd", smooth, level=1)
    assert len(written("blsc", smooth, cname="zstd", level=9)) < len(written("blsc", smooth, level=1, filter="none"))
    same(read(written("bls2", threads=2, cname="lz4"), "bls2"))
    with pytest.raises(TypeError, match="no option 'speed'"):
        written("zstd", speed=3)
    with pytest.raises(ValueError, match="none of"):
        cippus.asdf.Compression("rle")
    with pytest.raises(cippus.Error):
        written("zstd", level=99)


def test_files_are_in_need_of_nothing_new():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for label in ("lz4", "zlib", "bzp2", "blsc", "zstd", "lz4f"):
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Found more than one compressor")
                data = written(label)
            same(read(data))


@pytest.mark.parametrize("label", cippus.asdf.LABELS)
def test_damaged_blocks_are_exceptions(label):
    good = written(label, {"smooth": SMOOTH[:50]})
    start = good.index(b"\xd3BLK") + 54
    rng = np.random.default_rng(11)
    wrong = 0
    for _ in range(25):
        data = bytearray(good)
        for at in rng.integers(start, len(data) - 60, 8):
            data[at] ^= int(rng.integers(1, 256))
        try:
            found = read(bytes(data), label)
            wrong += not np.array_equal(found["smooth"], SMOOTH[:50])
        except Exception:
            pass
    print(label, "without an exception and not equal:", wrong)


def test_windows(sample):
    with asdf.config_context() as config:
        config.add_extension(cippus.asdf.Windows())
        with asdf.open(SAMPLES / "night.asdf") as af:
            for key in ("image", "counts", "spectrum_again", "stars"):
                assert isinstance(af[key], cippus.Array)
                np.testing.assert_array_equal(af[key][3:5], sample("night.asdf")[key][3:5])
            assert np.ma.isMaskedArray(af["masked"]) and af["masked"].mask.any()
            image = af["image"]
            out = io.BytesIO()
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                af.write_to(out)  # as numpy's arrays
        np.testing.assert_array_equal(image[20:30, 40:50], sample("night.asdf")["image"][20:30, 40:50])
        with pytest.warns(asdf.exceptions.AsdfConversionWarning, match="that have a path"):
            with asdf.open(io.BytesIO((SAMPLES / "night.asdf").read_bytes())) as af:
                assert isinstance(af["image"], dict)  # what asdf makes of any failure of a converter
    out.seek(0)
    with asdf.open(out) as af:
        np.testing.assert_array_equal(af["image"], image[...])


def test_windows_of_a_large_block_decode_little(tmp_path):
    path = tmp_path / "large.asdf"
    path.write_bytes(written("bls2", {"a": NOISE, "b": NOISE[:9].copy()}))
    with asdf.config_context() as config:
        config.add_extension(cippus.asdf.Windows())
        with asdf.open(path) as af:
            np.testing.assert_array_equal(af["a"][300_000:300_009], NOISE[300_000:300_009])
            np.testing.assert_array_equal(af["b"][...], NOISE[:9])
    gc.collect()
    path.unlink()


def test_arrays_of_a_file_in_trees(sample):
    out = io.BytesIO()
    asdf.AsdfFile({"x": {"image": sample("night.asdf")["image"]}}).write_to(out)
    out.seek(0)
    with asdf.open(out) as af:
        np.testing.assert_array_equal(af["x"]["image"], sample("night.asdf")["image"][...])


def test_threads():
    data, failed = written("zstd"), []

    def work():
        try:
            same(read(data))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed
    pickle.dumps(cippus.asdf.Compression("zstd"))


def test_arrays_take_their_masks_and_units_to_asdf():
    with cippus.create(format="asdf") as w:
        w["m"] = np.ma.MaskedArray(np.arange(4), [0, 1, 0, 0])
        w._change.set("q", "!unit/quantity-1.2.0 {unit: !unit/unit-1.0.0 m, note: kept}", True)
        w["q/value"] = np.arange(3.0)
    data = io.BytesIO()
    with asdf.config_context() as config, cippus.open(w.getvalue()) as f:
        config.add_extension(cippus.asdf.Arrays())
        asdf.AsdfFile({"m": f["m"], "q": f["q"], "v": f["q/value"]}).write_to(data)
    with cippus.open(data.getvalue()) as f:
        assert f["m"][...].mask.tolist() == [False, True, False, False]
        holder = f["q"].parent
        assert holder.tag.endswith("unit/quantity-1.2.0") and holder["unit"].tag.endswith("unit/unit-1.0.0")
        assert f["q"].attrs["unit"] == "m" and holder["note"] == "kept" and f["q"][...].tolist() == [0, 1, 2]
        assert "quantity" not in (f["v"].parent.tag or "") and f["v"][...].tolist() == [0, 1, 2]
