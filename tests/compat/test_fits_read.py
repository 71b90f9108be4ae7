# SPDX-License-Identifier: BSD-3-Clause
"""FITS files of astropy: random images, tables and compressed images, element by element; and real files by their digests."""
import hashlib
import json
import os
import warnings

import numpy as np
import pytest

from conftest import ROOT

fits = pytest.importorskip("astropy.io.fits")
CORPUS = os.environ.get("CIPPUS_CORPUS") or str(ROOT.parent / "shared" / "corpus")
TYPES = ["u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def random_array(rng, dtype, shape):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return (rng.normal(size=shape) * 100).astype(dtype)
    whole = np.iinfo(dtype)
    return rng.integers(whole.min, whole.max, size=shape, dtype=dtype, endpoint=True)


def random_shape(rng, most=3):
    return tuple(int(n) for n in rng.integers(1, 40, rng.integers(1, most + 1)))


def assert_same(ours, peer):
    peer = np.asarray(peer)
    if peer.dtype.kind == "U":
        peer = np.char.encode(peer, "ascii") if peer.size else peer.astype("S")
    assert ours.shape == peer.shape
    if peer.dtype.kind == "S":
        assert (ours == np.char.rstrip(peer)).all()
        return
    assert ours.dtype.newbyteorder("=") == peer.dtype.newbyteorder("=")
    assert np.array_equal(ours, peer, equal_nan=peer.dtype.kind in "fc")


def compare(cippus, path):
    """Every array of the file; how many there were."""
    listed = {a["path"]: a for a in json.loads(cippus.run("ls", "--json", path))}
    names = list(json.loads(cippus.run("tree", "--json", path)))
    n = 0
    with fits.open(path, memmap=False) as peer:
        assert len(names) == len(peer)
        for name, hdu in zip(names, peer):
            if hdu.data is None:
                assert f"{name}/data" not in listed
                continue
            ours = cippus.array(path, f"{name}/data")
            if ours.dtype.names is None:
                assert_same(ours, hdu.data)
            else:
                for i, column in enumerate(ours.dtype.names):
                    assert_same(ours[column], hdu.data.field(i))
            n += 1
    return n


@pytest.mark.parametrize("dtype", TYPES)
def test_images(cippus, rng, tmp_path, dtype):
    hdus = [fits.PrimaryHDU()] + [fits.ImageHDU(random_array(rng, dtype, random_shape(rng, 4))) for _ in range(4)]
    fits.HDUList(hdus).writeto(tmp_path / "a.fits", checksum=True)
    assert compare(cippus, tmp_path / "a.fits") == 4
    assert b"ok" in cippus.run("verify", "--deep", tmp_path / "a.fits")


@pytest.mark.parametrize("dtype", ["u1", "i2", "i4", "i8", "f4", "f8"])
def test_scaled_images(cippus, rng, tmp_path, dtype):
    for i in range(4):
        a = random_array(rng, dtype, random_shape(rng))
        hdu = fits.PrimaryHDU(a)
        hdu.header["XSCALE"] = [1.0, 0.1, -3, 1.0][i]
        hdu.header["XZERO"] = [0.5, 0.0, 1e3, 32767.0][i]
        if a.dtype.kind != "f":
            hdu.header["BLANK"] = int(a.flat[0]) or 1
        path = tmp_path / f"{i}.fits"
        hdu.writeto(path)
        path.write_bytes(path.read_bytes().replace(b"XSCALE  =", b"BSCALE  =").replace(b"XZERO   =", b"BZERO   ="))
        assert compare(cippus, path) == 1


@pytest.mark.parametrize("kind", ["GZIP_1", "GZIP_2", "RICE_1", "NOCOMPRESS"])
def test_compressed_integers(cippus, rng, tmp_path, kind):
    for dtype in ["u1", "i2", "u2", "i4", "u4"]:
        shape = random_shape(rng)
        a = random_array(rng, dtype, shape) if rng.integers(2) else rng.integers(0, 50, shape).astype(dtype)
        tile = tuple(int(rng.integers(1, n + 1)) for n in shape)
        path = tmp_path / f"{dtype}.fits"
        fits.CompImageHDU(a, compression_type=kind, tile_shape=tile).writeto(path)
        assert compare(cippus, path) == 1
        window = f"[{', '.join(f'{n // 2}:' for n in shape)}]"
        got = cippus.array(path, "COMPRESSED_IMAGE/data", window)
        assert np.array_equal(got, a[tuple(slice(n // 2, None) for n in shape)])


@pytest.mark.parametrize("method", [-1, 1, 2])
def test_quantized_floats(cippus, rng, tmp_path, method):
    for i, (dtype, kind) in enumerate([("f4", "RICE_1"), ("f8", "RICE_1"), ("f4", "GZIP_1"), ("f8", "GZIP_2")]):
        a = random_array(rng, dtype, (60, 700))
        a[a < -50] = 0
        a[3, 5] = np.nan
        hdu = fits.CompImageHDU(a, compression_type=kind, quantize_method=method, dither_seed=9990 + i, quantize_level=4)
        hdu.writeto(tmp_path / f"{i}.fits")
        assert compare(cippus, tmp_path / f"{i}.fits") == 1


def test_tables(cippus, rng, tmp_path):
    columns = []
    for letter, dtype in zip("BIJKEDLX", ["u1", "i2", "i4", "i8", "f4", "f8", "?", "?"]):
        for repeat in (1, 4):
            shape = (20, repeat) if repeat > 1 or letter == "X" else (20,)
            a = rng.integers(0, 2, shape).astype("?") if dtype == "?" else random_array(rng, dtype, shape)
            columns.append(fits.Column(f"{letter}{repeat}", f"{repeat}{letter}", array=a))
    for letter, bits in ("I", 16), ("J", 32), ("K", 64):
        a = random_array(rng, f"u{bits // 8}", (20,))
        columns.append(fits.Column(f"u{bits}", letter, bzero=2 ** (bits - 1), array=a))
    columns.append(fits.Column("scaled", "I", array=random_array(rng, "i2", (20,))))
    scaled = len(columns)
    columns.append(fits.Column("square", "4D", dim="(2,2)", array=rng.normal(size=(20, 2, 2))))
    columns.append(fits.Column("text", "7A", array=np.array(["ab", " c ", "", "seven  "] * 5)))
    columns.append(fits.Column("complex", "M", array=rng.normal(size=20) + 1j))
    table = fits.BinTableHDU.from_columns(columns, name="T")
    table.header[f"XSCAL{scaled}"] = 0.1
    table.header[f"XZERO{scaled}"] = 3
    plain = fits.BinTableHDU.from_columns(columns[2:6], name="PLAIN")
    text = fits.TableHDU.from_columns(
        [
            fits.Column("i", "I6", array=rng.integers(-999, 999, 20)),
            fits.Column("e", "E17.9", array=rng.normal(size=20)),
            fits.Column("d", "D25.17", array=rng.normal(size=20)),
            fits.Column("a", "A5", array=np.array(["x", "yz"] * 10)),
        ]
    )
    path = tmp_path / "t.fits"
    fits.HDUList([fits.PrimaryHDU(), table, plain, text]).writeto(path, checksum=True)
    assert b"ok" in cippus.run("verify", "--deep", path)
    # astropy 8 cannot write scaled columns with NumPy 2.4
    path.write_bytes(path.read_bytes().replace(b"XSCAL", b"TSCAL").replace(b"XZERO", b"TZERO"))
    assert compare(cippus, path) == 3


def test_real_files(cippus):
    manifest = os.path.join(CORPUS, "next", "manifest.json")
    if not os.path.exists(manifest):
        pytest.skip("no corpus")
    with open(manifest) as f:
        files = [file for file in json.load(f)["files"] if file["format"] == "fits"]
    equal = 0
    for file in files:
        path = os.path.join(CORPUS, "next", file["file"])
        names = list(json.loads(cippus.run("tree", "--json", path)))
        listed = {a["path"]: a for a in json.loads(cippus.run("ls", "--json", path))}
        for want in file["arrays"]:
            ours = f"{names[int(want['path'])]}/data"
            if listed[ours]["state"] != "ok":
                assert "hcomp" in path  # the only one that is not read
                continue
            if want["stored"] and "scale.fits" in path:
                continue  # the digest is of the integers, the array of physical values
            a = cippus.array(path, ours)
            if want["stored"]:
                a = (a.astype("u2") ^ 0x8000).view("i2")
            little = a.astype(a.dtype.newbyteorder("<"))
            assert list(a.shape) == want["shape"]
            assert hashlib.sha256(np.ascontiguousarray(little).tobytes()).hexdigest() == want["sha256"]
            equal += 1
    assert equal == 15
