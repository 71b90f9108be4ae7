# SPDX-License-Identifier: BSD-3-Clause
"""FITS files of ours, read by astropy: images and tables of all types, headers, and files of astropy written again."""
import warnings

import numpy as np
import pytest

from test_fits_read import TYPES, assert_same, random_array, random_shape

fits = pytest.importorskip("astropy.io.fits")
asdf = pytest.importorskip("asdf")


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def opened(path):
    with fits.open(path, memmap=False, checksum=True) as hdus:
        hdus.verify("exception")
        return [(h.name, h.header, h.data) for h in hdus]


@pytest.mark.parametrize("dtype", TYPES + ["f2"])
def test_images(cippus, rng, tmp_path, dtype):
    for i in range(3):
        a = rng.normal(size=random_shape(rng)).astype("f2") if dtype == "f2" else random_array(rng, dtype, random_shape(rng, 4))
        np.save(tmp_path / "a.npy", a)
        cippus.run("convert", tmp_path / "a.npy", tmp_path / f"{i}.fits")
        ((name, _, got),) = opened(tmp_path / f"{i}.fits")
        assert name == "PRIMARY"
        assert_same(got, a.astype("f4") if dtype == "f2" else a)
        assert (tmp_path / f"{i}.fits").stat().st_size % 2880 == 0
        assert np.array_equal(cippus.array(tmp_path / f"{i}.fits"), a)


def test_tables(cippus, rng, tmp_path):
    fields = [(f"c{t}", t) for t in ["?", *TYPES, "c8", "c16", "S5"]]
    fields += [("pair", "u2", (2,)), ("square", "f8", (2, 3)), ("flags", "?", (4,)), ("names", "S3", (2,)), ("one", "i4", (1,))]
    a = np.zeros(17, np.dtype(fields))
    for field in fields:
        part = a[field[0]]
        if field[1] == "?":
            part[...] = rng.integers(0, 2, part.shape)
        elif field[1].startswith("S"):
            part[...] = rng.choice([b"a", b"", b"xyz"], part.shape)
        elif field[1].startswith("c"):
            part[...] = rng.normal(size=part.shape) + 2j
        else:
            part[...] = random_array(rng, field[1], part.shape)
    np.save(tmp_path / "a.npy", a)
    cippus.run("convert", tmp_path / "a.npy", tmp_path / "a.fits")
    (primary, (_, _, got)) = opened(tmp_path / "a.fits")
    assert primary[2] is None and len(got) == 17
    for field in fields:
        if field[1] == "i1":  # astropy has float64 for TZERO = -128
            assert np.array_equal(got[field[0]], a[field[0]])
        else:
            assert_same(a[field[0]], got[field[0]])
    assert cippus.array(tmp_path / "a.fits").tobytes() == a.tobytes()


def test_several_arrays_and_headers(cippus, rng, tmp_path):
    header = {"TEXT": "it's", "LONG": "many words " * 20, "REAL": 1.5e-300, "WHOLE": -7, "YES": True, "NOTHING": None}
    header.update({"HISTORY": ["one", "two"], "a longer key": 3, "PAIR": [1.5, -2.0]})
    tree = {
        "SCI": {"header": header, "comments": {"REAL": "tiny"}, "data": random_array(rng, "u2", (3, 4))},
        "events": np.zeros(3, [("x", "i4"), ("y", "f8")]),
    }
    asdf.AsdfFile(tree).write_to(tmp_path / "a.asdf")
    cippus.run("convert", tmp_path / "a.asdf", tmp_path / "a.fits")
    (name, got, data), (second, _, events) = opened(tmp_path / "a.fits")
    assert (name, second) == ("SCI", "events")
    assert_same(data, tree["SCI"]["data"])
    assert len(events) == 3 and events.dtype.names == ("x", "y")
    assert got["TEXT"] == "it's" and got["LONG"] == ("many words " * 20).rstrip() and got["REAL"] == 1.5e-300
    assert got["WHOLE"] == -7 and got["YES"] is True and got["NOTHING"] is None
    assert list(got["HISTORY"]) == ["one", "two"] and got["a longer key"] == 3 and got["PAIR"] == 1.5 - 2j
    assert got.comments["REAL"] == "tiny"


def test_files_of_astropy_again(cippus, rng, tmp_path):
    hdus = [fits.PrimaryHDU()]
    hdus[0].header["OBJECT"] = ("M 13", "a cluster")
    for i in range(3):
        hdus.append(fits.ImageHDU(random_array(rng, TYPES[i + 2], (5, 6)), name="SCI", ver=i + 1))
    column = fits.Column("n", "J", null=7, unit="adu", array=np.arange(9))
    hdus.append(fits.BinTableHDU.from_columns([column], name="T"))
    fits.HDUList(hdus).writeto(tmp_path / "a.fits")
    cippus.run("convert", tmp_path / "a.fits", tmp_path / "b.fits")
    one, two = opened(tmp_path / "a.fits"), opened(tmp_path / "b.fits")
    assert [h[0] for h in one] == [h[0] for h in two]
    for (_, header, data), (_, again, copy) in zip(one, two):
        for card in header.cards:
            if card.keyword == "BSCALE":  # astropy writes 1 beside the BZERO of unsigned integers
                continue
            assert again[card.keyword] == card.value and again.comments[card.keyword] == card.comment
        if data is not None:
            assert np.array_equal(data, copy)


def test_texts(cippus, tmp_path):
    a = np.array([("ab",), ("",), ("xyz",)], [("name", "U3")])
    np.save(tmp_path / "a.npy", a)
    cippus.run("convert", tmp_path / "a.npy", tmp_path / "a.fits")
    assert list(opened(tmp_path / "a.fits")[1][2]["name"]) == ["ab", "", "xyz"]
    a["name"][1] = "é"
    np.save(tmp_path / "b.npy", a)
    cippus.run("convert", tmp_path / "b.npy", tmp_path / "b.fits", status=3)


def test_what_it_cannot_hold(cippus, tmp_path):
    for i, a in enumerate([np.zeros(3, "?"), np.zeros(3, "c8"), np.array(1.0), np.zeros((2, 2), [("x", "i4")]), np.zeros(2, "U3")]):
        np.save(tmp_path / f"{i}.npy", a)
        cippus.run("convert", tmp_path / f"{i}.npy", tmp_path / "no.fits", status=3)
        assert not (tmp_path / "no.fits").exists()
