# SPDX-License-Identifier: BSD-3-Clause
"""Attributes, names of axes and arrays of Zarr stores that zarr-python wrote, changed by cippus: zarr-python reads a plain model,
with consolidated metadata and without."""
import json
import os
import random
import subprocess

import numpy as np
import pytest
import zarr
import zarr_archive

CIPPUS = os.environ["CIPPUS"]
NSEED = 300 if os.environ.get("FULL") else 30


def run(*argv, status=0):
    p = subprocess.run([CIPPUS, *map(str, argv)], capture_output=True)
    assert p.returncode == status, (argv, p.stderr.decode())
    return p.stdout.decode() + p.stderr.decode()


def check(root, model, consolidated):
    for use in (True, False) if consolidated else (False,):
        group = zarr.open_group(zarr_archive.store_of(root), mode="r", use_consolidated=use)
        found = {"": group, **dict(group.members(max_depth=None))}
        assert set(found) == set(model)
        for path, want in model.items():
            attrs = found[path].attrs.asdict()
            if want["array"] is None:
                assert isinstance(found[path], zarr.Group)
            else:
                assert np.array_equal(found[path][...], want["array"])
                dims = attrs.pop("_ARRAY_DIMENSIONS", None)
                if found[path].metadata.zarr_format == 3:
                    dims = found[path].metadata.dimension_names
                assert (list(dims) if dims is not None else None) == want["dims"]
            assert attrs == want["attrs"], path


def make(r, root, version):
    model = {"": {"array": None, "attrs": {"title": "t", "n": [1, 2.5]}}, "g": {"array": None, "attrs": {"a": 1}}}
    group = zarr.create_group(root, zarr_format=version, attributes=model[""]["attrs"])
    group.create_group("g", attributes=model["g"]["attrs"])
    for path in ("x", "g/y", "g/z"):
        data = np.arange(12, dtype="i4").reshape(3, 4)
        attrs, dims = r.choice([{}, {"units": "K", "n": {"deep": [1]}}]), r.choice([None, ["a", "b"]])
        kw = {"dimension_names": dims} if version == 3 else {}
        x = group.create_array(path, shape=(3, 4), chunks=(2, 2), dtype="i4", attributes=dict(attrs), **kw)
        x[...] = data
        if version == 2 and dims:
            x.attrs["_ARRAY_DIMENSIONS"] = dims
        model[path] = {"array": data, "attrs": dict(attrs), "dims": dims}
    if consolidated := r.random() < 0.6:
        zarr.consolidate_metadata(root)
    return model, consolidated


def beside(path, kind):
    group, _, name = path.rpartition("/")
    return "/".join(filter(None, (group, kind, name)))


def change(r, root, tmp, model, n):
    path = r.choice(list(model))
    node = model[path]
    kind = r.choice(["set", "set", "unset", "dims", "add", "remove", "move", "move", "rows"])
    place = (path if node["array"] is None else beside(path, "attrs")) + "/"
    if kind == "set":
        key, value = r.choice(["k", "units", "with space"]), r.choice([1, "text", [1, "b"], {"m": {"n": 1.5}}, True])
        run("set", root, (place + key).lstrip("/"), json.dumps(value))
        node["attrs"][key] = value
    elif kind == "unset" and node["attrs"]:
        key = r.choice(list(node["attrs"]))
        run("rm", root, (place + key).lstrip("/"))
        del node["attrs"][key]
    elif kind == "dims" and node["array"] is not None:
        node["dims"] = ["p", "q"][:node["array"].ndim]
        run("set", root, beside(path, "dims"), json.dumps(node["dims"]))
    elif kind == "add":
        group = r.choice([p for p in model if model[p]["array"] is None])
        name = "/".join(filter(None, (group, r.choice(["", "h"]), f"new{n}")))
        data = r.choice([np.full((5, 3), 4, "f8"), np.zeros((4,), "u1"), np.arange(1000, dtype="i8")])
        np.save(tmp / "d.npy", data)
        run("put", "--new", root, name, tmp / "d.npy")
        parts = name.split("/")
        for i in range(1, len(parts)):
            model.setdefault("/".join(parts[:i]), {"array": None, "attrs": {}})
        model[name] = {"array": data, "attrs": {}, "dims": None}
    elif kind == "remove" and path:
        run("rm", root, path)
        assert root.suffix == ".zip" or not (root / path).exists()
        for p in [p for p in model if p == path or p.startswith(path + "/")]:
            del model[p]
    elif kind == "move" and path:
        group = r.choice([p for p in model if model[p]["array"] is None and p != path and not p.startswith(path + "/")])
        to = "/".join(filter(None, (group, r.choice(["", "i"]), f"moved{n}")))
        if to.startswith(path + "/"):
            return
        run("mv", root, path, to)
        for i in range(1, to.count("/") + 1):
            model.setdefault("/".join(to.split("/")[:i]), {"array": None, "attrs": {}})
        for p in [p for p in model if p == path or p.startswith(path + "/")]:
            model[to + p[len(path):]] = model.pop(p)
    elif kind == "rows" and node["array"] is not None:
        data = node["array"][:1]
        np.save(tmp / "d.npy", data)
        run("append", root, path, tmp / "d.npy")
        node["array"] = np.concatenate([node["array"], data])


@pytest.mark.parametrize("form", ["folder", "zip"])
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("seed", range(NSEED))
@pytest.mark.filterwarnings("ignore")
def test_random_changes_of_a_tree(tmp_path, seed, version, form):
    r = random.Random(seed)
    root = tmp_path / "s.zarr"
    model, consolidated = make(r, root, version)
    if form == "zip":
        zarr_archive.pack(root, root := tmp_path / "s.zip", r)
    for n in range(6):
        change(r, root, tmp_path, model, n)
        check(root, model, consolidated)
    assert run("verify", "--deep", root).endswith(": ok\n")


@pytest.mark.filterwarnings("ignore")
def test_what_others_left_is_not_taken(tmp_path):
    root = tmp_path / "s.zarr"
    group = zarr.create_group(root)
    group.create_array("x", shape=(4,), chunks=(2,), dtype="i4")[...] = 7
    zarr.consolidate_metadata(root)
    zarr.open_group(root).create_array("hidden", shape=(4,), chunks=(2,), dtype="i4")[...] = 7  # not consolidated
    (root / "stray/c").mkdir(parents=True)
    (root / "stray/c/0").write_bytes(b"\x01" * 8)
    np.save(tmp_path / "d.npy", np.zeros(4, "i4"))
    for name in ("hidden", "stray", "stray/y"):
        assert "in the way" in run("put", "--new", root, name, tmp_path / "d.npy", status=2)
    assert "in the way" in run("mv", root, "x", "stray/x", status=2)
    assert np.array_equal(zarr.open_group(root)["x"][...], np.full(4, 7))


@pytest.mark.filterwarnings("ignore")
def test_missing_records_without_a_fill_value_are_refused(tmp_path):
    root = tmp_path / "s.zarr"
    a = zarr.create_array(root, shape=(6,), chunks=(2,), dtype=np.dtype([("n", "<i4"), ("t", "S3")]), zarr_format=2, compressors=None)
    a[:2] = np.array([(1, b"abc"), (2, b"de")], a.dtype)
    meta = json.loads((root / ".zarray").read_text())
    meta["fill_value"] = None
    (root / ".zarray").write_text(json.dumps(meta))
    assert run("cat", root, "[:2]", "--to", "json").count("abc") == 1
    assert "fill_value is null" in run("cat", root, "[1:3]", status=3)
    meta["dtype"] = [["n", "<i4"], ["t", "<f4"]]
    (root / ".zarray").write_text(json.dumps(meta))
    for i in range(3):
        (root / str(i)).unlink(missing_ok=True)
    got = zarr.open_array(root, mode="r")[...]
    assert not got["n"].any() and not got["t"].any()  # as zarr-python says
    assert run("cat", root, "--to", "raw").encode() == b"\0" * 48
