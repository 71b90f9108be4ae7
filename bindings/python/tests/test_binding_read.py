# SPDX-License-Identifier: BSD-3-Clause
"""Opening, the tree, reading by basic keys, views, and what is wrong with each."""
import datetime
import io
import os
import pickle

import asdf
import numpy as np
import pytest

import cippus
from cippus import _html


def test_a_file_is_the_mapping_of_its_tree(sample):
    f = sample("night.asdf")
    assert f["exposure/frames"] == [1, 2, 3]
    assert f["exposure"]["time"] == 107.5 and f["exposure/frames/1"] == 2
    assert "counts" in f and "nope" not in f and len(f) == len(list(f)) == 10
    assert set(f.arrays) == {"counts", "image", "masked", "spectrum", "spectrum_again", "stars"}
    assert f["instrument"] == {"cooled": True, "filter": "F158", "gain": 1.8, "name": "WFI"}
    assert list(f["exposure"].items())[1][0] == "start"
    assert (f.format, f.version, f.nbytes) == ("asdf", "1.0.0", os.path.getsize(f.path))


def test_a_fits_header_is_the_attributes_of_its_array(tmp_path):
    data = np.arange(6, dtype="u2").reshape(2, 3)
    with cippus.create(tmp_path / "a.fits") as w:
        w["SCI/header/OBJECT"] = "M 13"
        w["SCI/data"] = data
    with cippus.open(tmp_path / "a.fits") as f:
        assert f.format == "fits" and np.array_equal(f["SCI/data"][...], data)
        assert f["SCI/data"].attrs["OBJECT"] == "M 13" and f["SCI/data"].attrs["BITPIX"] == 16


def test_tagged_nodes_keep_their_tags(made):
    with cippus.open(made({"x": cippus.TaggedStr("12", "!other/thing-1.0.0")})) as f:
        assert f["asdf_library"].tag == "tag:stsci.edu:asdf/core/software-1.0.0"
        assert isinstance(f["x"], cippus.TaggedStr) and f["x"] == "12"


COMPLEX = ["1+2j", "(1-2i)", "3.5", "2I", "-1e-3+4E5J", "inf-2j", "-INF+nanJ", "nan+infi", "1+INFI", "0"]


def test_complex_numbers_of_asdf_are_pythons():
    def file(text):
        return f"#ASDF 1.0.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n---\nx: !core/complex-1.0.0 {text}\n...\n".encode()

    for text in COMPLEX:
        with cippus.open(file(text)) as f, asdf.open(io.BytesIO(file(text))) as theirs:
            assert type(f["x"]) is complex and repr(f["x"]) == repr(theirs["x"]), text
    for text in ("1+2", "j+1", "1 + 2j", "ij", "'1+2jj'"):
        with cippus.open(file(text)) as f:
            assert f["x"] == text.strip("'") and f["x"].tag == "tag:stsci.edu:asdf/core/complex-1.0.0"


def test_long_integers_of_asdf_are_pythons(made):
    numbers = [2**63, -(2**63) - 1, 2**64, -(10**40), 10**3000, 7 << 320]
    blob = made({"n": {str(i): n for i, n in enumerate(numbers)}, "z": 1 - 2j})
    with cippus.open(blob) as f:
        assert list(f["n"].values()) == numbers and f["n/3"] == numbers[3] and f["z"] == 1 - 2j
    with asdf.open(io.BytesIO(blob)) as theirs:
        assert [int(n) for n in theirs["n"].values()] == numbers and theirs["z"] == 1 - 2j
    theirs = io.BytesIO()
    asdf.AsdfFile({"n": [asdf.IntegerType(n) for n in numbers[:5]]}).write_to(theirs)
    with cippus.open(theirs.getvalue()) as f:
        assert f["n"] == numbers[:5]


@pytest.mark.parametrize("node", [
    "{words: [5, 1], sign: '-', string: '-4294967302'}", "{words: [5, 4294967296], sign: '+'}", "{words: [5, -1], sign: '+'}",
    "{words: [5], sign: x}", "{words: [5]}", "{sign: '+'}", "{words: [[5]], sign: '+'}", "{words: 5, sign: '+'}", "{words: [1.5], sign: '+'}",
    "{words: [a], sign: '+'}", "{words: [5], sign: '+', string: five}", "{words: [true], sign: '+'}",
    "{words: !core/ndarray-1.0.0 {data: [1.5], datatype: float32, shape: [1]}, sign: '+'}",
    "{words: !core/ndarray-1.0.0 {data: [-5], datatype: int32, shape: [1]}, sign: '+'}",
    "{words: !core/ndarray-1.0.0 {data: [[5]], datatype: uint32, shape: [1, 1]}, sign: '+'}",
])  # fmt: skip
def test_a_long_integer_that_is_not_sure_stays_a_mapping(node):
    text = "#ASDF 1.0.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n---\n{a: [1], x: !core/integer-1.0.0 " + node + "}\n...\n"
    with cippus.open(text.encode()) as f:
        assert isinstance(f["x"], cippus.Map) and f["x"].tag == "tag:stsci.edu:asdf/core/integer-1.0.0"
        assert f["x"].get("sign", "+") in ("+", "-", "x")


def test_a_long_integer_whose_words_are_damaged_stays_a_mapping():
    made = io.BytesIO()
    asdf.AsdfFile({"x": asdf.IntegerType(10**500, storage_type="internal")}).write_to(made, all_array_compression="zlib")
    blob = bytearray(made.getvalue())
    with cippus.open(bytes(blob)) as f:
        assert f["x"] == 10**500
    at = blob.index(b"\xd3BLK") + 54 + 20
    blob[at : at + 8] = bytes(8)
    with cippus.open(bytes(blob)) as f:
        assert isinstance(f["x"], cippus.Map) and f["x/words"].shape == (52,)


@pytest.mark.parametrize("form", ["{data: [%s], datatype: uint32, shape: [%d]}", "[%s]"])
def test_integers_of_more_than_64_kib_stay_mappings(form):
    def file(n):
        words = form.replace("%s", ", ".join(["1"] * n)).replace("%d", str(n))
        words = words if form[0] == "[" else "!core/ndarray-1.0.0 " + words
        return f"#ASDF 1.0.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n---\nx: !core/integer-1.1.0 {{sign: '-', words: {words}}}\n...\n".encode()

    with cippus.open(file(16384)) as f:
        assert f["x"] == -sum(1 << 32 * i for i in range(16384))
    with cippus.open(file(16385)) as f:
        assert isinstance(f["x"], cippus.Map) and len(f["x"]["words"]) == 16385


def test_values_come_back_as_they_went_in(made):
    tree = {
        "text": "a: [b", "none": None, "yes": True, "int": -5, "x": 1e16, "tiny": 1e-300,
        "inf": float("inf"), "bytes": b"\0\xff", "day": datetime.date(2026, 11, 23), "odd": "\x85\x07\u2028é😀\\\"",
        "list": [1, [2, {"k": "v"}], []], "map": {"a b": {}, "1": "one", 1: "number", "nul\0": 0}, "like": "1e5",
    }  # fmt: skip
    with cippus.open(made(tree)) as f:
        for key, value in tree.items():
            assert f[key] == value and type(f[key]) is type(value) or isinstance(value, (list, dict)), key
        assert f["list"] == tree["list"] and f["map"] == tree["map"]
        assert f["map"]["1"] == "one" and f["map"][1] == "number" and list(f["map"]) == list(tree["map"])


def test_keys_with_slashes_go_before_paths(made):
    with cippus.create(format="asdf") as w:
        w.update({"a/b": 1, "a": {"b": 2, "t~": 3}})
    with cippus.open(w.getvalue()) as f:
        assert f["a/b"] == 1 and f["a"]["b"] == 2 and f["a"]["t~"] == 3 and f["a~1b"] == 1


def test_a_large_mapping_is_searched_by_its_index(made):
    with cippus.open(made({"m": {f"k{i}": i for i in range(300)}})) as f:
        m = f["m"]
        assert all(m[f"k{i}"] == i for i in reversed(range(300))) and "k300" not in m


@pytest.mark.parametrize("name", ["tide.blp", "prices.bcolz", "phantom.ra", "cube.b2nd", "wells.blz", "complex.ra"])
def test_every_format_reads_the_same_whole_and_in_parts(sample, name):
    f = sample(name)
    a = f[""]
    whole = a[...]
    assert whole.shape == a.shape and whole.dtype == a.dtype and whole.flags.writeable
    np.testing.assert_array_equal(a[1:3], whole[1:3])
    np.testing.assert_array_equal(np.asarray(a), whole)
    assert a[-1].tolist() == whole[-1].tolist()
    assert a.nbytes == whole.nbytes and len(a) == len(whole)


def test_records_have_fields(sample):
    stars = sample("night.asdf")["stars"]
    whole = stars[...]
    assert stars.fields == ("star", "flux", "position")
    np.testing.assert_array_equal(stars["position"][1:3, 0], whole["position"][1:3, 0])
    np.testing.assert_array_equal(stars["position"][[0, 2], ::-1], whole["position"][[0, 2], ::-1])
    assert stars["flux"].dtype == np.float32 and stars["flux"].shape == (5,)
    np.testing.assert_array_equal(stars[["star", "flux"]], whole[["star", "flux"]])
    assert sample("wells.blz")[""]["site"]["x"].dtype == np.int16
    with pytest.raises(cippus.Error):
        stars["nope"]


def test_masks_come_on_request(sample):
    a = sample("night.asdf")["masked"]
    assert a.is_masked
    found = a.read(np.s_[1:3, ::2], mask=True)
    assert isinstance(found, np.ma.MaskedArray) and found.mask.tolist() == [[False, False, False], [False, True, False]]


def test_reading_into_out_takes_its_strides_and_dtype(sample):
    a = sample("cube.b2nd").array
    whole = a[...]
    room = np.zeros((24, 60), np.int16)
    assert a.read(2, out=room[:, ::-2]).base is room
    np.testing.assert_array_equal(room[:, ::-2], whole[2])
    wide = np.zeros((24, 30), np.float64)
    a.read(2, out=wide)
    np.testing.assert_array_equal(wide, whole[2])
    with pytest.raises(ValueError):
        a.read(2, out=np.zeros((2, 2), np.int16))
    with pytest.raises(TypeError):
        a.read(2, out=np.zeros((24, 30), bool))
    locked = np.zeros((24, 30), np.int16)
    locked.flags.writeable = False
    with pytest.raises(ValueError):
        a.read(2, out=locked)


def test_stored_bools_are_numpys(made):
    data = bytearray(made({"b": np.zeros(4, bool)}))
    at = data.find(b"\xd3BLK")
    block = at + 6 + int.from_bytes(data[at + 4 : at + 6], "big")
    data[block : block + 4] = bytes([0, 2, 255, 1])
    with cippus.open(data) as f:
        assert f["b"][...].view("u1").tolist() == [0, 1, 1, 1]
        assert f["b"][::2].view("u1").tolist() == [0, 1] and int(f["b"][1]) == 1


def test_dtypes_are_numpys(made):
    kinds = ["?", "i1", "u2", ">i4", "u8", "f2", ">f4", "f8", "c8", ">c16", "S3", "U2", ">U2"]
    tree = {f"k{i}": np.zeros(3, k) for i, k in enumerate(kinds)}
    with cippus.open(made(tree)) as f:
        for name, value in tree.items():
            assert f[name].dtype == value.dtype.newbyteorder("="), name
            assert f[name].dtype.isnative and f[name].stored_dtype.kind == value.dtype.kind
    with cippus.open(made({"": np.arange(4).astype("M8[ms]")}, "npy")) as f:
        assert f.array.dtype == "M8[ms]" and f.array[2] == np.datetime64(2, "ms")
        np.testing.assert_array_equal(f.array[[3, 0]], np.array([3, 0], "M8[ms]"))


def test_numpy_does_not_need_to_be_told(sample):
    a = sample("cube.b2nd").array
    assert np.sum(a) == a[...].sum() and np.array(a, np.float64).dtype == np.float64
    np.testing.assert_array_equal(np.from_dlpack(a), a[...])
    assert sum(row.sum() for row in a) == a[...].sum()
    with pytest.raises(ValueError):
        np.asarray(a, copy=False)


# --- views


def test_a_view_is_read_only_and_outlives_its_file(tmp_path):
    data = np.arange(1000.0).reshape(10, 100)
    with cippus.create(tmp_path / "x.ra") as w:
        w[""] = data
    f = cippus.open(tmp_path / "x.ra")
    view = f.array.view()
    assert not view.flags.writeable and not view.flags.owndata
    f.close()
    (tmp_path / "x.ra").unlink()
    np.testing.assert_array_equal(view, data)
    part = view[3:5]
    del view, f
    np.testing.assert_array_equal(part, data[3:5])


def test_a_view_says_what_stands_in_its_way(sample):
    with pytest.raises(cippus.UnsupportedError, match="counts"):
        sample("night.asdf")["counts"].view()
    with pytest.raises(NotImplementedError):
        sample("night.asdf")["stars"]["flux"].view()


def test_views_of_memory_keep_the_memory(made):
    data = bytearray(made({"": np.arange(100, dtype="u1")}, "rawarray"))
    f = cippus.open(data)
    view = f.array.view()
    f.close()
    with pytest.raises(BufferError):
        data.clear()
    assert view.sum() == 4950
    del view
    data.clear()


# --- sources


def test_bytes_and_file_likes_are_read_as_paths_are(sample):
    path = sample("night.asdf").path
    with open(path, "rb") as raw:
        data = raw.read()
    for source in (data, bytearray(data), memoryview(data), io.BytesIO(data), open(path, "rb"), open(path, "rb", buffering=0)):
        with cippus.open(source) as f:
            np.testing.assert_array_equal(f["counts"][3:9, ::5], sample("night.asdf")["counts"][3:9, ::5])


def test_what_a_source_keeps_of_its_buffers_is_its_own(sample, monkeypatch):
    kept = []
    read_ranges = cippus._fs.Reader.read_ranges

    def keeping(self, ranges):
        read_ranges(self, ranges)
        kept.extend((at, np.frombuffer(into, "u1"), into[:]) for at, into in ranges)

    monkeypatch.setattr(cippus._fs.Reader, "read_ranges", keeping)
    with open(sample("night.asdf").path, "rb") as raw:
        data = raw.read()
    with cippus.open(io.BytesIO(data)) as f:
        for name in ("image", "counts", "spectrum"):
            np.testing.assert_array_equal(f[name][...], sample("night.asdf")[name][...])
    assert len(kept) > 3
    for at, numbers, view in kept:
        assert numbers.tobytes() == bytes(view) == data[at : at + len(view)]


def test_large_reads_are_asked_for_in_parts(monkeypatch):
    asked = []
    read_ranges = cippus._fs.Reader.read_ranges

    def counting(self, ranges):
        asked.append(sum(len(into) for _, into in ranges))
        read_ranges(self, ranges)

    data = io.BytesIO()
    np.save(data, np.arange(20 << 20, dtype="i4"))
    monkeypatch.setattr(cippus._fs.Reader, "read_ranges", counting)
    with cippus.open(data) as f:
        found = f.array[...]
    np.testing.assert_array_equal(found, np.arange(20 << 20, dtype="i4"))
    assert max(asked) <= 64 << 20 and sum(asked) >= 80 << 20


def test_an_exception_of_a_file_like_comes_out(sample):
    class Broken(io.BytesIO):
        broken = False

        def read(self, n=-1):
            if self.broken:
                raise ZeroDivisionError("reading")
            return super().read(n)

    with open(sample("night.asdf").path, "rb") as raw:
        source = Broken(raw.read())
    f = cippus.open(source)
    source.broken = True
    with pytest.raises(ZeroDivisionError, match="reading"):
        f["image"][...]
    source.broken = False
    with cippus.open(source) as f:
        assert f["image"][...].shape == (128, 160)


def test_a_file_like_that_ends_early_is_an_error(made):
    class Short(io.BytesIO):
        def read(self, n=-1):
            return super().read(n)[:0] if self.tell() > 200 else super().read(n)

    with pytest.raises(EOFError):
        cippus.open(Short(made({"a": np.arange(100_000)})))["a"][...]


def test_other_sources_are_refused():
    for source in (None, 3, object(), ["x"]):
        with pytest.raises(TypeError):
            cippus.open(source)
    with pytest.raises(ValueError):
        cippus.open("x", "q")
    with pytest.raises(ValueError):
        cippus.open("a\0b")


# --- bad input


def test_errors_are_what_python_programs_expect(sample, tmp_path):
    with pytest.raises(FileNotFoundError) as missing:
        cippus.open(tmp_path / "none.asdf")
    assert missing.value.errno == 2 and missing.value.status == "not found" and str(tmp_path) in missing.value.path
    (tmp_path / "text").write_text("no array\n")
    with pytest.raises(cippus.FormatError) as unknown:
        cippus.open(tmp_path / "text")
    assert isinstance(unknown.value, ValueError)
    with pytest.raises(KeyError):
        sample("night.asdf")["nope/nope"]
    with open(sample("night.asdf").path, "rb") as raw:
        damaged = bytearray(raw.read())
    damaged[-20:] = b"\0" * 20
    at = damaged.rfind(b"\xd3BLK")
    damaged[at + 80 : at + 120] = b"\xff" * 40
    with cippus.open(damaged, check=True) as f, pytest.raises(cippus.Error) as bad:
        for array in f.arrays.values():
            array[...]
    assert bad.value.text and bad.value.part
    again = pickle.loads(pickle.dumps(bad.value))
    assert type(again) is type(bad.value) and str(again) == str(bad.value) and again.offset == bad.value.offset


def test_every_status_has_its_class():
    from cippus import _errors

    assert sorted(_errors.BY_STATUS) == list(range(1, 18))
    for number, kind in _errors.BY_STATUS.items():
        error = _errors.make_error(number, 5, "text", "part", 7, "path", False)
        assert isinstance(error, kind) and isinstance(error, cippus.Error)
        assert str(error) == "path, part, offset 7: text"
        if isinstance(error, OSError):
            assert error.errno == 5


def test_a_closed_file_says_so(sample):
    f = sample("night.asdf")
    a, node = f["counts"], f["exposure"]
    f.close()
    f.close()
    for use in (lambda: f["counts"], lambda: a[0], lambda: a.shape, lambda: node["time"], lambda: len(node), lambda: list(f),
                lambda: f.tree, lambda: a.view(), lambda: a.read(out=np.zeros(a._field_name or 1)), f.__enter__, f.refresh):  # fmt: skip
        with pytest.raises(ValueError, match="closed file"):
            use()
    assert f.closed and "closed" in repr(f) and "closed" in repr(a)


def test_numpys_exceptions_in_numpys_words(sample):
    a = sample("cube.b2nd").array
    like = a[...]
    keys = [6, -7, (0, 24), (0, 0, 0, 0), (..., ...), slice(None, None, 0), 1.5, (1, "x"), {}, object(), [9], ([0, 1], [0, 1, 2]),
            np.zeros(5, bool), np.zeros((6, 3), bool), [1.5], (0, [30], 0), 2**70, np.array([0.5]), (None,) * 70, (0, 0, 0, [0])]  # fmt: skip
    for key in keys:
        with pytest.raises(Exception) as theirs:
            like[key]
        with pytest.raises(type(theirs.value)) as ours:
            a[key]
        for words in () if isinstance(key, int) and key > 9 else ("valid indices", "out of bounds", "too many indices for array: array is", "must be of integer", "step cannot"):
            if words in str(theirs.value):
                assert str(ours.value) == str(theirs.value)


def test_reprs_show_shape_dtype_chunks_and_ratio(sample):
    a = sample("cube.b2nd").array
    assert "shape=(6, 24, 30)" in repr(a) and "chunks=(4, 16, 16)" in repr(a)
    shown = a._repr_html_()
    assert "<svg" in shown and "int16" in shown and f"{a.cratio:.2f}" in shown
    assert '<svg width="102" height="82"' in shown and shown.count("<line") == 2
    assert 'y1="53.3" y2="53.3"' in shown and 'x1="53.3" x2="53.3"' in shown
    assert _html.picture((3000,), (10,)).count("<line") == 0  # more than there is room for
    assert '<rect x="0" y="0" width="100.0" height="6.0"/>' in _html.picture((3000,), None)
    assert sample("night.asdf")._repr_html_().count("<svg") == 6
    assert repr(sample("night.asdf")["stars"]["flux"]).startswith("<cippus.Array 'stars' field='flux' shape=")
    assert "field" not in repr(a)


def test_files_have_a_length_and_are_themselves(sample):
    for name in ("night.asdf", "phantom.ra", "prices.bcolz"):
        f = sample(name)
        assert len(f) == len(list(f)) and len(f.arrays) == len(list(f.arrays)) > 0
        assert (f == f) is True and (f == 1) is False


def test_open_files_and_arrays_are_not_pickled(sample):
    f = sample("night.asdf")
    for thing in (f, f["counts"], f["exposure"], f["exposure/frames"]):
        with pytest.raises(TypeError):
            pickle.dumps(thing)


class Bar:
    """What tqdm has."""

    total, n = None, 0

    def update(self, n=1):
        self.n += n


def test_a_bar_shows_progress(sample, tmp_path):
    a = sample("roman.asdf")["roman/data"]
    bar = Bar()
    a.read(progress=bar)
    assert bar.n == bar.total == a.size
    bar = Bar()
    cippus.convert(a.file.path, tmp_path / "x.asdf", progress=bar)
    assert bar.n == bar.total > 0
    bar = Bar()
    cippus.verify(a.file.path, deep=True, progress=bar)
    assert bar.n > 0 and bar.total is None  # nobody knows before
    with pytest.raises(TypeError, match="a bar with update"):
        a.read(progress=3)


def test_progress_is_told_and_stops(sample):
    a = sample("night.asdf")["image"]
    told = []
    a.read(progress=lambda done, total: told.append((done, total)))
    assert told and told[-1][0] == a.size
    with pytest.raises(ZeroDivisionError):
        a.read(progress=lambda done, total: 1 // 0)


def test_scalars_are_pythons():
    text = b"""#ASDF 1.0.0
#ASDF_STANDARD 1.5.0
%YAML 1.1
--- !<tag:stsci.edu:asdf/core/asdf-1.1.0>
big: 18446744073709551615
bigger: 123456789012345678901234567890
hex: 0x10
when: 2001-12-14T21:59:43.1Z
strange: 2001-12-14 21:59:43.10 -5
bin: !!binary "AAH/"
same: &a [1, 2]
again: *a
1: one
? [x, y]
: pair
...
"""
    with cippus.open(text) as f:
        assert f["big"] == 2**64 - 1 and f["bigger"] == 123456789012345678901234567890 and f["hex"] == 16
        assert f["when"] == datetime.datetime(2001, 12, 14, 21, 59, 43, 100000, datetime.timezone.utc)
        assert f["strange"] == "2001-12-14 21:59:43.10 -5" and f["bin"] == b"\0\1\xff"
        assert f["again"] == f["same"] == [1, 2] and f.tree[1] == "one" and True not in f.tree
        assert dict(f.tree)["?9"] == "pair" and f.tree["?9"] == "pair"


def test_a_walk_over_many_arrays_is_linear(monkeypatch):
    n = 4000
    text = "#ASDF 1.0.0\n#ASDF_STANDARD 1.5.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n"
    data = text + "".join(f"a{i}: !core/ndarray-1.0.0 [{i}]\n" for i in range(n)) + "...\n"
    calls, paths = [], cippus.File._paths
    monkeypatch.setattr(cippus.File, "_paths", lambda self, apart: calls.append(apart) or paths(self, apart))
    with cippus.open(data.encode()) as f:
        assert [int(a[0]) for a in f.arrays.values()] == list(range(n))
        assert len(calls) <= 2 and f.arrays["a7"].path == "a7"
        assert [key for key, _ in f.items()] == list(f) and [v.path for v in f.values()] == list(f.arrays)
        for path in ("a", "/a7", "", 7, "a7/x"):
            with pytest.raises(KeyError):
                f.arrays[path]


@pytest.mark.parametrize("name", ["a.asdf", "a.b2nd", "a.ra", "a.npy", "a.blp", "a.blz"])
def test_a_mapped_file_reads_the_same(tmp_path, name):
    a = np.arange(60_000, dtype=">f4").reshape(200, 300)
    with cippus.create(tmp_path / name, codec="none" if name == "a.asdf" else None) as w:
        w["a" if name in ("a.asdf", "a.blz") else ""] = a
    with cippus.open(tmp_path / name, mmap=True) as f:
        x = next(iter(f.arrays.values()))
        for key in (np.s_[...], np.s_[3:50, 7:90], np.s_[-1, ::-3], np.s_[5, 6], np.s_[[3, 9, 3], [1, 2, 299]]):
            np.testing.assert_array_equal(x[key], a[key])
    with pytest.raises(TypeError, match="'mmap' in mode 'r\\+'"):
        cippus.open(tmp_path / name, "r+", mmap=True)


def test_texts_of_no_bytes_are_empty():
    text = "#ASDF 1.0.0\n#ASDF_STANDARD 1.5.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n"
    for kind, empty in (("ascii", b""), ("ucs4", "")):
        data = text + f"a: !core/ndarray-1.0.0 {{data: ['', '', ''], datatype: [{kind}, 0], shape: [3]}}\n...\n"
        with cippus.open(data.encode()) as f:
            a = f["a"]
            assert a.shape == (3,) and a.dtype.itemsize == 0
            for got in (a[:], a[::2], a[[2, 0]], a[a[:] == empty], np.asarray(a)):
                assert len(got) in (2, 3) and (got == empty).all()
            assert a[1] == empty and f["a"].read(out=np.full(3, "x", a[:].dtype)).tolist() == [empty] * 3
