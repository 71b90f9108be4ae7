# SPDX-License-Identifier: BSD-3-Clause
"""What stands beside arrays: attributes, blocks."""
import shutil

import numpy as np
import pytest
from conftest import ROOT

import cippus


def test_attributes_of_each_format(sample):
    assert sample("prices.bcolz").array.attrs == {"currency": "EUR"} if len(sample("prices.bcolz").arrays) == 1 else True
    assert dict(sample("prices.bcolz")[""].attrs) == {"currency": "EUR"}
    assert dict(sample("prices.bcolz")["close"].attrs) == {}
    assert sample("wells.blz").array.attrs["coords"]["lat"] == 40.1
    assert dict(sample("phantom.ra").array.attrs) == {"metadata": "coil: 8 channels\n"}
    assert sample("cube.b2nd").array.attrs["instrument"]["name"] == "IFU"
    attrs = sample("night.asdf")["image"].attrs
    assert dict(attrs) == {} and len(attrs) == 0 and "source" not in attrs
    with pytest.raises(KeyError):
        attrs["source"]
    with pytest.raises(ValueError, match="read-only"):
        attrs["x"] = 1


def test_a_quantity_has_its_unit():
    with cippus.create(format="asdf") as w:
        w._change.set("q", "!<tag:stsci.edu:asdf/unit/quantity-1.2.0> {unit: m}", True)
        w["q/value"] = np.arange(3.0)
        w["value"] = np.arange(3.0)
    with cippus.open(w.getvalue()) as f:
        assert dict(f["q"].attrs) == {"unit": "m"} == dict(f["q/value"].attrs)
        assert dict(f["value"].attrs) == {}
        assert f["q"].parent["unit"] == "m" and f["value"].parent["value"].shape == (3,)
        assert repr(f["q"].attrs) == "<cippus.Attrs {'unit': 'm'}>"


def copied(name, tmp_path):
    source, target = ROOT / "samples" / name, tmp_path / name
    (shutil.copytree if source.is_dir() else shutil.copyfile)(source, target)
    return target


@pytest.mark.parametrize("name, path", [("cube.b2nd", ""), ("wells.blz", ""), ("prices.bcolz", "close")])
def test_attributes_are_set_and_deleted(tmp_path, name, path):
    target = copied(name, tmp_path)
    with cippus.open(target, "r+") as f:
        attrs = f[path].attrs
        attrs["unit"] = "K"
        attrs["a/b"] = [1, 2]
        f.commit()
        assert attrs["unit"] == "K" and list(attrs["a/b"]) == [1, 2] and "unit" in attrs
        del attrs["a/b"]
        with pytest.raises(KeyError):
            del attrs["nope"]
    with cippus.open(target) as f:
        assert f[path].attrs["unit"] == "K" and "a/b" not in f[path].attrs
    if name == "cube.b2nd":
        blosc2 = pytest.importorskip("blosc2")
        theirs = blosc2.open(str(target))
        assert theirs.schunk.vlmeta["unit"] == "K"


def test_blocks_are_the_shape_of_what_is_decoded_alone(sample):
    assert sample("cube.b2nd").array.blocks == (2, 8, 8)
    assert sample("night.asdf")["image"].blocks is None and sample("night.asdf")["stars"]["flux"].blocks is None
    for shape, blocks in (((0, 4), None), ((4, 4), (2, 4))):
        with cippus.create(format="blosc2", options={"blocks": "2,4"}) as w:
            w.put("", np.zeros(shape))
        assert cippus.open(w.getvalue()).array.blocks == blocks


def test_a_message_names_the_file_once():
    with pytest.raises(FileNotFoundError) as error:
        cippus.open("/does/not/exist")
    assert str(error.value).count("/does/not/exist") == 1
