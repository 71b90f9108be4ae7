# SPDX-License-Identifier: BSD-3-Clause
"""ASDF 0.1 both ways: what we write asdf01.py decodes equal, what it writes we read equal, and it reads the genuine files."""
import hashlib
import itertools
import json
import os
import pathlib
import struct

import asdf01
import numpy as np
import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CORPUS = pathlib.Path(os.environ.get("CIPPUS_CORPUS") or ROOT.parent / "shared" / "corpus")
KINDS = ["i1", "u1", "<i2", ">u2", "<i4", ">u4", "<i8", ">u8", "<f4", ">f4", "<f8", ">f8", "<c8", ">c16", "?", "S5", "<U3", ">U2"]
LOSSLESS = ["[]", "[zlib]", "[zlib, zlib]", "[[tile, {shape: [32, 32]}], zlib]", "[[tile, {shape: [3]}]]",
            "[[tile, {shape: [2, 5]}], zlib, zlib, zlib]"]


def entries():
    if not (CORPUS / "manifest.json").exists():
        return []
    return [e for e in json.loads((CORPUS / "manifest.json").read_text())["files"] if e["format"] == "asdf-0.1"]


def digest(array):
    plain = np.ascontiguousarray(array).reshape(array.shape)
    return hashlib.sha256(plain.astype(plain.dtype.newbyteorder("<")).tobytes()).hexdigest()


@pytest.mark.skipif(not entries(), reason="no corpus")
def test_the_decoder_reads_the_corpus():
    wrong = {}
    for entry in entries():
        for a in entry["arrays"]:
            try:
                found = digest(asdf01.File(CORPUS / entry["file"]).array(a["path"]))
            except Exception as e:  # noqa: BLE001
                found = repr(e)
            if found != a["sha256"]:
                wrong[entry["file"], a["path"]] = found
    assert not wrong


def draw(rng, dtype, shape):
    kind = np.dtype(dtype)
    raw = rng.integers(0, 100, shape)
    if kind.kind == "f":
        return (rng.normal(size=shape) * 7 + 100).astype(kind)
    return raw.astype("U5").astype(kind) if kind.kind in "SU" else raw.astype(kind)


def written(cippus, array, folder, *words):
    np.save(folder / "in.npy", array)
    cippus.run("convert", "--durability", "process", *words, "--overwrite", folder / "in.npy", folder / "out.asdf")
    return asdf01.File(folder / "out.asdf")


@pytest.mark.parametrize("dtype", KINDS)
def test_lossless_chains_decode_equal(cippus, rng, tmp_path, dtype):
    for i, (chain, ndim) in enumerate(itertools.product([None, *LOSSLESS], range(5))):
        if (i + KINDS.index(dtype)) % 4:  # every chain and rank with a quarter of the types
            continue
        shape = tuple(rng.integers(1, (90, 70, 40, 12, 7)[ndim], ndim))
        tile_axes = 0 if chain is None or "tile" not in chain else len(yaml.safe_load(chain)[0][1]["shape"])
        if tile_axes > ndim:
            continue
        data = draw(rng, dtype, shape)
        order = ["--byteorder", "big"] if i % 2 == 0 else []
        words = ["--standard", "0.1.0"] if chain is None else ["--encode", chain]
        file = written(cippus, data, tmp_path, *words, *order)
        found = file.array("data")
        np.testing.assert_array_equal(found, data)
        assert file.blocks[0]["checksum"] == bytes(8) and file.blocks[0]["layout"] == 36
        if order and data.dtype.kind in "iufc" and data.itemsize > 1:
            assert found.dtype.byteorder == ">"
        np.testing.assert_array_equal(cippus.array(tmp_path / "out.asdf"), data)


def test_records_go_through_tiles(cippus, rng, tmp_path):
    data = np.zeros((9, 11), [("a", "<i4"), ("b", ">f8", (2,)), ("c", "S3")])
    data["a"], data["b"], data["c"] = rng.integers(0, 99, (9, 11)), rng.normal(size=(9, 11, 2)), b"xy"
    file = written(cippus, data, tmp_path, "--encode", "[[tile, {shape: [4, 4]}], zlib]")
    np.testing.assert_array_equal(file.array("data"), data)
    assert asdf01.chain_of(file.blocks[0]["payload"])[0][0] == ("tile", {"shape": [4, 4], "item_size": 23, "original_shape": [9, 11]})


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f8", ">f8"])
@pytest.mark.parametrize("chain", ["[[tile, {shape: [32, 32]}], [quantize, {quality: 4}], zlib]", "[quantize, zlib]", "quantize",
                                   "[[quantize, {bits: 12}]]", "[[tile, {shape: [7, 100]}], [quantize, {bits: 7}]]"])
def test_lossy_chains_are_as_near_as_they_say(cippus, rng, tmp_path, dtype, chain):
    for shape in [(70, 45), (3, 5), (200, 300), (1, 1)]:
        data = draw(rng, dtype, shape)
        np.save(tmp_path / "in.npy", data)
        cippus.run("convert", "--encode", chain, "--overwrite", tmp_path / "in.npy", tmp_path / "o.asdf", status=3)
        said = json.loads(cippus.run("convert", "--encode", chain, "--overwrite", "--accept-loss", "--json", tmp_path / "in.npy",
                                     tmp_path / "o.asdf"))["findings"]
        found = asdf01.File(tmp_path / "o.asdf").array("data")
        assert found.dtype == data.dtype
        np.testing.assert_array_equal(cippus.array(tmp_path / "o.asdf"), found)
        worst = float(np.abs(found.astype("f8") - data.astype("f8")).max())
        note = [f["text"] for f in said if f["kind"] == "note"]
        assert note == [f"the largest error of a value is {worst:.9g}"]
        if "quality" in chain and shape == (200, 300):
            assert worst < 1.1 * 7 / 4 / 2 * 1.3  # half of a step of noise / 4, tile by tile


def test_the_bytes_do_not_depend_on_the_threads(cippus, rng, tmp_path):
    np.save(tmp_path / "in.npy", draw(rng, "<f8", (1100, 700)))
    for i, threads in enumerate([1, 2, 5]):
        cippus.run("convert", "--accept-loss", "--threads", threads, "--encode",
                   "[[tile, {shape: [64, 64]}], [quantize, {bits: 20}], zlib, zlib]", tmp_path / "in.npy", tmp_path / f"{i}.asdf")
    assert len({(tmp_path / f"{i}.asdf").read_bytes() for i in range(3)}) == 1


# --- what others write ----------------------------------------------------------------------------


def assemble(payload, nbytes, dtype, shape, encoded=True):
    tree = (f"#ASDF 0.1.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/0.1.0/\n--- !core/asdf\ndata: !core/ndarray {{source: 0, datatype: "
            f"{dtype.name}, byteorder: {'big' if dtype.byteorder == '>' else 'little'}, shape: {list(shape)}}}\n...\n").encode()
    head = struct.pack(">4sHIQQQ8s", asdf01.MAGIC, 36, 2 if encoded else 0, len(payload), len(payload), nbytes, bytes(8))
    return tree + head + payload


def texts(pairs):
    """The same chain in the ways that people write it."""
    full = [name if not args else [name, args] for name, args in pairs]
    flow = yaml.safe_dump(full, default_flow_style=True, width=10**6).strip()
    yield f"--- {flow}\n...\n"
    yield f"%YAML 1.1\r\n---\r\n{flow}\r\n...\r\n"
    yield f"{flow}\n...\n"
    yield f"---\n{yaml.safe_dump(full, default_flow_style=False).strip()}\n...\n"
    yield f"--- {yaml.safe_dump([[n, a] if a else [n] for n, a in pairs], default_flow_style=True, width=10**6).strip()}\n...\n"
    if len(pairs) == 1 and not pairs[0][1]:
        yield f"--- {pairs[0][0]}\n...\n"


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f8", ">f8"])
@pytest.mark.parametrize("names", ["", "zlib", "zlib zlib zlib", "tile", "tile zlib", "tile zlib zlib", "quantize", "quantize zlib",
                                   "tile quantize zlib"])
def test_chains_of_others_are_read_equal(cippus, rng, tmp_path, dtype, names):
    for i, (shape, cut) in enumerate([((70, 45), (32, 32)), ((7, 5, 9), (3, 5, 2)), ((13,), (4,)), ((2, 3), (5, 5))]):
        data, kind = draw(rng, dtype, shape), np.dtype(dtype)
        args = {"tile": {"shape": list(cut), "original_shape": list(shape), "item_size": kind.itemsize},
                "quantize": {"dtype": kind.itemsize * 8, "original_shape": list(shape)}, "zlib": {}}
        pairs = [(n, args[n]) for n in names.split()]
        for text in list(texts(pairs))[i % 3::3]:  # each way with some of the shapes
            payload = asdf01.encode(data.tobytes(), pairs, text.encode(), dtype[0] == ">")
            (tmp_path / "x.asdf").write_bytes(assemble(payload, data.nbytes, kind, shape))
            want = asdf01.File(tmp_path / "x.asdf").array("data")
            np.testing.assert_array_equal(cippus.array(tmp_path / "x.asdf"), want)
            if "quantize" not in names:
                np.testing.assert_array_equal(want, data)


@pytest.mark.parametrize("chain", ["[zlib]", "[[tile, {shape: [8, 8]}], zlib, zlib]", "[[quantize, {bits: 30}]]"])
def test_updates_go_through_the_blocks_own_chain(cippus, rng, tmp_path, chain):
    data, rows = draw(rng, "<f8", (20, 13)), draw(rng, "<f8", (4, 13))
    written(cippus, data, tmp_path, "--encode", chain, "--accept-loss")
    rows.tofile(tmp_path / "rows.raw")
    cippus.run("put", "--durability", "process", "--accept-loss", tmp_path / "out.asdf", "data", "[3:7]", tmp_path / "rows.raw")
    cippus.run("append", "--durability", "process", "--accept-loss", tmp_path / "out.asdf", "data", tmp_path / "rows.raw")
    file, want = asdf01.File(tmp_path / "out.asdf"), np.concatenate([data[:3], rows, data[7:], rows])
    assert [n for n, _ in asdf01.chain_of(file.blocks[0]["payload"])[0]] == [n if isinstance(n, str) else n[0] for n in
                                                                           yaml.safe_load(chain)]
    np.testing.assert_allclose(file.array("data"), want, atol=1e-6 if "quantize" in chain else 0, rtol=0)


@pytest.mark.skipif(not entries(), reason="no corpus")
def test_files_of_each_layout_keep_it_through_updates(cippus, tmp_path):
    seen = set()
    for entry in entries():
        source = CORPUS / entry["file"]
        try:
            before = asdf01.File(source)
        except Exception:  # noqa: BLE001
            continue
        if not before.blocks or not entry["file"].startswith("asdf/era01") or any(b["flags"] & 1 for b in before.blocks):
            continue
        if not entry["arrays"] or [layout for layout, _ in seen].count(before.blocks[0]["layout"]) == 3:
            continue
        file = tmp_path / f"{len(seen)}-{source.name}"
        file.write_bytes(source.read_bytes())
        a = entry["arrays"][0]
        values = before.array(a["path"])
        if isinstance(before.tree.get("data"), dict) and isinstance(before.tree["data"].get("source"), str) or values.ndim != 1:
            continue
        values.astype(values.dtype.newbyteorder("<")).tofile(tmp_path / "rows.raw")
        cippus.run("set", "--durability", "process", file, "note", "x" * 5000)
        cippus.run("append", "--durability", "process", file, a["path"].strip("/"), tmp_path / "rows.raw")
        after = asdf01.File(file)
        assert {b["layout"] for b in after.blocks} == {b["layout"] for b in before.blocks}
        np.testing.assert_array_equal(after.array(a["path"]), np.concatenate([values, values]))
        if before.blocks[0]["layout"] != 48:
            assert b"BLOCK INDEX" not in after.data
        seen.add((before.blocks[0]["layout"], source.name))
    assert {layout for layout, _ in seen} == {36, 40, 44, 48}
