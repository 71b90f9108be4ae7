# SPDX-License-Identifier: BSD-3-Clause
"""One frame changed by turns, by us (in one process that goes on, or by a command for each step) and by python-blosc2, in random
steps: after each both read what a numpy array has, and `verify --deep` finds nothing. Hundreds of steps a frame with CIP_FULL=1;
CIP_SEED draws others.

Frames with delta, dictionaries and zfp are left out: python-blosc2 4.14 goes wrong where it decodes parts of their chunks. What a
resize of its own brings into the array is not initialised, so that it says what is there then."""
import pathlib
import subprocess
import sys

import blosc2
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from effort import FULL, SEED  # noqa: E402

FRAMES, STEPS = (100, 300) if FULL else (12, 40)
BY_COMMAND = (10, 60) if FULL else (3, 15)
MOST = 20000  # elements
SPARSE = 0.4  # of the frames
TYPES = [*map(np.dtype, ["u1", "<i2", "<i4", ">i4", "<u8", "<f4", "<f8", "?", "<c8", "S5", "<U3", "S1", "S300", "V6", [("a", "<i4"), ("b", "<f8")]])]
CODECS = {"blosclz": blosc2.Codec.BLOSCLZ, "lz4": blosc2.Codec.LZ4, "zlib": blosc2.Codec.ZLIB, "zstd": blosc2.Codec.ZSTD}
FILTERS = {"none": [], "shuffle": [blosc2.Filter.SHUFFLE], "bitshuffle": [blosc2.Filter.BITSHUFFLE],
           "shuffle+bytedelta": [blosc2.Filter.SHUFFLE, blosc2.Filter.BYTEDELTA]}


def elements(rng, dtype, shape):
    """Few kinds of bytes, or one value, which is stored without data."""
    n = int(np.prod(shape))
    if rng.random() < 0.25:
        a = np.zeros(shape, dtype)
        if dtype.kind in "iuf" and rng.random() < 0.6:
            a[...] = np.nan if dtype.kind == "f" and rng.random() < 0.5 else 7
        return a
    if dtype.kind in "bU":
        return rng.integers(0, 2, shape).astype(dtype)
    return np.frombuffer(rng.integers(0, rng.choice([2, 20, 256]), n * dtype.itemsize).astype("u1").tobytes(), dtype).reshape(shape).copy()


def packed(a):
    fields = a.dtype.fields
    return a.tobytes() if fields else a.astype(a.dtype.newbyteorder("<")).tobytes()


def text(at):
    return "[" + ", ".join(f"{s.start}:{s.stop}" for s in at) + "]"


class Frame:
    """A frame on the disk, and what it should be."""

    def __init__(self, script, number):
        self.rng = rng = np.random.default_rng([SEED, number])
        self.script, self.done = script, []
        self.ndim = int(rng.integers(0, 5))
        dtype = TYPES[rng.integers(len(TYPES))]
        self.plain = bool(self.ndim == 1 and dtype.str in ("|u1", "|V6"))
        self.name = "a.b2frame" if self.plain else "a.b2nd"
        self.path = script.folder / self.name
        longest = [1, 900, 40, 14, 7][self.ndim]
        shape = tuple(int(rng.integers(0 if rng.random() < 0.1 else 1, longest + 1)) for _ in range(self.ndim))
        self.a, self.vlmeta, self.meta = elements(rng, dtype, shape), {}, {}
        self.make(shape, dtype)

    def make(self, shape, dtype):
        rng = self.rng
        chunks = [int(rng.integers(1, max(2, n + 4))) for n in shape]
        blocks = [int(rng.integers(1, c + 1)) for c in chunks]
        self.chunks = chunks
        codec, filters, sparse = str(rng.choice([*CODECS])), str(rng.choice([*FILTERS])), bool(rng.random() < SPARSE)
        how = f"{dtype} {shape} {chunks} {blocks} {codec} {filters} {'sparse' if sparse else ''}"
        # Of opaque elements python-blosc2 makes a record, and with bytedelta of long ones it makes nothing.
        if rng.random() < 0.5 or 0 in shape or dtype.kind == "V" and not dtype.fields or dtype.itemsize > 127:
            np.save(self.script.folder / "in.npy", self.a)
            grid = [f"{k}={','.join(map(str, v))}" for k, v in (("chunks", chunks), ("blocks", blocks)) if shape]
            self.ours(("convert", "in.npy", self.name, f"codec={codec}:{rng.integers(1, 10)}", f"filter={filters}", f"sparse={'yes' if sparse else 'no'}", *grid), said="made by us: " + how)
            return
        self.done.append("made by python: " + how)
        cparams = blosc2.CParams(codec=CODECS[codec], clevel=int(rng.integers(0, 10)), filters=FILTERS[filters], typesize=dtype.itemsize)
        self.meta = {f"{'m' * 28}{i}": i for i in range(int(rng.integers(1, 15)))} if rng.random() < 0.3 else {}  # of so many the shape is beyond the first sector
        blosc2.asarray(self.a, urlpath=str(self.path), mode="w", chunks=chunks, blocks=blocks, cparams=cparams, contiguous=not sparse, meta=self.meta)

    # --- the two of them

    def ours(self, *lines, said=None):
        self.done.append(said or "ours: " + "; ".join(" ".join(map(str, x)) for x in lines))
        assert self.script.run(*lines) == "ok"

    def edit(self, *lines):
        self.ours(("edit", self.name, f"threads={self.rng.integers(1, 3)}"), *lines, ("commit",))

    def theirs(self, said):
        self.done.append("python: " + said)
        return blosc2.open(str(self.path), mode="a")

    def save(self, v):
        np.save(self.script.folder / "v.npy", v)
        return "v.npy"

    # --- steps

    def window(self):
        return tuple(slice(*sorted(map(int, self.rng.integers(0, n + 1, 2)))) for n in self.a.shape)

    def aligned(self):
        """A window of whole chunks."""
        at = []
        for n, c in zip(self.a.shape, self.chunks):
            i = int(self.rng.integers(0, -(-n // c))) * c if n else 0
            at.append(slice(i, min(n, i + c * int(self.rng.integers(1, 3)))))
        return tuple(at)

    def put(self, python):
        at = self.window() if self.rng.random() < 0.7 else self.aligned()
        v = elements(self.rng, self.a.dtype, self.a[at].shape)
        if not v.size:
            return
        self.a[at] = v
        if not python:
            self.edit(("write", "", text(at) if self.ndim else "", self.save(v)))
        elif self.plain:
            self.theirs(f"x[{text(at)}] = ...")[at[0]] = v.tobytes()
        else:
            self.theirs(f"x[{text(at)}] = ...")[at if at else ()] = v

    def rows(self, axis):
        shape = list(self.a.shape)
        shape[axis] = int(self.rng.integers(1, 2 + 2 * self.chunks[axis]))
        return elements(self.rng, self.a.dtype, shape)

    def append(self, python):
        v = self.rows(0)
        if python and self.plain:  # which makes a frame one of variable chunks as soon as not the last one alone is shorter
            v = v[:self.chunks[0]] if len(self.a) % self.chunks[0] == 0 else v[:0]
        if not v.size:
            return
        old = len(self.a)
        self.a = np.concatenate([self.a, v]).astype(self.a.dtype)
        if not python:
            self.edit(("append", "", self.save(v)))
        elif self.plain:
            self.theirs(f"append_data({len(v)})").append_data(v.tobytes())
        else:
            x = self.theirs(f"append {v.shape}")
            x.resize(self.a.shape)
            x[old:] = v

    def insert(self, python):
        axis = 0 if self.plain else int(self.rng.integers(self.ndim))
        at = int(self.rng.integers(self.a.shape[axis] + 1))
        v = self.rows(axis)
        if not v.size:
            return
        if python and self.plain and len(self.a) % self.chunks[0] == 0:
            v, at = v[:1].repeat(self.chunks[0]), at // self.chunks[0]
            self.theirs(f"insert_data({at})").insert_data(at, v.tobytes(), copy=True)
            at *= self.chunks[0]
        elif python:
            return
        else:
            self.edit(("insert", "", axis, at, self.save(v)))
        self.a = np.concatenate(
            [self.a.take(range(at), axis), v, self.a.take(range(at, self.a.shape[axis]), axis)], axis).astype(self.a.dtype)

    def delete(self, python):
        axis = 0 if self.plain else int(self.rng.integers(self.ndim))
        at, end = sorted(map(int, self.rng.integers(0, self.a.shape[axis] + 1, 2)))
        if at == end:
            return
        if python and self.plain:
            k = at // self.chunks[0]
            self.theirs(f"delete_chunk({k})").delete_chunk(k)
            at, end = k * self.chunks[0], min(len(self.a), (k + 1) * self.chunks[0])
        elif python:
            return
        else:
            self.edit(("delete", "", axis, at, end - at))
        self.a = np.delete(self.a, slice(at, end), axis)

    def resize(self, python):
        shape = [int(self.rng.integers(0 if self.rng.random() < 0.1 else 1, n + 2 + 2 * c)) if self.rng.random() < 0.6 else n for n, c in zip(self.a.shape, self.chunks)]
        both = tuple(slice(0, min(n, m)) for n, m in zip(shape, self.a.shape))
        new = np.zeros(shape, self.a.dtype)
        new[both] = self.a[both]
        if not python:
            self.a = new
            self.edit(("resize", "", ",".join(map(str, shape))))
        elif not self.plain:
            x = self.theirs(f"resize({shape})")
            x.resize(shape)
            got = np.asarray(x[...])
            assert got[both].tobytes() == new[both].tobytes()
            self.a = got.copy()

    def update_chunk(self, python):
        """A whole one, as plain frames have them."""
        whole = len(self.a) // self.chunks[0] if self.plain else 0
        if python and whole:
            k = int(self.rng.integers(whole))
            v = elements(self.rng, self.a.dtype, (self.chunks[0],))
            self.a[k * len(v):(k + 1) * len(v)] = v
            self.theirs(f"update_data({k})").update_data(k, v.tobytes(), copy=True)

    def set(self, python):
        key, value = f"k{self.rng.integers(5)}", "v" * int(self.rng.integers(1, 300)) + str(self.rng.integers(99))
        self.vlmeta[key] = value
        if python:
            x = self.theirs(f"vlmeta[{key}]")
            (x if self.plain else x.schunk).vlmeta[key] = value
        else:
            self.edit(("string", f"vlmeta/{key}", value))

    def unset(self, python):
        if not self.vlmeta:
            return
        key = str(self.rng.choice([*self.vlmeta]))
        del self.vlmeta[key]
        if python:
            x = self.theirs(f"del vlmeta[{key}]")
            del (x if self.plain else x.schunk).vlmeta[key]
        else:
            self.edit(("remove", f"vlmeta/{key}"))

    def step(self):
        kinds = [self.put] * 6 + [self.set, self.unset]
        if self.ndim:
            kinds += [self.append] * 3 + [self.insert, self.insert, self.delete, self.delete, self.resize, self.resize, self.update_chunk]
        if self.a.size > MOST:
            kinds = [self.delete]
        kinds[self.rng.integers(len(kinds))](bool(self.rng.random() < 0.5) and self.a.size <= MOST)

    # --- what is there

    def check(self):
        x = blosc2.open(str(self.path), mode="r")
        if self.plain:
            assert x.nbytes == self.a.nbytes and (x[:] if self.a.size else b"") == self.a.tobytes()
        else:
            assert x.shape == self.a.shape and x.dtype == self.a.dtype
            assert np.asarray(x[...]).tobytes() == self.a.tobytes(), "python-blosc2 reads something else"
        schunk = x if self.plain else x.schunk
        assert {k: schunk.vlmeta[k] for k in schunk.vlmeta} == self.vlmeta
        assert {k: schunk.meta[k] for k in schunk.meta if k != "b2nd"} == self.meta
        assert self.script.bytes(self.name) == packed(self.a), "we read something else"
        assert self.script.run(("verify", self.name)) == "ok"


class Commands:
    """What a Script does (conftest.py), each line a run of the command."""

    def __init__(self, cippus, folder):
        self.cippus, self.folder = cippus, folder

    def words(self, name, call, *words):
        def along(axis, start, end):
            return "[" + ":, " * axis + f"{start}:{end}]"

        if call == "write":
            return "put", name, ".", words[1] or "[]", words[2]
        if call == "append":
            return "append", name, words[1]
        if call == "insert":
            return "put", "--insert", name, ".", along(words[1], words[2], words[2]), words[3]
        if call == "delete":
            return "rm", name, ".", along(words[1], words[2], words[2] + words[3])
        if call == "resize":
            return "resize", name, words[1]
        return {"string": "set", "remove": "rm"}[call], name, *words

    def convert(self, source, name, *options):
        given = dict(x.split("=", 1) for x in options)
        sparse = ["--sparse"] if given.pop("sparse") == "yes" else []
        return "convert", source, name, *sparse, *(x for k, v in given.items() for x in (f"--{k}", v))

    def run(self, *lines):
        first = lines[0]
        if first[0] == "convert":
            self.call(*self.convert(*first[1:]))
        elif first[0] == "verify":
            self.call("verify", "--deep", first[1])
        else:
            name, options = first[1], first[2].split("=")
            for line in lines[1:-1]:
                self.call(*self.words(name, *line), f"--{options[0]}", options[1])
        return "ok"

    def call(self, *words):
        done = subprocess.run([self.cippus.path, *map(str, words), *(["--durability", "process"] if words[0] not in ("verify", "cat") else [])],
                              cwd=self.folder, capture_output=True)
        assert done.returncode == 0, (words, done.stderr.decode())
        return done.stdout

    def bytes(self, name):
        return self.call("cat", "--to", "raw", name)


def by_turns(script, number, steps):
    frame = Frame(script, number)
    try:
        frame.check()
        for _ in range(steps):
            frame.step()
            frame.check()
    except Exception as e:
        raise AssertionError(f"seed {SEED}, frame {number}, step {len(frame.done)}:\n" + "\n".join(frame.done)) from e


@pytest.mark.parametrize("number", range(FRAMES))
def test_by_turns(script, number):
    by_turns(script, number, STEPS)


@pytest.mark.parametrize("number", range(1000, 1000 + BY_COMMAND[0]))
def test_by_turns_of_the_command(cippus, tmp_path, number):
    by_turns(Commands(cippus, tmp_path), number, BY_COMMAND[1])


def test_bytes_that_an_item_does_not_divide(cippus, tmp_path):
    path = tmp_path / "bytes.b2frame"
    s = blosc2.SChunk(chunksize=10, urlpath=str(path), mode="w", cparams={"typesize": 3})
    for part in (b"0123456789", b"abcdefghij", b"xy"):
        s.append_data(part)
    cippus.run("resize", path, "46")
    cippus.run("verify", "--deep", path)
    s = blosc2.open(str(path), mode="r")
    got = b"".join(s.decompress_chunk(i) for i in range(s.nchunks))
    assert got == b"0123456789abcdefghijxy" + bytes(24)


@pytest.mark.parametrize("typesize", [3, 6, 12, 20])
def test_chunks_that_cut_an_item_grow_within_one_chunk(cippus, tmp_path, typesize):
    """As by default: 16 MiB are no multiple of these."""
    path, chunksize = tmp_path / "x.b2frame", 1024
    start, most = bytes(range(10 * typesize)), chunksize // typesize
    blosc2.SChunk(chunksize=chunksize, data=start, urlpath=str(path), mode="w", cparams={"typesize": typesize})
    cippus.run("resize", path, str(most))
    before = path.read_bytes()
    (tmp_path / "more.raw").write_bytes(bytes(typesize))
    for words in (["resize", path, str(most + 1)], ["resize", path, str(3 * most)], ["append", path, tmp_path / "more.raw"]):
        done = subprocess.run([cippus.path, *words], capture_output=True, text=True)
        assert done.returncode == 3 and "expected chunks of whole items" in done.stderr
    assert path.read_bytes() == before
    s = blosc2.open(str(path), mode="r")
    assert s.nchunks == 1 and s.decompress_chunk(0) == start + bytes((most - 10) * typesize)
    cippus.run("verify", "--deep", path)
