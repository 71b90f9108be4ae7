# SPDX-License-Identifier: BSD-3-Clause
"""FITS files of astropy that are changed in place, and ours with checksums: astropy reads what was put there, and its checksums are right."""
import pathlib
import sys
import warnings

import numpy as np
import pytest

from test_fits_read import TYPES, assert_same, random_array, random_shape

fits = pytest.importorskip("astropy.io.fits")

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from effort import FULL, SEED  # noqa: E402

NSTEP = 400 if FULL else 40


def opened(path, checksum=True):
    """With astropy's own checks of the structure and of both sums."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with fits.open(path, memmap=False, checksum=checksum) as hdus:
            hdus.verify("exception")
            found = [(h.name, h.header.copy(), None if h.data is None else h.data.copy()) for h in hdus]
    assert not [str(w.message) for w in said if "hecksum" in str(w.message) or "atasum" in str(w.message)]
    return found


def window(rng, shape):
    bounds = [sorted(int(i) for i in rng.integers(0, n + 1, 2)) for n in shape]
    at = tuple(slice(a, b, int(rng.integers(1, 4))) for a, b in bounds)
    return at, "[" + ",".join(f"{s.start}:{s.stop}:{s.step}" for s in at) + "]"


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("sums", [False, True])
def test_images(cippus, tmp_path, dtype, sums):
    rng = np.random.default_rng(SEED)
    path, piece = tmp_path / "a.fits", tmp_path / "in.npy"
    model = {"A": random_array(rng, dtype, (30, 40)), "B": random_array(rng, dtype, random_shape(rng, 4)), "C": random_array(rng, "i2", (5,))}
    hdus = [fits.PrimaryHDU()] + [fits.ImageHDU(a, name=key) for key, a in model.items()]
    fits.HDUList(hdus).writeto(path, checksum=sums)
    for _ in range(max(3, NSTEP // len(TYPES))):
        key = ["A", "B"][rng.integers(2)]
        if rng.integers(3) == 0:
            new = random_array(rng, dtype, (int(rng.integers(1, 30)), *model[key].shape[1:]))
            np.save(piece, new)
            cippus.run("append", path, f"{key}/data", piece)
            model[key] = np.concatenate([model[key], new])
        elif rng.integers(4) == 0 and model[key].shape[0] > 1:
            n = int(rng.integers(1, model[key].shape[0]))
            cippus.run("resize", path, f"{key}/data", ",".join(map(str, (n, *model[key].shape[1:]))))
            model[key] = model[key][:n]
        else:
            at, text = window(rng, model[key].shape)
            new = random_array(rng, dtype, model[key][at].shape)
            np.save(piece, new)
            cippus.run("put", path, f"{key}/data", text, piece)
            model[key] = model[key].copy()
            model[key][at] = new
        found = {name: data for name, _, data in opened(path)[1:]}
        for name, a in model.items():
            assert_same(found[name], a)
        assert path.stat().st_size % 2880 == 0
    assert cippus.run("verify", path).decode() == f"{path}: ok\n"


def random_rows(rng, n, fields):
    a = np.zeros(n, np.dtype(fields))
    for name, kind, *_ in fields:
        part = a[name]
        if kind == "?":
            part[...] = rng.integers(0, 2, part.shape)
        elif kind.startswith("S"):
            part[...] = rng.choice([b"a", b"", b"xyz", b"i t"], part.shape)
        elif kind.startswith("c"):
            part[...] = rng.normal(size=part.shape) + 2j
        else:
            part[...] = random_array(rng, kind, part.shape)
    return a


FIELDS = [*((f"c{t}", t) for t in ["?", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "c8", "c16", "S5"]),
          ("pair", "u2", (2,)), ("square", "f8", (2, 3)), ("names", "S3", (2,))]


@pytest.mark.parametrize("fields", [FIELDS, [f for f in FIELDS if f[1] in ("i2", "f8", "c8")]])
def test_tables(cippus, tmp_path, fields):
    rng = np.random.default_rng(SEED)
    path, piece = tmp_path / "a.fits", tmp_path / "in.npy"
    model, image = random_rows(rng, 50, fields), random_array(rng, "f4", (7, 8))
    hdus = [fits.PrimaryHDU(), fits.BinTableHDU(model, name="T"), fits.ImageHDU(image, name="I")]
    fits.HDUList(hdus).writeto(path, checksum=True)
    for _ in range(NSTEP):
        what = rng.integers(4)
        if what == 0:
            new = random_rows(rng, int(rng.integers(1, 40)), fields)
            np.save(piece, new)
            cippus.run("append", path, "T/data", piece)
            model = np.concatenate([model, new])
        elif what == 1:
            name = fields[rng.integers(len(fields))][0]
            at, text = window(rng, (len(model),))
            new = random_rows(rng, len(model[at]), fields)[name]
            np.save(piece, new)
            cippus.run("put", path, f"T/data/{name}", "[" + text[1:-1] + ",..." * (new.ndim > 1) + "]", piece)
            model[name][at] = new
        elif what == 2 and len(model) > 3:
            a, b = sorted(int(i) for i in rng.integers(0, len(model), 2))
            cippus.run("rm", path, "T/data", f"[{a}:{b}]")
            model = np.concatenate([model[:a], model[b:]])
        else:
            at, text = window(rng, (len(model),))
            new = random_rows(rng, len(model[at]), fields)
            np.save(piece, new)
            cippus.run("put", path, "T/data", text, piece)
            model[at] = new
        _, (_, _, rows), (_, _, after) = opened(path)
        assert_same(after, image)
        assert len(rows) == len(model)
        for name, *_ in fields:
            assert_same(model[name], rows[name])


def test_scaled_images(cippus, tmp_path):
    rng = np.random.default_rng(SEED)
    path, piece = tmp_path / "a.fits", tmp_path / "in.npy"
    hdu = fits.PrimaryHDU(rng.integers(-1000, 1000, (20, 30)).astype("i2"))
    hdu.header["BSCALE"], hdu.header["BZERO"], hdu.header["BLANK"] = 0.25, 12.0, -999
    hdu.writeto(path, checksum=True)
    for _ in range(NSTEP):
        ((_, _, was),) = opened(path)
        at, text = window(rng, was.shape)
        new = (rng.integers(-500, 500, was[at].shape) * 0.25 + 12).astype("f4")
        new[rng.random(new.shape) < 0.2] = np.nan
        np.save(piece, new)
        cippus.run("put", path, "PRIMARY/data", text, piece)
        was[at] = new
        assert np.array_equal(opened(path)[0][2], was, equal_nan=True)
    before = path.read_bytes()
    cippus.run("put", path, "PRIMARY/data", "[0, 0]", "12.1", status=3)
    cippus.run("put", path, "PRIMARY/data", "[0, 0]", "1e6", status=3)
    assert path.read_bytes() == before


def test_columns_that_are_not_read_stay(cippus, rng, tmp_path):
    path, piece = tmp_path / "a.fits", tmp_path / "in.npy"
    columns = [fits.Column("n", "J", array=np.arange(4)), fits.Column("v", "PJ()", array=np.array([[1], [2, 3], [], [4, 5, 6]], dtype=object)),
               fits.Column("x", "D", array=np.arange(4) / 2), fits.Column("u", "I", bzero=32768, array=np.arange(4, dtype="u2"))]
    for k in (3, 4):
        fits.HDUList([fits.PrimaryHDU(), fits.BinTableHDU.from_columns(columns[:k])]).writeto(path, checksum=True, overwrite=True)
        rows = cippus.array(path, "1/data")
        rows["n"] += 7
        np.save(piece, rows)
        cippus.run("put", path, "1/data", piece)
        cippus.run("put", path, "1/data/x", "[1:3]", "9")
        with fits.open(path, memmap=False, checksum=True) as hdus:
            got = hdus[1].data
            assert list(got["n"]) == [7, 8, 9, 10] and list(got["x"]) == [0, 9, 9, 1.5]
            assert [list(x) for x in got["v"]] == [[1], [2, 3], [], [4, 5, 6]]
        assert b"SUM" not in cippus.run("verify", path, status=1)  # but that a column is not read
        cippus.run("append", path, "1/data", piece, status=3)


@pytest.mark.parametrize("kind", ["table", "image", "both"])
def test_new_files_with_checksums(cippus, rng, tmp_path, kind):
    a, table = random_array(rng, "u2", (17, 9)), random_rows(rng, 11, FIELDS)
    np.save(tmp_path / "image.npy", a)
    np.save(tmp_path / "table.npy", table)
    names = ["image.npy", "table.npy"] if kind == "both" else [f"{kind}.npy"]
    cippus.run("convert", *(tmp_path / n for n in names), tmp_path / "a.fits", "--checksum", "datasum")
    for name, header, data in opened(tmp_path / "a.fits"):
        assert list(header)[-2:] == ["CHECKSUM", "DATASUM"]
    with fits.open(tmp_path / "a.fits") as hdus:
        for h in hdus:
            ours = h.header["DATASUM"], h.header["CHECKSUM"]
            h.add_checksum(when=None)
            assert h.header["DATASUM"] == ours[0]
    assert cippus.run("verify", tmp_path / "a.fits").decode().endswith(": ok\n")
    piped = tmp_path / "piped.fits"
    piped.write_bytes(cippus.run("convert", tmp_path / names[0], "-", "--format", "fits", "--checksum", "datasum"))
    assert opened(piped)
    cippus.run("convert", tmp_path / names[0], tmp_path / "no.fits", "--checksum", "sha256", status=3)
