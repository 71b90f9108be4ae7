# SPDX-License-Identifier: BSD-3-Clause
"""New files in file-likes, and updates of file-likes and of bytes."""
import gzip
import io
import zipfile

import numpy as np
import pytest

import cippus

FORMATS = [("asdf", "a"), ("blosc2", ""), ("rawarray", ""), ("npy", ""), ("bloscpack", "")]


@pytest.mark.parametrize("format, path", FORMATS)
def test_a_file_like_gets_the_bytes_of_a_file(made, format, path):
    data = np.arange(5000.0).reshape(50, 100)
    like = io.BytesIO(b"x" * 100_000)
    with cippus.create(like, format=format) as w:
        w[path] = data
    assert like.getvalue() == made({path: data}, format)


def test_what_does_not_seek_gets_them_in_order(made):
    class Pipe:
        name = "new.asdf"  # tells the format

        def __init__(self):
            self.got = b""

        def seekable(self):
            return False

        def write(self, part):
            self.got += bytes(part[:1000])
            return min(len(part), 1000)

    pipe = Pipe()
    with cippus.create(pipe) as w:
        w["a"] = np.arange(5000)
    assert pipe.got == made({"a": np.arange(5000)})


def test_compressed_streams_and_members_are_file_likes(tmp_path, made):
    with gzip.open(tmp_path / "x.gz", "wb") as out, cippus.create(out, format="asdf") as w:
        w["a"] = np.arange(1000)
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as z, z.open("x.asdf", "w") as out, cippus.create(out, format="asdf") as w:
        w["a"] = np.arange(1000)
    expected = made({"a": np.arange(1000)})
    assert gzip.open(tmp_path / "x.gz").read() == expected == zipfile.ZipFile(tmp_path / "x.zip").read("x.asdf")


@pytest.mark.parametrize("format, path", FORMATS[:3])
def test_updates_of_bytes_and_file_likes(made, tmp_path, format, path):
    data = np.arange(6000.0).reshape(60, 100)
    original = made({path: data}, format)
    like = io.BytesIO(original)
    (tmp_path / "x").write_bytes(original)
    with open(tmp_path / "x", "r+b") as raw:
        for source in (original, bytearray(original), like, raw):
            theirs = data.copy()
            with cippus.open(source, "r+") as f:
                for turn in range(3):
                    f.array[turn, ::3] = theirs[turn, ::3] = -turn
                    mask = theirs > 5000
                    f.array[mask] = theirs[mask] = turn
                    f.commit()
                    np.testing.assert_array_equal(f.array, theirs)
                if format != "rawarray":
                    f.array.append(np.ones((7, 100)))
                    theirs = np.vstack([theirs, np.ones((7, 100))])
                f.commit()
                value = f.getvalue()
            np.testing.assert_array_equal(cippus.open(value).array, theirs)
    np.testing.assert_array_equal(cippus.open(like.getvalue()).array, theirs)
    assert (tmp_path / "x").read_bytes() == value


def test_bytes_that_were_given_stay_as_they_are(made):
    original = made({"a": np.arange(10)})
    given = bytearray(original)
    with cippus.open(given, "r+") as f:
        f["a"][3] = 99
        f["n"] = "text"
        f["b"] = np.eye(3)
    assert given == original
    assert cippus.open(f.getvalue())["b"].shape == (3, 3) and cippus.open(f.getvalue())["n"] == "text"
    with pytest.raises(ValueError):
        cippus.open(original).getvalue()


class Failing(io.BytesIO):
    after = 10**9

    def write(self, part):
        Failing.after -= 1
        if Failing.after < 0:
            raise ZeroDivisionError("no more")
        return super().write(part)


def test_an_exception_of_the_file_like_comes_out_as_it_is(made):
    Failing.after = 0
    with pytest.raises(ZeroDivisionError), cippus.create(Failing(), format="asdf") as w:
        w["a"] = np.arange(10)
    original = made({"a": np.arange(1000), "z": np.zeros(9)})
    for writes in range(3):
        Failing.after = 10**9
        like = Failing(original)
        f = cippus.open(like, "r+")
        f["a"][:] = 7
        f["more"] = np.arange(100)
        Failing.after = writes
        with pytest.raises((ZeroDivisionError, cippus.Error)):
            f.commit()
        Failing.after = 10**9
        f.rollback()
        f.close()
        if writes == 0:
            assert like.getvalue() == original


def test_what_cannot_be_written_says_so(made):
    class ReadOnly(io.BytesIO):
        def write(self, part):
            raise io.UnsupportedOperation("write")

    f = cippus.open(ReadOnly(made({"a": np.arange(5)})), "r+")
    f["a"][0] = 1
    with pytest.raises(io.UnsupportedOperation):
        f.commit()
    f.rollback()
    f.close()
    with pytest.raises(cippus.Error):
        cippus.create(io.BytesIO())
