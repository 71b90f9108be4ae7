# SPDX-License-Identifier: BSD-3-Clause
"""Contents as plain Python objects and as those of pandas; what notebooks show."""
import builtins
import io
import pathlib
import re
import sys
from base64 import b64decode

import numpy as np
import pytest

import cippus
from cippus import _html

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "tests/support"))
import png_pixels  # noqa: E402


def same(found, want):
    np.testing.assert_array_equal(found, want)
    return found.dtype == want.dtype


# --- dicts


def test_files_become_dicts(sample):
    f = sample("night.asdf")
    found = f.to_dict()
    assert type(found["exposure"]) is dict and found["exposure"]["time"] == f["exposure/time"] and type(found["exposure"]["frames"]) is list
    assert type(found["image"]) is np.ndarray and same(found["image"], f["image"][...])
    assert np.ma.isMaskedArray(found["masked"]) and same(found["stars"], f["stars"][...])
    f.close()
    assert found["image"].sum() > 0  # what was read stays
    with cippus.open(f.path) as g:
        kept = g.to_dict(read=False)
        assert isinstance(kept["image"], cippus.Array) and kept["exposure"] == found["exposure"]
        assert g["exposure"].to_dict() == found["exposure"] and g["exposure/frames"].to_list() == found["exposure"]["frames"]


def test_arrays_without_a_tree_are_in_the_dict(sample):
    cube = sample("cube.b2nd")
    found = cube.to_dict()
    assert same(found[""], cube[""][...]) and set(found) == set(cube)
    with cippus.open(b"#ASDF 1.0.0\n%YAML 1.1\n--- [1, {a: 2}]\n...\n") as f:
        with pytest.raises(TypeError, match="root of the tree is a Seq"):
            f.to_dict()
        assert f.tree.to_list() == [1, {"a": 2}]


def test_what_is_shared_stays_shared_and_a_ring_is_a_ring():
    text = b"#ASDF 1.0.0\n%YAML 1.1\n---\na: &x {b: 1, self: *x, list: &y [3, *y]}\nc: *x\n...\n"
    with cippus.open(text) as f:
        found = f.to_dict()
    assert found["a"] is found["c"] is found["a"]["self"] and found["a"]["list"][1] is found["a"]["list"]
    deep = b"#ASDF 1.0.0\n%YAML 1.1\n---\na: " + b"[" * 200 + b"]" * 200 + b"\n...\n"
    with cippus.open(deep) as f:
        found, depth = f.to_dict()["a"], 0
        while found:
            found, depth = found[0], depth + 1
        assert depth == 199


def test_dicts_are_as_the_changes_have_it(made):
    with cippus.open(made({"a": np.arange(3), "n": 1}), "r+") as f:
        f["n"], f["m"] = 2, {"x": [1]}
        f["a"][0] = 9
        found = f.to_dict()
        assert found["n"] == 2 and found["m"] == {"x": [1]} and found["a"].tolist() == [9, 1, 2]


# --- pandas


def test_records_become_frames(made, sample):
    pandas = pytest.importorskip("pandas")
    rows = np.zeros(3, [("n", "i2"), ("x", "f8"), ("ok", "?"), ("t", "M8[s]"), ("s", "U3"), ("v", "f4", 2), ("p", [("a", "i4"), ("b", "f4")])])
    rows["n"], rows["s"], rows["p"]["a"] = [1, 2, 3], ["a", "bb", ""], [7, 8, 9]
    frame = cippus.open(made({"rows": np.ascontiguousarray(rows)[["n", "x", "ok", "s", "v", "p"]]}))["rows"].to_pandas()
    assert list(frame) == ["n", "x", "ok", "s", "v", "p/a", "p/b"] and frame["n"].dtype == "int16" and list(frame["p/a"]) == [7, 8, 9]
    assert list(frame["s"]) == ["a", "bb", ""] and frame["v"][0].tolist() == [0, 0]
    table = sample("prices.bcolz")
    frame = table.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame) == list(table.array.fields) and len(frame) == len(table.array)
    for name in frame:
        np.testing.assert_array_equal(frame[name].to_numpy(), table.array[name][...])
    series = sample("night.asdf")["spectrum"].to_pandas()
    assert isinstance(series, pandas.Series) and series.name == "spectrum" and series.dtype == "float64"
    assert sample("night.asdf")["stars"]["flux"].to_pandas().name == "flux"
    with pytest.raises(ValueError, match="one axis, and this one has 2"):
        sample("night.asdf")["image"].to_pandas()


def test_missing_values_are_missing_in_pandas(made):
    pandas = pytest.importorskip("pandas")
    mask = [False, True, False]
    tree = {name: np.ma.MaskedArray(np.array([1, 2, 3], name), mask) for name in ("i8", "u1", "f4", "?")}
    f = cippus.open(made(tree))
    for name, array in f.arrays.items():
        found = array.to_pandas()
        assert found.isna().tolist() == mask, name
        assert [x for x in found if not pandas.isna(x)] == [tree[name].data[0], tree[name].data[2]]
        assert found.dtype.kind == np.dtype(name).kind, name  # integers stay integers
    big = np.ma.MaskedArray([2**62 + 1, 5], [False, True])
    assert cippus.open(made({"a": big}))["a"].to_pandas()[0] == 2**62 + 1


def test_mappings_of_columns_become_frames(made):
    pytest.importorskip("pandas")
    f = cippus.open(made({"t": {"a": np.arange(3), "b": np.arange(3) / 2, "unit": "m"}, "u": {"a": np.arange(3), "b": np.arange(2)}, "v": {"x": 1}}))
    assert f["t"].to_pandas().to_dict("list") == {"a": [0, 1, 2], "b": [0, 0.5, 1]}
    for name in "uv":
        with pytest.raises(ValueError, match="same number of rows"):
            f[name].to_pandas()
    columns = [{"name": "x", "data": np.arange(2)}, {"name": "y", "data": np.array([1.5, 2.5])}]
    g = cippus.open(made({"t": {"colnames": ["x", "y"], "columns": columns, "meta": {}}}))
    assert g["t"].to_pandas().to_dict("list") == {"x": [0, 1], "y": [1.5, 2.5]}
    names = np.zeros(2, [("a/b", "i4"), ("a", [("b", "i4")])])
    with pytest.raises(ValueError, match="two columns would have the name 'a/b'"):
        cippus.open(made({"a": names}))["a"].to_pandas()


def test_without_pandas_the_error_says_what_to_install(sample, monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.partition(".")[0] == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError) as raised:
        sample("night.asdf")["stars"].to_pandas()
    assert str(raised.value) == "to_pandas() needs pandas: pip install pandas" and raised.value.__suppress_context__


# --- notebooks


def pixels(shown):
    """The picture in some HTML as an array."""
    return png_pixels.pixels(b64decode(re.search(r'href="data:image/png;base64,([^"]+)"', shown)[1]))


def test_images_are_shown_as_pictures(made):
    image = np.add.outer(np.arange(300.0), np.arange(200.0))
    found = pixels(cippus.open(made({"a": image}))["a"]._repr_html_())
    assert found.shape == (100, 67, 3) and tuple(found[0, 0]) == (68, 1, 84) and tuple(found[-1, -1]) == (253, 231, 36)
    image[:3], image[3:6] = np.nan, np.inf
    found = pixels(cippus.open(made({"a": image}))["a"]._repr_html_())
    assert found.shape == (100, 67, 4) and not found[0, :, 3].any() and (found[1:, :, 3] == 255).all()
    hidden = np.ma.MaskedArray(np.eye(4), np.eye(4, dtype=bool))
    assert (pixels(cippus.open(made({"a": hidden}))["a"]._repr_html_())[..., 3] == np.where(np.eye(4), 0, 255)).all()
    odd = [np.full((4, 4), 1e308) * np.array([1, -1, 1, -1]), np.eye(3, dtype="?"), np.full((2, 2), 7), np.full((3, 3), 2**64 - 1, "u8")]
    for one in [*odd, np.zeros((2, 2, 2)), np.eye(2) * 1j]:
        assert pixels(cippus.open(made({"a": one}))["a"]._repr_html_()).shape[:2] == one.shape[-2:]
    for none in np.full((3, 3), np.nan), np.zeros((3, 0)), np.zeros(5), np.array([["a"]]):
        assert "<image" not in cippus.open(made({"a": none}))["a"]._repr_html_()


class Counted(io.BytesIO):
    count = 0

    def read(self, n=-1):
        found = super().read(n)
        self.count += len(found)
        return found


def test_no_huge_array_is_read_to_be_shown(made, monkeypatch):
    data = made({"a": np.arange(1 << 20, dtype="f8").reshape(1024, 1024), "b": np.zeros((64, 64))})
    monkeypatch.setattr(_html, "MOST_BYTES", 1 << 20)
    f = cippus.open(file := Counted(data))
    before = file.count
    assert f._repr_html_().count("<image") == 2 and file.count - before < 1 << 20
    assert 0 < _html.of_array(f["a"], 1 << 20)[1] <= 1 << 20 and _html.of_array(f["b"], 1 << 20)[1] >= 64 * 64 * 8
    # What is small, but lies in a large block that has to be decoded, counts as that.
    text = b"#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n---\n"
    text += b"a: !<tag:stsci.edu:asdf/core/ndarray-1.1.0> {source: 0, shape: [4, 4], datatype: float64, byteorder: little, offset: 8000000}\n...\n"
    block = made({"a": np.zeros(1 << 20)}, codec="zlib")
    f = cippus.open(text + block[block.index(b"\xd3BLK") :])
    assert f["a"][0, 0] == 0 and "<image" not in f._repr_html_()


def test_a_file_is_shown_by_facts_scalars_and_its_first_arrays(made, sample):
    shown = cippus.open(made({"<name>": "<b>" + "x" * 200, "deep": {"er": {"n": 5}}, "list": [1, 2]}))._repr_html_()
    assert "&lt;name&gt;" in shown and "&lt;b&gt;xxx" in shown and "x" * 90 not in shown and "deep/er/n" in shown and "list/1" in shown
    assert "asdf 1.0.0" in shown and "0 arrays" in shown and "history" not in shown
    many = {f"n{i:03}": i for i in range(50)} | {f"a{i:03}": np.zeros(1) for i in range(25)}
    shown = cippus.open(made(many))._repr_html_()
    assert "n019" in shown and "n020" not in shown and "more values: f.tree" in shown and "and 5 more arrays: f.arrays" in shown and shown.count("<svg") == 20
    f = sample("night.asdf")
    f.close()
    assert "closed" in f._repr_html_()
    with cippus.open(made({"a": np.eye(3)}), "r+") as g:
        g["b"] = np.eye(4)
        assert "path" in g._repr_html_()


def test_damage_is_no_obstacle_to_showing_a_file(made):
    data = bytearray(made({"a": np.arange(64.0).reshape(8, 8)}, codec="zlib", checksum="none"))
    at = data.index(b"\xd3BLK") + 54
    data[at + 10 : at + 20] = b"\xff" * 10
    with cippus.open(bytes(data)) as f:
        with pytest.raises(cippus.Error):
            f["a"][...]
        assert "<svg" in f._repr_html_() and "<image" not in f._repr_html_()
