# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark's files, by Python asdf, python-blosc2 and python-blosc with fixed seeds. Made once; a file that is there is kept."""
import json
import struct

import asdf
import blosc
import blosc2
import numpy as np


def f4q(side):
    """float32 sines and noise, rounded to 1/16."""
    rng = np.random.default_rng(1)
    x = np.linspace(0, 60, side, dtype="f4")
    rows = np.empty((side, side), "f4")
    for i in range(side):
        rows[i] = np.sin(x + i / 50) * 100 + rng.normal(0, 1, side).astype("f4")
    return np.round(rows * 16) / 16


def write(path, tree, codec=None):
    part = path.with_suffix(".part")
    asdf.AsdfFile(tree).write_to(part, all_array_compression=codec)
    part.rename(path)


def write_aligned(path, tree):
    """Written twice: the second time with a tree as much longer as aligns the data to 64 bytes, for a view in place."""
    write(path, {**tree, "pad": "x"})
    with open(path, "rb") as f:
        magic = f.read(1 << 16).index(b"\xd3BLK")
    write(path, {**tree, "pad": "x" * (1 + -(magic + 54) % 64)})


def tree_text(path, n):
    """About 22 nodes for each of n items: 222,000 for 10,000."""
    with open(path, "w", encoding="utf-8") as out:
        out.write("#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n")
        out.write("--- !core/asdf-1.1.0\nnodes:\n")
        for i in range(n):
            out.write(f"  item{i:05d}:\n    name: 'exposure {i}'\n    filter: F{100 + i % 80}W\n")
            out.write(f"    time: {i * 0.25 + 0.125}\n    counts: [{i}, {i + 1}, {i + 2}, {i + 3}]\n")
            out.write(f"    wcs: {{crval1: {i}.5, crval2: -{i}.25, unit: deg, active: true}}\n")
            out.write("    comment: a line of plain text that says little, but says it at some length\n")
            out.write("    state: {phase: science, quality: good, flags: 0}\n")
        out.write("...\n")


def kinds(folder, nbytes):
    """What compression is measured on, as linear arrays: detector counts, timestamps, quantised floats."""
    rng = np.random.default_rng(3)
    files = {k: folder / f"{k}-{nbytes}.asdf" for k in ("f4q", "i2", "i8")}
    if all(f.exists() for f in files.values()):
        return files
    side = int((nbytes // 4) ** 0.5)
    write(files["f4q"], {"data": f4q(side).reshape(-1)})
    mean = 100 + 400 * np.abs(np.sin(np.arange(nbytes // 2) / 5000))
    write(files["i2"], {"data": rng.poisson(mean).astype("i2")})
    steps = 1_000_000 + rng.integers(-2000, 2000, nbytes // 8)
    write(files["i8"], {"data": (1_700_000_000_000_000_000 + np.cumsum(steps)).astype("i8")})
    return files


def blosc2_files(folder, side):
    """Square f4q arrays as b2nd in shapes and codecs that differ, and a frame of 2 MiB chunks."""
    cparams = lambda codec, level: {"codec": codec, "clevel": level}
    small = {"chunks": (1024, 1024), "blocks": (128, 128)}
    kinds = {
        "lz4-5": {**small, "cparams": cparams(blosc2.Codec.LZ4, 5)},
        "zstd-1": {**small, "cparams": cparams(blosc2.Codec.ZSTD, 1)},
        "default-zstd-5": {"cparams": cparams(blosc2.Codec.ZSTD, 5)},
    }
    files = {k: folder / f"{k}-{side}.b2nd" for k in kinds}
    frame = folder / f"lz4-5-{side}.b2frame"
    if all(f.exists() for f in [*files.values(), frame]):
        return files | {"frame": frame}
    data = f4q(side)
    for kind, how in kinds.items():
        part = folder / f"{kind}.part.b2nd"
        blosc2.asarray(data, urlpath=str(part), mode="w", **how)
        part.rename(files[kind])
    part = folder / "part.b2frame"
    how = {"cparams": {**cparams(blosc2.Codec.LZ4, 5), "typesize": 4}, "contiguous": True, "urlpath": str(part), "mode": "w"}
    blosc2.SChunk(chunksize=2 << 20, data=data[: side // 2], **how)
    part.rename(frame)
    return files | {"frame": frame}


def write_bcolz(path, data, codec, level):
    """The array as a folder of bcolz: chunks of 1 MiB, one a file."""
    for sub in ("meta", "data"):
        (path / sub).mkdir(parents=True, exist_ok=True)
    rows = (1 << 20) // data.itemsize
    for i in range(-(-len(data) // rows)):
        chunk = blosc.compress(data[i * rows:(i + 1) * rows].tobytes(), data.itemsize, level, blosc.SHUFFLE, codec)
        (path / f"data/__{i}.blp").write_bytes(struct.pack("<4sB3xq", b"blpk", 1, 1) + chunk)
    cparams = {"clevel": level, "shuffle": 1, "cname": codec, "quantize": 0}
    storage = {"dtype": data.dtype.name, "cparams": cparams, "chunklen": rows, "expectedlen": len(data), "dflt": 0.0}
    sizes = {"shape": [len(data)], "nbytes": data.nbytes, "cbytes": 0}
    for name, value in (("meta/storage", storage), ("meta/sizes", sizes), ("__attrs__", {})):
        (path / name).write_text(json.dumps(value) + "\n")


def make(folder, scale):
    side = max(1024, int(16384 * scale))
    folder.mkdir(parents=True, exist_ok=True)
    name = lambda stem: folder / f"{stem}-{side}.asdf"
    files = {row: name(row) for row in ("tree", "small", "raw", "lz4", "zlib", "bzp2", "swap", "window-zlib", "window-bzp2")}
    if not files["tree"].exists():
        tree_text(files["tree"], max(500, int(10000 * scale)))
    if not files["small"].exists():
        write(files["small"], {"data": np.arange(64, dtype="f8"), "name": "small"})
    if not all(files[k].exists() for k in ("raw", "lz4", "zlib", "bzp2")):
        data = f4q(side)
        write_aligned(files["raw"], {"data": data})
        write(files["lz4"], {"data": data}, "lz4")
        write(files["zlib"], {"data": data[: side // 4]}, "zlib")
        write(files["bzp2"], {"data": data[: side // 16]}, "bzp2")
    if not all(files[f"window-{k}"].exists() for k in ("zlib", "bzp2")):
        data = f4q(side)
        write(files["window-zlib"], {"data": data}, "zlib")
        write(files["window-bzp2"], {"data": np.ascontiguousarray(data[: side // 4, : side // 4])}, "bzp2")
    if not files["swap"].exists():
        write(files["swap"], {"data": np.random.default_rng(2).normal(size=side * side // 8).astype(">f8")})
    files["blosc2"] = blosc2_files(folder, side)
    return files | kinds(folder, max(1 << 22, int((256 << 20) * scale * scale)))
