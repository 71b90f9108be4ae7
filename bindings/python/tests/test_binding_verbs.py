# SPDX-License-Identifier: BSD-3-Clause
"""What convert, verify, repair, diff and refs take: paths, bytes, file objects, URLs, open files."""
import io
import os
import tempfile

import numpy as np
import pytest

import cippus
from test_binding_life import run_threads

fsspec = pytest.importorskip("fsspec")
VALUES = np.random.default_rng(1).integers(0, 9, (50, 100)).astype("f8")
KINDS = ["path", "str", "bytes", "memoryview", "file object", "opened", "url", "local url", "fsspec"]


@pytest.fixture
def give(tmp_path):
    """The same bytes as what a kind says."""
    opened = []

    def make(kind, data, name="a.asdf"):
        path = tmp_path / name
        path.write_bytes(data)
        if kind in ("url", "fsspec"):
            fsspec.filesystem("memory").pipe(f"/verbs/{name}", data)
        if kind == "opened":
            opened.append(cippus.open(path))
            return opened[-1]
        return {
            "path": path, "str": str(path), "bytes": data, "memoryview": memoryview(data), "file object": io.BytesIO(data),
            "url": f"memory://verbs/{name}", "local url": f"file://{path}", "fsspec": fsspec.open(f"memory://verbs/{name}"),
        }[kind]  # fmt: skip

    yield make
    for file in opened:
        file.close()


def damaged(data):
    """A byte of the first block's data changed, which its checksum does not allow."""
    data = bytearray(data)
    data[data.index(b"\xd3BLK") + 54 + 100] ^= 1
    return bytes(data)


def torn():
    """A frame with a chunk that cannot be decoded."""
    with cippus.create(format="blosc2", codec="zstd") as w:
        w.put("", VALUES, chunks=(10, 100))
    data = bytearray(w.getvalue())
    data[len(data) // 2 : len(data) // 2 + 20] = b"\xff" * 20
    return bytes(data)


def assert_repaired(array):
    found = array[...]
    assert 0 < np.count_nonzero(found == -1) < found.size and set(found[found != VALUES].tolist()) == {-1}


@pytest.mark.parametrize("kind", KINDS)
def test_verify_takes(kind, give, made):
    good = made({"a": VALUES}, checksum="md5")
    assert cippus.verify(give(kind, good)) == [] == cippus.verify(give(kind, good, "b.asdf"), deep=True)
    told = []
    found = cippus.verify(give(kind, damaged(good), "c.asdf"), on_finding=told.append)
    assert [f.severity for f in found] == ["bad"] and told == found and "MD5" in found[0].text


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "opened"])
def test_verify_reports_what_cannot_be_opened(kind, give, tmp_path):
    told = []
    (found,) = cippus.verify(give(kind, b"no file of any format"), on_finding=told.append)
    (like,) = cippus.verify(tmp_path / "a.asdf")
    assert told == [found] and found.severity == "fatal" and (found.code, found.text) == (like.code, like.text)


@pytest.mark.parametrize("kind", KINDS)
def test_convert_takes(kind, give, made, tmp_path):
    data = made({"a": VALUES, "n": 3}, checksum="md5")
    assert cippus.convert(give(kind, data), tmp_path / "out.asdf", codec="zlib") == []
    with cippus.open(tmp_path / "out.asdf") as f:
        np.testing.assert_array_equal(f["a"][...], VALUES)
        assert f["n"] == 3 and f["a"].codec == "zlib"
    cippus.convert(give(kind, data), tmp_path / "out.npy", path="a")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), VALUES)
    if kind != "opened":  # that is read as it was opened
        with pytest.raises(cippus.ChecksumError):
            cippus.convert(give(kind, damaged(data), "d.asdf"), tmp_path / "d.npy", path="a")
    assert not (tmp_path / "d.npy").exists()


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "opened"])
def test_repair_takes(kind, give, tmp_path):
    found = cippus.repair(give(kind, torn(), "a.b2nd"), tmp_path / "out.b2nd", fill=-1)
    assert any(f.severity == "bad" for f in found)
    with cippus.open(tmp_path / "out.b2nd") as f:
        assert_repaired(f.array)
    source = give(kind, b"no file of any format", "x.asdf")
    with pytest.raises(cippus.FormatError) as raised:
        cippus.repair(source, tmp_path / "no.asdf")
    assert "cippus-" not in str(raised.value) and not (tmp_path / "no.asdf").exists()
    if kind == "url":
        assert raised.value.path == source


@pytest.mark.parametrize("kind", KINDS)
def test_diff_and_refs_take(kind, give, made, tmp_path):
    a, b = made({"a": VALUES}), made({"a": VALUES + (np.arange(100) == 7)})
    assert cippus.diff(give(kind, a), a) == []
    (found,) = cippus.diff(give(kind, b, "b.asdf"), give(kind, a))
    assert (found.kind, found.differing, found.first) == ("data", 50, (0, 7))
    file = give(kind, a)
    refs = cippus.refs(file, url="s3://bucket/a.asdf")
    assert refs["refs"]["a/0.0"][0] == "s3://bucket/a.asdf"
    if kind in ("bytes", "memoryview", "file object"):
        with pytest.raises(TypeError, match="url="):
            cippus.refs(file)
    elif kind != "fsspec":
        at = cippus.refs(give(kind, a))["refs"]["a/0.0"][0]
        assert at == (file if kind in ("url", "local url") else os.path.realpath(tmp_path / "a.asdf"))


class Writes(io.RawIOBase):
    """A file object that neither seeks nor has a name."""

    def __init__(self):
        self.data = b""

    def write(self, data):
        self.data += bytes(data)
        return len(data)

    def writable(self):
        return True


def test_convert_and_repair_write_to_file_objects(made, tmp_path):
    data = made({"a": VALUES}, checksum="md5")
    for target in io.BytesIO(), Writes():
        cippus.convert(data, target, format="npy", path="a")
        written = target.getvalue() if isinstance(target, io.BytesIO) else target.data
        np.testing.assert_array_equal(np.load(io.BytesIO(written)), VALUES)
    with open(tmp_path / "b.npy", "wb") as target:  # its name tells the format
        cippus.convert(data, target, path="a")
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), VALUES)
    target = io.BytesIO()
    cippus.repair(torn(), target, format="blosc2", fill=-1)
    assert_repaired(cippus.open(target.getvalue()).array)
    with pytest.raises(cippus.ArgumentError, match="format"):
        cippus.convert(data, io.BytesIO(), path="a")


def test_what_a_target_cannot_hold_is_refused(made, tmp_path, monkeypatch):
    data, target = made({"a": VALUES}), io.BytesIO()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    with pytest.raises(ValueError, match="several files"):
        cippus.convert(data, target, path="a", format="blz")
    with pytest.raises(ValueError, match="opened for reading"):
        cippus.convert(data, "memory://verbs/out.asdf")
    assert target.getvalue() == b""
    assert os.listdir(tmp_path / "temporary") == []
    cippus.convert(data, f"file://{tmp_path}/out.asdf")
    np.testing.assert_array_equal(cippus.open(tmp_path / "out.asdf")["a"][...], VALUES)


def test_changes_that_are_not_committed_are_no_state_to_look_at(made, tmp_path):
    path = tmp_path / "a.asdf"
    path.write_bytes(made({"a": VALUES}))
    with cippus.open(path, "r+") as f:
        f["a"][0] = -1
        for call in (
            lambda: cippus.verify(f),
            lambda: cippus.convert(f, tmp_path / "b.asdf"),
            lambda: cippus.diff(f, path),
            lambda: cippus.diff(path, f),
        ):
            with pytest.raises(ValueError, match="not committed"):
                call()
        f.commit()
        assert cippus.verify(f) == []
        cippus.convert(f, tmp_path / "b.asdf")
    assert (cippus.open(tmp_path / "b.asdf")["a"][0] == -1).all()
    with cippus.open(path) as f, pytest.raises(TypeError, match="not an open File"):
        cippus.repair(f, tmp_path / "c.asdf")
    with pytest.raises(ValueError, match="closed"):
        cippus.verify(f)


def test_many_threads_look_into_one_open_file(made, tmp_path):
    data = made({str(i): VALUES + i for i in range(4)}, checksum="md5", codec="zlib")
    with cippus.open(data) as f:

        def work(i):
            for j in range(5):
                assert cippus.verify(f, deep=True) == [] == cippus.diff(f, f)
                np.testing.assert_array_equal(f[str(j % 4)][...], VALUES + j % 4)
                cippus.convert(f, tmp_path / f"{i}-{j}.asdf")

        run_threads(work)
    assert all(cippus.diff(data, path) == [] for path in tmp_path.iterdir())


def test_folders_at_a_url(tmp_path, made):
    fs = fsspec.filesystem("memory")
    source = tmp_path / "a.blz"
    cippus.convert(made({"a": VALUES}), source, path="a", format="blz")
    for path in source.rglob("*"):
        if path.is_file():
            fs.pipe(f"/verbs/a.blz/{path.relative_to(source)}", path.read_bytes())
    assert cippus.verify("memory://verbs/a.blz", deep=True) == []
    assert cippus.diff("memory://verbs/a.blz", source) == []
    with pytest.raises(ValueError, match="copy it to this machine"):
        cippus.repair("memory://verbs/a.blz", tmp_path / "b.blz")


class Breaks(io.BytesIO):
    """Ends a read after the first ones."""

    error = None

    def read(self, n=-1):
        if self.error is not None:
            raise self.error
        return super().read(n)


CALLS = {
    "verify": lambda f, data, out: cippus.verify(f, deep=True),
    "convert": lambda f, data, out: cippus.convert(f, out),
    "diff": lambda f, data, out: cippus.diff(f, data),
    "diff, second": lambda f, data, out: cippus.diff(data, f),
    "read": lambda f, data, out: f["1"].read(),
    "points": lambda f, data, out: f["3"].points(range(50), range(50)),
    "read_chunk": lambda f, data, out: f["1"].read_chunk(0),
}


@pytest.mark.parametrize("call", CALLS)
def test_an_interrupt_within_a_file_object_ends_the_call(call, made, tmp_path):
    data = made({str(i): VALUES + i for i in range(4)})
    with cippus.open(source := Breaks(data)) as f:
        source.error = KeyboardInterrupt()
        with pytest.raises(KeyboardInterrupt):
            CALLS[call](f, data, tmp_path / "b.asdf")
        source.error = None
        assert cippus.verify(f, deep=True) == []
        np.testing.assert_array_equal(f["1"][...], VALUES + 1)
    assert os.listdir(tmp_path) == []


def test_an_interrupt_while_a_file_object_is_opened_comes_out(made):
    source = Breaks(made({"a": VALUES}))
    source.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        cippus.open(source)
