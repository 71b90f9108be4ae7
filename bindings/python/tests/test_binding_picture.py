# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of arrays: PNG files, their options, and saving them."""
import pathlib
import sys

import numpy as np
import pytest

import cippus

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "tests/support"))
from png_pixels import pixels  # noqa: E402


def test_pixels_are_the_values_by_the_scale(made):
    values = np.array([[0, 1, 2], [3, 4, np.nan]])
    a = cippus.open(made({"a": values}))["a"]
    found = pixels(a.picture(limits=(0, 4), map="gray", zoom=1, axes=False, bad="#102030"))
    assert found[..., 0].tolist() == [[0, 64, 128], [192, 255, 0x10]] and found[1, 2].tolist() == [0x10, 0x20, 0x30]
    found = pixels(a.picture(limits=(0, 4), map="gray_r", scale="sqrt", zoom=2, axes=False, bad="none"))
    assert found.shape == (4, 6, 4) and found[0, 2, 0] == 255 - 128 and found[3, 5, 3] == 0
    assert pixels(a.picture((slice(None, None, -1), 1), axes=False, width=10, height=5)).shape == (5, 10, 3)  # a line
    assert pixels(a.picture()).shape[0] > pixels(a.picture(axes=False)).shape[0]


def test_fields_masks_and_more_axes(made):
    records = np.zeros(3, [("x", "i2"), ("v", "f4", (2,))])
    records["x"] = 1, 2, 3
    f = cippus.open(made({"r": records, "m": np.ma.MaskedArray([[1, 2]], [[True, False]]), "c": np.zeros((2, 3, 4, 5), "u1")}))
    assert pixels(f["r"]["x"].picture(axes=False, width=9, height=4)).shape == (4, 9, 3)
    assert pixels(f["r"]["v"].picture(axes=False, zoom=1)).shape == (3, 2, 3)
    assert pixels(f["m"].picture(axes=False, zoom=1)).tolist()[0][0] == [255, 0, 255]
    assert pixels(f["c"].picture((1, 2), axes=False, zoom=1)).shape == pixels(f["c"].picture(axes=False, zoom=1)).shape == (4, 5, 3)
    with pytest.raises(cippus.Error, match="name a field"):
        f["r"].picture()


def test_one_element_is_seen_among_many(made):
    a = np.zeros((1000, 1100), "f4")
    a[567, 891] = -1
    f = cippus.open(made({"a": a}))["a"]
    assert [int((pixels(f.picture(axes=False, width=110, map="gray", **k)) == 0).sum()) for k in ({}, {"reduce": "sample"})] == [3, 0]


def test_wrong_options_are_named(made):
    a = cippus.open(made({"a": np.eye(3)}))["a"]
    for words, match in [
        ({"scale": "cubic"}, "scale"), ({"reduce": "median"}, "reduce"), ({"bad": "red"}, "bad"), ({"width": -1}, "width"),
        ({"max_nbytes": 2**64}, "max_nbytes"), ({"map": "jet"}, "viridis"), ({"limits": (2, 1)}, "limits"), ({"width": 20000}, "width"),
        ({"percentile": (0, 0)}, "rising"),
    ]:  # fmt: skip
        with pytest.raises((ValueError, cippus.Error), match=match):
            a.picture(**words)
    with pytest.raises(TypeError, match="integer"):
        a.picture(width=1.5)
    with pytest.raises(TypeError, match="did you mean 'scale'"):
        a.picture(scael="log")
    with pytest.raises(TypeError):
        a.picture(limits=(0, 1), percentile=(1, 99))
    with pytest.raises(TypeError, match="key"):
        a.picture([0, 2])
    with pytest.raises(IndexError):
        a.picture((0, 5))
    with pytest.raises(cippus.LimitError, match="max_nbytes="):
        a.picture(reduce="mean", max_nbytes=1)


def test_files_are_whole_and_not_overwritten(made, tmp_path):
    a = cippus.open(made({"a": np.eye(3)}))["a"]
    a.save_picture(tmp_path / "a.png", map="magma")
    assert (tmp_path / "a.png").read_bytes() == a.picture(map="magma")
    with pytest.raises(FileExistsError):
        a.save_picture(tmp_path / "a.png")
    a.save_picture(tmp_path / "a.png", overwrite=True)
    assert (tmp_path / "a.png").read_bytes() == a.picture() and [p.name for p in tmp_path.iterdir() if p.name[0] == "."] == []


def test_a_change_is_shown_before_its_commit_and_a_callback_stops(made):
    with cippus.open(made({"a": np.zeros((3, 3))}), "r+") as f:
        before = f["a"].picture(limits=(0, 1))
        f["a"][1, 1] = 1
        assert f["a"].picture(limits=(0, 1)) != before

    def stop(done, total):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        cippus.open(made({"a": np.zeros((3, 3))}))["a"].picture(progress=stop)
