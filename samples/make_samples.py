#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the samples with the formats' own writers: Python asdf for ASDF, python-blosc2, bloscpack, zarr, h5py, astropy and numpy, and
RawArray's documented bytes.

usage: .venv/bin/python samples/make_samples.py [FOLDER]

The same versions (tests/compat/requirements.txt) make the same bytes.
"""
import collections
import collections.abc
import json
import pathlib
import shutil
import struct
import sys
import zlib

import asdf
import blosc
import blosc2
import h5py
import numpy as np
import zarr
from astropy.io import fits

collections.MutableMapping = collections.abc.MutableMapping  # bloscpack is older than Python 3.10
import bloscpack  # noqa: E402
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/compat"))
import blz_document  # noqa: E402


def night(folder):
    """A night's log: several codecs, a mask, records, a nested tree, aliases."""
    rng = np.random.default_rng(20261121)
    y, x = np.mgrid[0:128, 0:160]
    image = (1000 + 200 * np.exp(-((x - 80) ** 2 + (y - 60) ** 2) / 500)).astype("f4")
    image += rng.normal(0, 3, image.shape).astype("f4")
    counts = rng.poisson(120, (64, 96)).astype("i2")
    spectrum = np.linspace(0, 1, 512) ** 2
    masked = np.ma.masked_array(np.arange(24, dtype="f8").reshape(4, 6), mask=np.arange(24).reshape(4, 6) % 7 == 0)
    table = np.zeros(5, dtype=[("star", "U8"), ("flux", ">f4"), ("position", "<f8", (2,))])
    table["star"] = ["Vega", "Deneb", "Altair", "Mizar", "Spica"]
    table["flux"] = [0.03, 1.25, 0.76, 2.23, 0.97]
    table["position"] = rng.uniform(0, 360, (5, 2)).round(3)
    tree = {
        "instrument": {"name": "WFI", "filter": "F158", "gain": 1.8, "cooled": True},
        "exposure": {"time": 107.5, "start": "2026-11-21T03:04:05", "frames": [1, 2, 3]},
        "image": image,
        "counts": counts,
        "spectrum": spectrum,
        "spectrum_again": spectrum[::-2],
        "masked": masked,
        "stars": table,
    }
    af = asdf.AsdfFile(tree)
    for name, codec in (("image", "lz4"), ("counts", "zlib"), ("spectrum", "bzp2")):
        af.set_array_compression(af[name], codec)
    af.set_array_storage(af["masked"], "inline")
    af.set_array_save_base(af["spectrum_again"], True)  # a view of the same compressed block
    af.write_to(folder / "night.asdf")


def roman(folder):
    """As Roman's level-2 files are laid out: one `roman` node, science, quality and error arrays, lz4."""
    rng = np.random.default_rng(7)
    shape = (96, 96)
    data = rng.normal(1.5, 0.2, shape).astype("f4")
    tree = {
        "roman": {
            "meta": {
                "telescope": "ROMAN",
                "instrument": {"name": "WFI", "detector": "WFI01", "optical_element": "F158"},
                "exposure": {"type": "WFI_IMAGE", "exposure_time": 107.5, "nresultants": 8},
                "filename": "roman.asdf",
            },
            "data": data,
            "dq": (rng.uniform(size=shape) < 0.02).astype("u4") * 4,
            "err": np.sqrt(np.abs(data)).astype("f2"),
        }
    }
    asdf.AsdfFile(tree).write_to(folder / "roman.asdf", all_array_compression="lz4")


def stream(folder):
    """Rows that came in one by one, the block still open at the end."""
    rows = np.arange(60, dtype="<f8").reshape(20, 3) / 8
    with open(folder / "stream.asdf", "wb") as fd:
        asdf.AsdfFile({"events": asdf.tags.core.Stream([3], np.float64)}).write_to(fd)
        fd.write(rows.tobytes())


def phantom(folder):
    """The document's twelve complex numbers, with a note behind the data."""
    values = np.array([complex(i, -np.inf if i == 0 else -1 / i) for i in range(12)], dtype="<c8")
    head = struct.pack("<8Q", 0x7961727261776172, 0, 4, 8, 96, 2, 3, 4)
    (folder / "complex.ra").write_bytes(head + values.tobytes())
    image = (np.hypot(*np.mgrid[-16:16, -12:12]) < 10).astype("<u2") * 1000
    head = struct.pack("<8Q", 0x7961727261776172, 0, 2, 2, image.nbytes, 2, 24, 32)
    (folder / "phantom.ra").write_bytes(head + image.tobytes() + b"coil: 8 channels\n")


def cube(folder):
    """A cube in chunks and blocks that do not divide it, with metadata."""
    z, y, x = np.mgrid[0:6, 0:24, 0:30]
    data = np.round(100 * np.exp(-((x - 15) ** 2 + (y - 12) ** 2) / 80) * (1 + z)).astype("<i2")
    cparams = blosc2.CParams(codec=blosc2.Codec.LZ4, nthreads=1)
    array = blosc2.asarray(data, chunks=(4, 16, 16), blocks=(2, 8, 8), cparams=cparams, meta={"axes": ["z", "y", "x"]})
    array.vlmeta["instrument"] = {"name": "IFU", "gain": 1.8}
    (folder / "cube.b2nd").write_bytes(array.to_cframe())


def early(folder):
    """Layout B of ASDF 0.1: an image in tiles, quantized and compressed, and data in an encoding of somebody's own."""
    image = (np.add.outer(np.arange(50), np.arange(70)) / 4).astype("<f4")
    padded = np.zeros((64, 96), "<f4")
    padded[:50, :70] = image
    chunks = b""
    for y in range(0, 64, 32):
        for x in range(0, 96, 32):
            tile = padded[y:y + 32, x:x + 32]
            chunks += struct.pack(">BddQ", 12, 10.0, 0.25, tile.size)
            bits = "".join(format(int(v), "012b") for v in np.rint((tile - 10) * 4).astype(int).ravel() & 0xFFF)
            chunks += int(bits, 2).to_bytes(len(bits) // 8, "big")
    own = (np.arange(5)[:, None] * 100 + np.arange(6)).astype("<i2").tobytes()
    blocks = b""
    for chain, payload, size in (
            ("[[tile, {shape: [32, 32], original_shape: [50, 70], item_size: 4}], [quantize, {quality: 4, dtype: 32, "
             "original_shape: [64, 96]}], zlib]", zlib.compress(chunks), image.nbytes),
            ("[[xor, {key: 90}], zlib]", zlib.compress(bytes(b ^ 90 for b in own)), len(own))):
        payload = b"--- " + chain.encode() + b"\n...\n" + payload
        blocks += b"\xd3BLK" + struct.pack(">HIQQQQ", 36, 2, len(payload), len(payload), size, 0) + payload
    (folder / "early.asdf").write_bytes(
        b"#ASDF 0.1.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/0.1.0/\n--- !core/asdf\n"
        b"image: !core/ndarray {source: 0, datatype: float32, byteorder: little, shape: [50, 70]}\n"
        b"own: !core/ndarray {source: 1, datatype: int16, byteorder: little, shape: [5, 6]}\n...\n" + blocks)


def tide(folder):
    """Heights at 12 gauges every hour of four days, a day a chunk."""
    hour, gauge = np.mgrid[0:96, 0:12]
    heights = np.round(2 * np.sin(2 * np.pi * (hour / 12.42 - gauge / 12)) + 0.3 * np.sin(2 * np.pi * hour / 24), 2).astype("f4")
    args = {"bloscpack_args": bloscpack.BloscpackArgs(checksum="sha256", max_app_chunks=4), "blosc_args": bloscpack.BloscArgs(typesize=4)}
    bloscpack.pack_ndarray_to_file(heights, str(folder / "tide.blp"), chunk_size=24 * 12 * 4, **args)


def wells(folder):
    """BLZ as its document has it: records in a folder a field, two superchunks each, with digests and spare space."""
    a = np.zeros(60, [("depth", "<f4"), ("site", [("x", "<i2"), ("y", ">i2")])])
    a["depth"], a["site"]["x"], a["site"]["y"] = np.arange(60) / 4, np.arange(60) * 3, 100 - np.arange(60)
    shutil.rmtree(folder / "wells.blz", ignore_errors=True)
    blz_document.write(folder / "wells.blz", a, chunklen=10, per=4, checksum=2, spare=16, metadata=b'{"made": 2012}',
                       attributes={"unit": "m", "coords": {"lat": 40.1, "lon": 0.5}})


def old_array(folder, values, chunklen):
    """As bcolz 1.2 laid an array out."""
    for part in ("meta", "data"):
        (folder / part).mkdir(parents=True)
    cparams = {"clevel": 5, "shuffle": 1, "cname": "lz4", "quantize": 0}
    (folder / "meta/storage").write_text(json.dumps({
        "dtype": values.dtype.str if values.dtype.kind == "S" else str(values.dtype), "cparams": cparams, "chunklen": chunklen,
        "expectedlen": len(values), "dflt": 0}) + "\n")
    (folder / "__attrs__").write_text("{}\n")
    cbytes = 0
    for n, i in enumerate(range(0, len(values), chunklen)):
        raw = values[i:i + chunklen].tobytes()
        chunk = blosc.compress(raw, typesize=1 if values.dtype.kind == "S" else values.itemsize, cname="lz4")
        (folder / f"data/__{n}.blp").write_bytes(struct.pack("<4sB3xq", b"blpk", 1, 1) + chunk)
        cbytes += len(chunk)
    (folder / "meta/sizes").write_text(json.dumps({"shape": list(values.shape), "nbytes": values.nbytes,
                                                   "cbytes": cbytes}) + "\n")


def prices(folder):
    """A table as bcolz 1.2 laid it out."""
    root = folder / "prices.bcolz"
    shutil.rmtree(root, ignore_errors=True)
    old_array(root / "close", np.arange(40) * 0.25 + 10, 16)
    old_array(root / "share", np.array([f"S{i % 7}" for i in range(40)], "S4"), 16)
    (root / "__rootdirs__").write_text('{"names": ["share", "close"]}\n')
    (root / "__attrs__").write_text('{"currency": "EUR"}\n')


def model(folder):
    """Zarr version 3 as a model's output: named axes, attributes, chunks in shards."""
    shutil.rmtree(folder / "model.zarr", ignore_errors=True)
    root = zarr.create_group(folder / "model.zarr", attributes={"title": "a storm over the sea"})
    t, y, x = np.mgrid[0:4, 0:16, 0:24]
    wind = np.round(5 + 20 * np.exp(-((x - 4 - 4 * t) ** 2 + (y - 8) ** 2) / 20), 1).astype("f4")
    array = root.create_array("wind", shape=wind.shape, dtype="f4", chunks=(1, 8, 8), shards=(4, 16, 24), compressors=zarr.codecs.ZstdCodec(level=3),
                              dimension_names=["time", "y", "x"], attributes={"units": "m/s"})
    array[:] = wind
    root.create_array("time", data=np.arange(4), dimension_names=["time"], attributes={"units": "hours since 2026-11-26"})


def weather(folder):
    """HDF5 as netCDF-4 programs write it: packed numbers, dimension scales, a group."""
    day, station = np.mgrid[0:30, 0:8]
    kelvin = np.round(283 + 6 * np.sin(day / 5) - station, 2)
    with h5py.File(folder / "weather.h5", "w") as f:
        f.attrs["title"] = "a month at eight stations"
        data = f.create_dataset("temperature", data=np.rint((kelvin - 273.15) / 0.01).astype("i2"), chunks=(10, 8), compression="gzip", shuffle=True)
        data.attrs.update({"scale_factor": 0.01, "add_offset": 273.15, "units": "K", "_FillValue": np.int16(-32768)})
        f["day"], f["station"] = np.arange(30, dtype="i4"), np.array([b"S%d" % i for i in range(8)])
        f["day"].attrs["units"] = "days since 2026-11-01"
        for axis, name in enumerate(("day", "station")):
            f[name].make_scale(name)
            data.dims[axis].attach_scale(f[name])
        f["site/height"] = np.array([12, 250, 31, 8, 1040, 77, 3, 560], "f4")


def sky(folder):
    """FITS: a scaled image and a table, with checksums."""
    y, x = np.mgrid[0:20, 0:30]
    image = fits.ImageHDU(np.rint(500 * np.exp(-((x - 15) ** 2 + (y - 8) ** 2) / 12)).astype("u2"), name="SCI")
    image.header["OBJECT"] = ("M 13", "what was looked at")
    stars = np.array([(1, 250.42, 36.46, 5.8), (2, 250.38, 36.5, 11.9), (3, 250.5, 36.41, 12.2)],
                     [("id", "i4"), ("ra", "f8"), ("dec", "f8"), ("mag", "f4")])
    hdus = fits.HDUList([fits.PrimaryHDU(), image, fits.BinTableHDU(stars, name="STARS")])
    hdus.update_extend()
    for hdu in hdus:
        hdu.add_checksum(when="2026-11-26")
    hdus.writeto(folder / "sky.fits", overwrite=True)


def run(folder):
    """npz: arrays of one run, as numpy.savez_compressed writes them."""
    np.savez_compressed(folder / "run.npz", loss=np.round(np.exp(-np.arange(50) / 12), 4), steps=np.arange(0, 500, 10), weights=np.eye(6, dtype="f4"))


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for make in (night, roman, stream, phantom, early, cube, tide, wells, prices, model, weather, sky, run):
        make(folder)


if __name__ == "__main__":
    main()
