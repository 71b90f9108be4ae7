# SPDX-License-Identifier: BSD-3-Clause
"""How cippus and each peer write an array into a new file and read it, from Python.

Each peer has files of its own format (asdf and blosc2: the very file that cippus takes), which hold the same array with the same
codec, chunks and level. There is no package for RawArray on PyPI: `numpy` reads it as the document's own reader does, header, then
elements. `zarr`, `zarrs` (zarr-python with the pipeline of that package) and `tensorstore` share their files, as `astropy` and
`fitsio` do; `rapidgzip` and `indexed_bzip2` read the array's bytes as one compressed stream."""
import bz2
import json
import os
import pathlib
import struct
import zlib
from typing import NamedTuple, Optional

import asdf
import blosc2
import cippus
import fitsio
import h5py
import hdf5plugin
import indexed_bzip2
import numpy as np
import rapidgzip
import tensorstore
import zarr
import zarr.codecs
import zarr.codecs.numcodecs as numcodecs
from astropy.io import fits

# of those with a format of their own; others take the case's
ENDINGS = {"h5py": "h5", "zarr": "zarr", "zarrs": "zarr", "tensorstore": "zarr", "rapidgzip": "zz", "indexed_bzip2": "bz2"}
H5 = {  # as Blosc2's levels 9 of lz4 and 1 of zstd are
    "none": {},
    "zlib": {"compression": "gzip", "compression_opts": 6},
    "zlib-shuffle": {"compression": "gzip", "compression_opts": 6, "shuffle": True},
    "lz4": dict(hdf5plugin.LZ4()),
    "zstd": dict(hdf5plugin.Zstd(clevel=1)),
    "blosc": dict(hdf5plugin.Blosc2(cname="lz4", clevel=9, filters=hdf5plugin.Blosc2.SHUFFLE)),
}
BLOSC = {"none": ("LZ4", 0), "zlib": ("ZLIB", 6), "lz4": ("LZ4", 9), "zstd": ("ZSTD", 1), "blosc": ("LZ4", 9), "zstd-0": ("ZSTD", 2)}
H5_OURS = {"none": "none", "zlib": "zlib:6", "zlib-shuffle": "zlib:6", "blosc": "blosc2:9"}  # what H5 says, as ours takes it
ZARR = {"zstd": "zstd:1", "zstd-0": "zstd:3", "gzip": "gzip:6", "blosc": "blosc:9"}  # what zarr_codecs says
FITS = {"gzip": "GZIP_2", "rice": "RICE_1"}  # in tiles of a row, as all who write them do unless told otherwise; none loses anything


def zarr_codecs(codec, itemsize):
    return {
        "none": None,
        "zlib": [numcodecs.Zlib(level=6)],
        "gzip": [zarr.codecs.GzipCodec(level=6)],
        "lz4": [numcodecs.LZ4(acceleration=1)],
        "zstd": [zarr.codecs.ZstdCodec(level=1)],
        "zstd-0": [zarr.codecs.ZstdCodec(level=0)],  # zstd's own default, 3, which is level 2 of Blosc2
        "blosc": [zarr.codecs.BloscCodec(cname="lz4", clevel=9, shuffle="shuffle", typesize=itemsize)],
    }[codec]


class Stored(NamedTuple):
    """How an array is stored: whole where `chunks` is None; `inner`: blocks of b2nd, the chunks in a shard of Zarr."""

    codec: str
    chunks: Optional[tuple[int, ...]] = None
    inner: Optional[tuple[int, ...]] = None

    def name(self):
        sides = [side[0] for side in (self.chunks, self.inner) if side]
        return "-".join(map(str, ["chunks" if sides else "whole", self.codec, *sides]))


class Stream:
    """An array whose bytes are those of a file object that seeks."""

    def __init__(self, file, shape, dtype):
        self.file, self.shape, self.dtype = file, shape, dtype

    def __getitem__(self, key):
        if key is Ellipsis:
            out = np.empty(self.shape, self.dtype)
            view, n = out.reshape(-1).view("u1").data, 0
            while n < len(view):
                n += self.file.readinto(view[n:])
            return out
        rows, columns = key
        width, size = self.shape[1], self.dtype.itemsize
        self.file.seek((rows.start * width + columns.start) * size)
        found = self.file.read(((rows.stop - rows.start - 1) * width + columns.stop - columns.start) * size)
        padded = np.frombuffer(found + bytes(-len(found) % (width * size)), self.dtype)
        return padded.reshape(-1, width)[:, : columns.stop - columns.start]


class Contenders:
    """put_NAME(path, stored) writes `self.data`; with_NAME(path, use, whole) opens, and gives what `use` makes of the array."""

    def __init__(self, data, threads):
        self.data, self.threads = data, threads
        blosc2.set_nthreads(threads)
        if threads == 1:  # otherwise it has as many as it likes
            zarr.config.set({"threading.max_workers": 1, "async.concurrency": 1})
        one = {"limit": threads}
        self.context = tensorstore.Context({"data_copy_concurrency": one, "file_io_concurrency": one})

    def data_of(self, stored):
        """What is stored: Rice is made for integers, a table has records."""
        if stored.codec == "rice":
            return self.data.astype("i2")
        if stored.codec != "table":
            return self.data
        columns = self.data.reshape(-1, 4)
        rows = np.empty(len(columns), [("time", "f8"), ("counts", "i4"), ("flux", "f4"), ("error", "f4")])
        for i, name in enumerate(rows.dtype.names):
            rows[name] = columns[:, i]
        return rows

    def put_cippus(self, path, stored, checksum=None):
        name, options = stored.codec, {}
        shape = lambda lengths: ",".join(map(str, lengths))
        if path.endswith("zarr"):
            name, options = ZARR[stored.codec], {"chunks": shape(stored.inner or stored.chunks)}
            if stored.inner:
                options["shards"] = shape(stored.chunks)
        elif path.endswith("h5"):
            name = H5_OURS[stored.codec]
            if stored.chunks:
                options = {"chunks": shape(stored.chunks), "shuffle": "none" if stored.codec == "zlib" else "byte"}
        elif stored.chunks:
            name, level = BLOSC[stored.codec]
            name = "none" if stored.codec == "none" else f"{name.lower()}:{level}"
            options = {"filter": "shuffle" if stored.codec == "blosc" else "none", "chunks": shape(stored.chunks)}
            if stored.inner:
                options["blocks"] = shape(stored.inner)
        how = {"codec": None if name == "table" else name, "options": options, "threads": self.threads, "checksum": checksum}
        with cippus.create(path, overwrite=True, sync=False, **how) as f:
            f["" if path.endswith(("ra", "b2nd")) else "data"] = self.data_of(stored)

    def with_cippus(self, path, use, whole):
        with cippus.open(path, threads=self.threads) as f:
            return use(f.array)

    def with_mmap(self, path, use, whole):
        """cippus again, by a mapping."""
        with cippus.open(path, threads=self.threads, mmap=True) as f:
            return use(f.array)

    def put_asdf(self, path, stored):
        asdf.AsdfFile({"data": self.data}).write_to(path, all_array_compression=None if stored.codec == "none" else stored.codec)

    def with_asdf(self, path, use, whole):
        with asdf.open(path, memmap=not whole) as f:
            return use(f["data"])

    def put_blosc2(self, path, stored):
        name, level = BLOSC[stored.codec]
        filters = [blosc2.Filter.SHUFFLE if stored.codec == "blosc" else blosc2.Filter.NOFILTER]
        cparams = {"codec": blosc2.Codec[name], "clevel": level, "filters": filters, "filters_meta": [0], "nthreads": self.threads}
        blosc2.asarray(self.data, urlpath=path, mode="w", chunks=stored.chunks, blocks=stored.inner, cparams=cparams)

    def with_blosc2(self, path, use, whole):
        return use(blosc2.open(path, mode="r"))

    def put_h5py(self, path, stored):
        with h5py.File(path, "w") as f:
            f.create_dataset("data", data=self.data, chunks=stored.chunks, **H5[stored.codec])

    def with_h5py(self, path, use, whole):
        with h5py.File(path) as f:
            return use(f["data"])

    def put_zarr(self, path, stored):
        how = {"chunks": stored.inner or stored.chunks, "shards": stored.chunks if stored.inner else None}
        codecs = zarr_codecs(stored.codec, self.data.itemsize)
        zarr.create_array(path, data=self.data, compressors=codecs, filters=None, overwrite=True, **how)

    def with_zarr(self, path, use, whole):
        return use(zarr.open_array(path, mode="r"))

    def put_zarrs(self, path, stored):
        with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"}):
            self.put_zarr(path, stored)

    def with_zarrs(self, path, use, whole):
        with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"}):
            return self.with_zarr(path, use, whole)

    def put_tensorstore(self, path, stored):
        """With the metadata that zarr-python writes."""
        codecs = zarr_codecs(stored.codec, self.data.itemsize)
        how = {"chunks": stored.inner or stored.chunks, "shards": stored.chunks if stored.inner else None}
        like = {"shape": self.data.shape, "dtype": self.data.dtype}
        zarr.create_array(path, **like, compressors=codecs, filters=None, overwrite=True, **how)
        metadata = json.loads(pathlib.Path(path, "zarr.json").read_text())
        kept = {key: metadata[key] for key in ("shape", "data_type", "chunk_grid", "codecs", "fill_value")}
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": path}, "metadata": kept}
        tensorstore.open(spec, context=self.context, create=True, delete_existing=True).result().write(self.data).result()

    def with_tensorstore(self, path, use, whole):
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": path}}
        return use(tensorstore.open(spec, context=self.context, read=True).result())

    def put_numpy(self, path, stored):
        if path.endswith("npz"):
            return (np.savez if stored.codec == "none" else np.savez_compressed)(path, data=self.data)
        rows, columns = self.data.shape
        with open(path, "wb") as f:
            f.write(struct.pack("<8s7Q", b"rawarray", 0, 3, 4, self.data.nbytes, 2, columns, rows))
            self.data.tofile(f)

    def with_numpy(self, path, use, whole):
        if path.endswith("npz"):
            with np.load(path) as f:
                return use(f["data"])
        with open(path, "rb") as f:
            axes = struct.unpack("<8s5Q", f.read(48))[5]
            shape = struct.unpack(f"<{axes}Q", f.read(8 * axes))[::-1]
            if whole:
                return use(np.fromfile(f, "f4").reshape(shape))
        return use(np.memmap(path, "f4", "r", 48 + 8 * axes, shape))

    def put_astropy(self, path, stored):
        data = self.data_of(stored)
        if stored.codec in FITS:
            hdu = fits.CompImageHDU(data, compression_type=FITS[stored.codec], quantize_level=0)
        else:
            hdu = fits.BinTableHDU(data) if data.dtype.names else fits.PrimaryHDU(data)
        hdu.writeto(path, overwrite=True)

    def with_astropy(self, path, use, whole):
        with fits.open(path, memmap=not whole) as f:
            tiles = isinstance(f[-1], fits.CompImageHDU) and not whole
            return use(f[-1].section if tiles else f[-1].data)

    def put_fitsio(self, path, stored):
        fitsio.write(path, self.data_of(stored), clobber=True, compress=FITS.get(stored.codec), qlevel=0)

    def with_fitsio(self, path, use, whole):
        with fitsio.FITS(path) as f:
            return use(f[len(f) - 1])

    def put_rapidgzip(self, path, stored):
        pathlib.Path(path).write_bytes(zlib.compress(self.data, 6))

    def with_rapidgzip(self, path, use, whole):
        with rapidgzip.open(path, parallelization=self.threads) as f:
            return use(Stream(f, self.data.shape, self.data.dtype))

    def put_indexed_bzip2(self, path, stored):
        pathlib.Path(path).write_bytes(bz2.compress(self.data))

    def with_indexed_bzip2(self, path, use, whole):
        with indexed_bzip2.open(path, parallelization=self.threads) as f:
            return use(Stream(f, self.data.shape, self.data.dtype))
