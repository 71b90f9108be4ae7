# SPDX-License-Identifier: BSD-3-Clause
"""Random sequences of changes with reads between them, in every format that is changed in place, against numpy arrays that see
their own writes. What is refused leaves the changes so far and the file as they were, and is one of the refusals that are known.

    python test_binding_sequences.py --count 100000      # prints what was done and refused; --kind and --only run one again
"""
import argparse
import collections
import contextlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings

import numpy as np
import pytest

import cippus

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "tests/support"))
from effort import FULL, SEED  # noqa: E402
from sequence_keys import any_key, basic, numpy_key, values  # noqa: E402
from test_binding_machine import REFUSED, Refusal, assert_equal, assert_same, copied, holder_of, move_in, paths_of  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
COMMAND = pathlib.Path(os.environ.get("CIPPUS", ROOT / "build/release/cippus"))  # inserts and deletes rows, which the package does not
NUMBERS = ["u1", "<i2", ">i4", "<f8", "<f4", "<u8", "<c8"]
RECORD = [("p", "<i2"), ("q", "<f8"), ("r", "S3")]
TEXTS = ["?", "S3", "<U2", RECORD]
IN_MEMORY = {".asdf": "asdf", ".b2nd": "blosc2", ".blp": "bloscpack", ".ra": "rawarray"}  # by no more than the format's name
KEYS = ["a", "b", "m", "a~1b", "~0"]
PLAIN = [1, -5, 300, True, None, 0.5, "text", "", "1", [], [1, 2, 3]]
ASDF = {"suffix": ".asdf", "tree": True, "dtypes": NUMBERS + TEXTS}
FOLDER = {"dtypes": NUMBERS + ["?", "S3", "<U2"], "attrs": True, "folder": True}
KINDS = {
    "asdf-raw": ASDF,
    "asdf-md5": ASDF | {"create": {"checksum": "md5"}},
    **{f"asdf-{codec}": ASDF | {"put": {"codec": codec}} for codec in ("zlib", "bzp2", "lz4", "lz4f", "zstd", "blsc", "bls2")},
    "asdf-inline": ASDF | {"put": {"storage": "inline"}},
    "asdf-streamed": ASDF | {"put": {"storage": "streamed"}, "arrays": 1},
    "asdf-external": ASDF | {"put": {"storage": "external"}, "folder": True},
    "asdf-masked": ASDF | {"masked": True},
    "asdf-0.1": ASDF | {"create": {"version": "0.1.0"}},
    "asdf-0.1-zlib": ASDF | {"create": {"version": "0.1.0"}, "put": {"options": {"encode": "[zlib]"}}},
    "b2nd": {"suffix": ".b2nd", "dtypes": NUMBERS + TEXTS, "attrs": True},
    "b2nd-sparse": {"suffix": ".b2nd", "dtypes": NUMBERS + TEXTS, "attrs": True, "create": {"options": {"sparse": "yes"}}, "folder": True},
    "b2frame": {"suffix": ".b2frame", "dtypes": ["u1"], "most_axes": 1, "attrs": True},
    "bloscpack": {"suffix": ".blp", "dtypes": NUMBERS + TEXTS},
    "rawarray": {"suffix": ".ra", "dtypes": NUMBERS},
    "blz": FOLDER | {"suffix": ".blz"},
    "blz-records": FOLDER | {"suffix": ".blz", "dtypes": [RECORD], "columns": True},
    "blz-dir": FOLDER | {"suffix": ".blz", "create": {"format": "blz-dir"}},
    "blz-dir-table": FOLDER | {"suffix": ".blz", "create": {"format": "blz-dir", "options": {"table": "yes"}}, "dtypes": [RECORD], "columns": True},
    "bcolz": FOLDER | {"suffix": ".bcolz"},
    "bcolz-table": FOLDER | {"suffix": ".bcolz", "dtypes": [RECORD], "columns": True},
}  # fmt: skip

# What the guides name as not done: in which kinds, by what words. Anything else that is refused fails.
KNOWN = [
    ("asdf", "('...' was moved in|nodes were moved in) this update; commit it first"),
    ("asdf", ".*: inline data are lists and need at least one axis"),
    ("asdf", "expected inline data without nulls, found a null; change the values in the tree.*"),
    ("asdf", "the array has a mask, which would no longer match"),
    ("asdf", "elements of the input are missing .masked., and the array has no mask"),
    ("asdf", "(ASDF cannot hold all of it: )?expected one of the codecs .* for ASDF( N.N)?, found '...'"),
    ("asdf-streamed", "the last block is streamed, so no other can follow; finish it first"),
    ("asdf-external", "the data are in another file; change that file"),
    ("asdf-0.1.*", "arrays cannot be added to a file of ASDF N; convert it first"),
    ("blz.*|bcolz.*", "only the first axis can change its length: found N along axis N, not N"),
    ("blz.*|bcolz.*", "expected rows of at least one byte, found rows of none"),
    ("blz-records", "a field is stored with its records: .* applies to whole arrays"),
    ("blz-records", "(the array changed|a field was moved or removed) in this update; commit it first"),
    ("blz-records|.*-table", "the (field|column) '...' was moved or removed in this update; commit it first"),
    ("blz-records|.*-table", "the last (field of the records|column of the table), '...', cannot be removed"),
    ("blz-records|.*-table", "expected N rows, as in the other columns, found N"),
    ("blz-records|.*-table", "expected an attribute, as attributes/NAME( or column_attributes/COLUMN/NAME)?, found '...'"),
]


def words_of(error):
    """Without what differs from file to file."""
    text = getattr(error, "text", None) or str(error)
    return re.sub(r"'[^']*'", "'...'", re.sub(r"-?\d+(\.\d+)?", "N", text.splitlines()[0] if text else ""))


class Sequence:
    """`draft`: the first changes are those of a new file before its commit, which "seen" is looked into when its arrays are there."""

    def __init__(self, kind, seed, folder, told, draft=""):
        self.kind, self.seed, self.told, self.log, self.draft = kind, seed, told, [], draft
        self.has = {"tree": False, "attrs": False, "masked": False, "columns": False, "folder": False, "put": {}, "create": {}, "arrays": 3, "most_axes": 3} | KINDS[kind]
        self.rng = np.random.default_rng([seed, list(KINDS).index(kind)])
        self.name = folder / f"x{self.has['suffix']}"
        self.store = None  # of a file that lies in memory
        self.file, self.attrs, self.attrs_done = None, {}, {}
        self.moved = self.changed = False  # nodes or columns were, or anything else, since the last commit
        self.now = self.done = {}
        self.first = None  # what the first of its changes led to, if they were committed

    def pick(self, items):
        items = list(items)
        return items[self.rng.integers(len(items))]

    def chance(self, p):
        return self.rng.random() < p

    # --- what there is

    def shape(self):
        rng, most = self.rng, self.has["most_axes"]
        least = 0 if self.has["tree"] and self.kind not in ("asdf-inline", "asdf-streamed") and self.chance(0.1) else 1
        shape = [int(n) for n in rng.integers(0, 7, rng.integers(least, most + 1) if least else 0)]
        if shape and not self.has["columns"] and self.chance(0.25):
            shape[0] = int(rng.integers(8, 60 if self.chance(0.8) else 500))
        if self.kind == "asdf-streamed":  # does not say how many rows without bytes it has
            shape[1:] = [max(1, n) for n in shape[1:]]
        return tuple(shape[:1]) if self.has["columns"] else tuple(shape)

    def array(self, masked=False):
        made = values(self.rng, self.shape(), self.pick(self.has["dtypes"]))
        if masked and made.dtype.kind not in "V":
            return np.ma.array(made, mask=self.rng.random(made.shape) < 0.3)
        return made

    def options(self, x):
        """How an array of a new file is stored."""
        rng, options = self.rng, dict(self.has["put"])
        if self.kind.startswith("b2nd"):
            options["chunks"] = tuple(int(rng.integers(1, max(2, n + 2))) for n in x.shape)
            if self.chance(0.5):
                options["options"] = {"blocks": ",".join(str(int(rng.integers(1, c + 1))) for c in options["chunks"])}
            options["codec"] = self.pick([None, "lz4", "zlib", "none", "blosclz"])
        elif self.kind == "b2frame":
            options["chunks"] = (int(rng.integers(1, 20)),)
        elif self.kind == "bloscpack":
            options["options"] = {"chunk_size": int(rng.integers(16, 200)), "spare": int(rng.integers(0, 4))}
        elif self.has["folder"] and self.has["attrs"]:
            options["options"] = {"chunklen": int(rng.integers(1, 12))} | options.get("options", {})
            if self.has["suffix"] == ".blz" and "create" not in KINDS[self.kind]:
                options["options"] |= {"superchunk": int(rng.integers(1, 4)), "spare": int(rng.integers(0, 40))}
        return options

    def create(self):
        memory = not self.has["folder"] and self.chance(0.4)
        self.now = {}
        name = IN_MEMORY.get(self.has["suffix"]) if memory and self.draft else None
        lies = {"path": self.name, "overwrite": True} if name is None else {"format": name}
        w = cippus.create(**{**lies, "sync": False, **self.has["create"]})
        with contextlib.nullcontext() if self.draft else w:
            if self.has["tree"]:
                for path in self.pick([["a"], ["a", "m/b"], ["a", "b", "m/a"]])[: self.has["arrays"]]:
                    x = self.array(self.has["masked"] and self.chance(0.7))
                    w.put(path, x, **self.options(x))
                    self.put_model(path, x)
                w["k"] = self.now["k"] = {"x": 1, "t": "text"}
            else:
                self.now[""] = x = self.array()
                w.put("x" if self.has["folder"] and self.has["attrs"] and not self.kind.startswith("b2") else "", x, **self.options(x))
        self.note("created", "in memory" if memory else "", self.draft, {p: (self.at(p).shape, str(self.at(p).dtype)) for p in self.paths()})
        if self.draft:
            self.file, self.in_memory = w, memory
            if self.draft == "seen" or self.has["columns"]:  # before a look another array would make it a table of both
                len(w)
            if memory:
                self.chance(0.5)  # as open() does
            return
        self.done = copied(self.now)
        if memory:
            self.store = io.BytesIO(self.name.read_bytes())
            self.name.unlink()
        self.open()

    def open(self):
        if self.store is not None and self.chance(0.5):
            self.store = io.BytesIO(self.store.getvalue())
        self.file = cippus.open(self.name if self.store is None else self.store, "r+", threads=1)

    def content(self):
        if self.store is not None:
            return self.store.getvalue()
        if self.name.is_file():
            return self.name.read_bytes()
        return {p: p.read_bytes() for p in sorted(self.name.rglob("*")) if p.is_file()}

    def note(self, *what):
        self.log.append(what)

    # --- the model

    def paths(self, tree=None):
        return paths_of(self.now if tree is None else tree) if self.has["tree"] else [""]

    def at(self, path):
        if not self.has["tree"]:
            return self.now[""]
        holder, last = holder_of(self.now, path, False)
        return holder[last]

    def put_model(self, path, value):
        if not self.has["tree"]:
            raise Refusal(path)
        holder, last = holder_of(self.now, path, True)
        holder[last] = value

    def replace(self, path, value):
        if self.has["tree"]:
            holder, last = holder_of(self.now, path, False)
            holder[last] = value
        else:
            self.now[""] = value

    def ours(self, path):
        return self.file.arrays[path] if self.has["tree"] else self.file.array

    # --- a step: both or neither

    def step(self, what, call, model):
        before, refused = (copied(self.now), dict(self.attrs)), None
        try:
            model()
        except (Refusal, *REFUSED) as error:
            refused = error
            self.now, self.attrs = before
        try:
            call()
        except cippus.UnsupportedError as error:
            self.refused(what, error)
            self.now, self.attrs = before
        except REFUSED as error:
            if refused is None:
                raise
            self.note("  (refused)", type(error).__name__, str(error)[:100])
            self.told["expected", type(error).__name__] += 1
        else:
            self.changed = True
            self.told["done", what] += 1
            assert refused is None, ("taken, but the model refuses it", refused)
            return True
        self.check_pending()
        return False

    def refused(self, what, error):
        words = words_of(error)
        self.note("  (unsupported)", error)
        self.told["unsupported", words] += 1
        known = any(re.match(f"({kinds})", self.kind) and re.fullmatch(text, words) for kinds, text in KNOWN)
        assert known, ("an unknown refusal", what, words)

    # --- elements

    def value_for(self, x, shape):
        rng, kind = self.rng, x.dtype.kind
        if kind == "V":
            return values(rng, shape if self.chance(0.7) else (), x.dtype)
        if self.chance(0.06):
            return self.pick([object(), np.zeros((7, 7, 7, 7)), 1 << 70, "text"] if kind not in "SU?" else [np.zeros((7, 7, 7, 7))])
        if self.chance(0.3):
            return values(rng, (), x.dtype)[()]
        if self.chance(0.2) and len(shape) > 1:
            shape = self.pick([shape[1:], (1, *shape[1:]), (*shape[:-1], 1)])
        return values(rng, shape, x.dtype if kind in "SU?" or self.chance(0.6) else self.pick(["u1", "<i2", ">f4"]), kind in "fc")

    def other_array(self, value):
        """The same as an array of another file."""
        with cippus.create(format="asdf") as w:
            w["x"] = value
        return cippus.open(w.getvalue())["x"]

    def assign(self):
        x = self.at(path := self.pick(self.paths()))
        key, orthogonal = any_key(self.rng, x.shape)
        if self.chance(0.04):
            key, orthogonal = self.pick([99, -99, [99], (0,) * 9, "nope", 1.5]), False
        try:
            theirs = numpy_key(key, orthogonal, x.shape)
            shape = x[theirs].shape
        except Exception:
            theirs, shape = key, ()
        value = self.value_for(x, shape)
        add = x.dtype.kind in "iuf" and self.chance(0.2) and not isinstance(x, np.ma.MaskedArray)
        foreign = not add and isinstance(value, np.ndarray) and value.ndim and not orthogonal and self.chance(0.15)
        self.note("assign", repr(path), "oindex" if orthogonal else "", repr(key), "+=" if add else "=", "(of a file)" if foreign else "", value)

        def model():
            if isinstance(x, np.ma.MaskedArray):
                if np.ma.getmaskarray(x)[theirs].any():
                    raise Refusal("hidden")
                x.data[theirs] = value
            elif add:
                x[theirs] = x[theirs] + value
            else:
                x[theirs] = value

        def call():
            ours = self.ours(path)
            ours = ours.oindex if orthogonal else ours
            if add:
                ours[key] = ours[key] + value
            else:
                ours[key] = self.other_array(value) if foreign else value

        self.step("assign", call, model)

    def assign_field(self):
        x = self.at(path := self.pick(self.paths()))
        if not x.dtype.names or isinstance(x, np.ma.MaskedArray):
            return self.assign()
        name = self.pick(x.dtype.names)
        key = basic(self.rng, x.shape)
        value = values(self.rng, x[key].shape, x.dtype[name], False)
        self.note("field", repr(path), name, key, value)
        by_column = self.has["columns"] and self.chance(0.5)

        def call():
            if by_column:
                self.file[name][key] = value
            else:
                self.ours(path)[name][key] = value

        def model():
            x[name][key] = value

        self.step("field", call, model)

    def append(self):
        x = self.at(path := self.pick(self.paths()))
        value = values(self.rng, (int(self.rng.integers(4)), *x.shape[1:]), x.dtype)
        if self.chance(0.1):
            value = self.pick([7, np.zeros((2, 9)), "x", np.zeros((1, 1, 1, 1, 1))] + [[None]] * (x.dtype.kind != "V"))
        elif len(value) and self.chance(0.2):
            value = value[0]
        elif x.dtype.kind in "iuf" and self.chance(0.3):
            value = np.nan_to_num(value).astype("u1")
        foreign = isinstance(value, np.ndarray) and value.ndim == x.ndim and value.ndim and self.chance(0.2)
        self.note("append", repr(path), "(of a file)" if foreign else "", value)

        def model():
            found = np.array(value, x.dtype) if isinstance(value, (list, tuple)) else value
            shape = np.shape(found)
            shape = (1, *shape) if len(shape) == x.ndim - 1 else shape
            if x.ndim == 0 or len(shape) != x.ndim or shape[1:] != x.shape[1:]:
                raise Refusal(path)
            more = np.empty(shape, x.dtype)
            more[...] = found
            self.replace(path, np.ma.concatenate([x, more]) if isinstance(x, np.ma.MaskedArray) else np.concatenate([x, more]))

        self.step("append", lambda: self.ours(path).append(self.other_array(value) if foreign else value), model)

    def resize(self):
        x = self.at(path := self.pick(self.paths()))
        shape = tuple(int(n) for n in self.rng.integers(0, 9, x.ndim))
        if x.ndim and self.chance(0.5):
            shape = (int(self.rng.integers(0, len(x) + 8)), *x.shape[1:])
        if self.kind == "asdf-streamed":
            shape = (*shape[:1], *(max(1, n) for n in shape[1:]))
        if self.chance(0.05):
            shape = self.pick([(2, 2, 2, 2), (-1,) * max(1, x.ndim)])
        self.note("resize", repr(path), shape)

        def model():
            if len(shape) != x.ndim or min(shape, default=0) < 0:
                raise Refusal(path)
            if shape == x.shape:
                return
            if isinstance(x, np.ma.MaskedArray) and x.mask.any():
                raise Refusal("a mask")
            made = np.zeros(shape, x.dtype)
            both = tuple(slice(0, min(a, b)) for a, b in zip(shape, x.shape))
            made[both] = x[both]
            self.replace(path, made)

        self.step("resize", lambda: self.ours(path).resize(shape), model)

    # --- the tree

    def path(self):
        if self.paths() and self.chance(0.5):
            return self.pick(self.paths())
        return "/".join(self.pick(KEYS) for _ in range(self.rng.integers(1, 3)))

    def put(self, path=None):
        path = self.path() if path is None else path
        x = self.array(self.chance(0.2))
        options = self.pick([{}, {}, {}, {"codec": self.pick(["zlib", "lz4", "zstd", "bzp2", "blsc", "bls2", "nope"])}, {"storage": "inline"}])
        self.note("put", repr(path), x.shape, x.dtype, "masked" if isinstance(x, np.ma.MaskedArray) else "", options, x.copy())

        def model():
            if options.get("codec") == "nope" or x.dtype.kind == "V" and isinstance(x, np.ma.MaskedArray):
                raise Refusal(options)
            self.put_model(path, x)

        return self.step("put", lambda: self.file.put(path, x, **options), model)

    def put_several(self):
        path, x, y = self.path(), self.array(), self.array()
        bad = self.pick([None, None, np.array([object()]), object()])
        value = {"x": x, "k": 5, "in": {"y": y}} | ({} if bad is None else {"bad": bad})
        self.note("put several", repr(path), x.shape, x.dtype, y.shape, y.dtype, "and what cannot be" if bad is not None else "")

        def model():
            if bad is not None:
                raise Refusal(path)
            self.put_model(path, copied(value))

        self.step("put several", lambda: self.file.put(path, value), model)

    def set(self):
        path = self.path()
        value = self.pick([*PLAIN, {"a": 1, "x/y": [1]}, {}, object()])
        self.note("set", repr(path), value)

        def model():
            if type(value) is object:
                raise Refusal(path)
            self.put_model(path, copied(value))

        self.step("set", lambda: self.file.__setitem__(path, value), model)

    def remove(self, path=None):
        path = self.path() if path is None else path
        self.note("remove", repr(path))

        def model():
            holder, last = holder_of(self.now, path, False)
            if last not in holder:
                raise Refusal(path)
            del holder[last]

        return self.step("remove", lambda: self.file.__delitem__(path), model)

    def remove_and_put(self):
        path = self.path()
        if self.remove(path):
            if self.chance(0.3):
                self.check_pending()
            self.put(path)

    def move(self):
        path, to, replace = self.path(), self.path(), self.chance(0.4)
        if f"{path}/".startswith(f"{to}/"):
            return
        self.note("move", repr(path), repr(to), replace)

        def model():
            move_in(self.now, path, to, replace)

        def call():
            self.file.move(path, to, replace=replace)
            self.moved = True

        self.step("move", call, model)

    # --- columns and attributes

    def columns(self):
        """One that comes, goes or gets another name."""
        x, how = self.now[""], self.pick(["put", "remove", "move"])
        name, new = self.pick([*x.dtype.names, "nope"]), self.pick(["d", "e", x.dtype.names[0]])
        if how == "move" and name == new:
            return
        wrong = self.chance(0.1) and not self.changed  # else that is for the commit to say
        column, codec = values(self.rng, (len(x) + wrong,), self.pick(NUMBERS[:5]), False), self.pick([None, "zlib"])
        self.note("column", how, name, new, column.shape, column.dtype, codec)

        def model():
            names, x = list(self.now[""].dtype.names), self.now[""]
            if how == "put":
                if new in names and self.kind == "blz-records":
                    x[new] = column
                    return
                if len(column) != len(x):
                    raise Refusal(new)
                kinds = {n: x.dtype[n] for n in names} | {new: column.dtype}
                made = np.zeros(x.shape, list(kinds.items()))
                made[new] = column
            else:
                if name not in names or how == "remove" and len(names) == 1 or how == "move" and new in names:
                    raise Refusal(name)
                made = np.zeros(x.shape, [(new if n == name and how == "move" else n, x.dtype[n]) for n in names if how == "move" or n != name])
            for n in names:
                if how == "put" and n != new or how != "put" and (n != name or how == "move"):
                    made[new if n == name and how == "move" else n] = x[n]
            self.now[""] = made

        def call():
            if how == "put":
                self.file.put(new, column, codec=codec)
            elif how == "remove":
                del self.file[name]
            else:
                self.file.move(name, new)
            self.moved = True

        self.step("column " + how, call, model)

    def attribute(self):
        key, value, gone = self.pick(["k", "n", "a/b"]), self.pick([*PLAIN, object()]), self.chance(0.3)
        self.note("attribute", key, value, gone)

        def model():
            if gone and key not in self.attrs or not gone and type(value) is object:
                raise Refusal(key)
            if gone:
                del self.attrs[key]
            else:
                self.attrs[key] = value

        def call():
            attrs = self.file.array.attrs
            if gone:
                del attrs[key]
            else:
                attrs[key] = value

        self.step("attribute", call, model)

    # --- reads

    def read(self):
        """Part of an array, as the changes so far have it."""
        paths = self.paths()
        if not paths:
            return
        x = self.at(path := self.pick(paths))
        key, orthogonal = any_key(self.rng, x.shape)
        expected = x[numpy_key(key, orthogonal, x.shape)]
        try:
            ours = self.ours(path)
            assert ours.shape == x.shape and ours.dtype == x.dtype.newbyteorder("="), (path, ours.shape, ours.dtype, x.shape, x.dtype)
            found = ours.oindex[key] if orthogonal else ours[key]
        except cippus.UnsupportedError as error:
            assert self.moved and self.has["tree"], ("cannot be read", path, error)
            self.told["unread", words_of(error)] += 1
            return
        self.told["reads", ""] += 1
        assert np.shape(found) == np.shape(expected), (path, key, np.shape(found), np.shape(expected))
        assert_equal(np.asanyarray(found), np.asanyarray(expected), path)

    def check(self, f, expected, attrs):
        if self.has["tree"]:
            assert_same(f.tree, expected)
            assert sorted(f.arrays) == sorted(self.paths(expected))
        else:
            assert_same(f.array, expected[""])
        if self.has["attrs"]:
            assert dict(f.array.attrs) == attrs

    def check_pending(self):
        try:
            self.check(self.file, self.now, self.attrs)
        except cippus.UnsupportedError as error:
            assert self.moved and self.has["tree"], error
            self.told["unread", words_of(error)] += 1

    def check_file(self):
        with cippus.open(self.name if self.store is None else self.store.getvalue(), threads=1) as f:
            self.check(f, self.done, self.attrs_done)
        if self.chance(0.25):
            if self.store is not None:
                self.name.write_bytes(self.store.getvalue())
            bad = [x.text for x in cippus.verify(self.name, deep=self.chance(0.5)) if x.severity != "note"]
            self.told["verified", ""] += 1
            assert bad == [], bad
            if self.store is not None:
                self.name.unlink()

    # --- the end of changes

    def commit(self):
        how = self.pick(["commit", "close", "with"])
        self.note(how)
        before = None if self.store is not None else self.content()
        try:
            if how == "commit":
                self.file.commit()
            elif how == "close":
                self.file.close()
            else:
                with self.file:
                    pass
        except cippus.UnsupportedError as error:
            self.refused("commit", error)
            assert before is None or self.content() == before
            if self.draft:
                self.begin_again()
            self.now, self.attrs = copied(self.done), dict(self.attrs_done)
        else:
            self.told["done", "commit"] += 1
            if self.draft and self.in_memory:
                self.store = io.BytesIO(self.file.getvalue() if self.file.path is None else self.name.read_bytes())
                self.name.unlink(missing_ok=True)
            self.draft, self.first = "", self.content() if self.first is None else self.first
            self.done, self.attrs_done = copied(self.now), dict(self.attrs)
        self.moved = self.changed = False
        if self.file.closed:
            self.open()
        self.check_pending()
        self.check_file()

    def begin_again(self):
        """Nothing is left of a draft."""
        assert self.file.closed and not self.name.exists()
        self.draft, self.attrs = "", {}
        self.create()

    def give_up(self, before):
        how = self.pick(["rollback", "exception"])
        self.note(how)
        if how == "rollback":
            self.file.rollback()
        else:
            try:
                with self.file:
                    raise ZeroDivisionError
            except ZeroDivisionError:
                if not self.draft:
                    self.open()
        self.told["done", "rollback"] += 1
        assert self.content() == before
        self.first = self.first or {}
        if self.draft:
            self.begin_again()
        self.now, self.attrs, self.moved = copied(self.done), dict(self.attrs_done), False
        self.changed = False
        self.check_pending()

    def by_command(self):
        """Rows that come and go anywhere, along any axis: an update of its own."""
        paths = [p for p in self.paths() if self.at(p).ndim and self.at(p).dtype.kind in "iuf" and not isinstance(self.at(p), np.ma.MaskedArray)]
        if not paths or self.store is not None or not COMMAND.exists():
            return
        path = self.pick(paths)
        x = self.at(path)
        axis = int(self.rng.integers(x.ndim)) if self.kind != "asdf-streamed" and self.chance(0.3) else 0
        at, insert = int(self.rng.integers(x.shape[axis] + 1)), self.chance(0.5)
        count = int(self.rng.integers(0, 4 if insert else x.shape[axis] - at + 1))
        words = ["put", "--insert"] if insert else ["rm"]
        where = "[" + ":, " * axis + (f"{at}:{at}" if insert else f"{at}:{at + count}") + "]"
        words += ["--durability", "process", self.name, path if self.has["tree"] else ".", where]
        if insert:
            more = values(self.rng, (*x.shape[:axis], count, *x.shape[axis + 1 :]), x.dtype)
            np.save(self.name.parent / "more.npy", more)
            words.append(self.name.parent / "more.npy")
        self.note("command", *words[:2], path, where, count)
        self.file.close()
        done = subprocess.run([COMMAND, *words], capture_output=True, text=True)
        if done.returncode == 0:
            self.told["done", "insert" if insert else "delete"] += 1
            index = [slice(None)] * axis
            parts = [x[(*index, slice(0, at))], *([more] if insert else []), x[(*index, slice(at if insert else at + count, None))]]
            self.replace(path, np.concatenate(parts, axis).astype(x.dtype))
            self.done = copied(self.now)
        else:
            found = re.fullmatch(r"cippus: [^:]*: unsupported(?: \([^:]*\))?: (.*)\n", done.stderr)
            assert found, done.stderr
            self.refused("command", ValueError(found[1]))
        self.open()
        self.check_file()

    def steps(self):
        found = ["assign"] * 6 + ["assign_field", "append", "append", "resize", "resize"]
        found += ["put", "put", "put_several", "set", "remove", "remove_and_put", "move"] if self.has["tree"] else []
        found += ["attribute"] if self.has["attrs"] else []
        return found + (["columns"] if self.has["columns"] else [])

    def change(self):
        name = self.pick(self.steps())
        if self.paths() or name in ("put", "put_several", "set", "remove", "move"):
            getattr(self, name)()

    def together(self):
        """Changes that are made together, or taken back by an exception; steps among them."""
        was, back = (copied(self.now), dict(self.attrs), self.moved, self.changed), self.chance(0.6)
        self.note("step")
        try:
            with self.file.step():
                for _ in range(self.rng.integers(1, 5)):
                    self.together() if self.chance(0.2) else self.change()
                if back:
                    raise ZeroDivisionError
        except ZeroDivisionError:
            self.now, self.attrs, self.moved, self.changed = was
            self.told["done", "step back"] += 1
        self.check_pending()

    def run(self):
        self.create()
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(self.rng.integers(1, 4)):
                before = self.content()
                for _ in range(self.rng.integers(1, 8)):
                    self.together() if self.chance(0.15) else self.change()
                    for _ in range(self.rng.integers(3)):
                        self.read()
                    if self.chance(0.15):
                        self.check_pending()
                assert self.content() == before
                if self.chance(0.7):
                    self.commit()
                else:
                    self.give_up(before)
                if self.chance(0.1):
                    self.by_command()
        self.file.rollback()
        self.file.close()


def run(kind, seed, told, draft=""):
    """One sequence, with what its first changes led to; what it did is in the words of its failure."""
    folder = pathlib.Path(tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    sequence = Sequence(kind, seed, folder, told, draft)
    told["sequences", kind] += 1
    try:
        sequence.run()
        return {os.path.relpath(p, folder): b for p, b in sequence.first.items()} if isinstance(sequence.first, dict) else sequence.first
    except Exception as error:
        if sequence.file is not None and not sequence.file.closed:
            sequence.file.rollback()
        lines = [" ".join(w if isinstance(w, str) else repr(w)[:300] for w in what) for what in sequence.log]
        raise AssertionError("\n".join([f"sequence {seed} of {kind}{' in a draft' * bool(draft)}: {type(error).__name__}: {error}", *lines])) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("kind", KINDS)
def test_sequences(kind):
    told = collections.Counter()
    for seed in range(1000 if FULL else 15):
        run(kind, SEED * 1_000_000 + seed, told)
    assert told["done", "commit"] and told["reads", ""]


def run_both(kind, seed, told):
    """The same in a draft leads to the same bytes."""
    seen = "seen" if seed % 2 == 0 else "unseen"
    there, draft = run(kind, seed, told), run(kind, seed, told, seen)
    if seen == "seen" and there and draft:
        told["same bytes", ""] += 1
        assert draft == there, f"sequence {seed} of {kind}: other bytes in a draft"


@pytest.mark.parametrize("kind", KINDS)
def test_sequences_in_a_draft(kind):
    told = collections.Counter()
    for seed in range(300 if FULL else 6):
        run_both(kind, SEED * 1_000_000 + seed, told)
    assert told["done", "commit"] and told["reads", ""]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no more are begun after these")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--kind", action="append")
    parser.add_argument("--draft", action="store_true", help="each in a draft of a new file too")
    parser.add_argument("--only", type=int, help="the number of one sequence, as a failure says it")
    asked = parser.parse_args()
    kinds, told, failed = asked.kind or list(KINDS), collections.Counter(), 0
    end = time.monotonic() + asked.seconds
    for i in range(asked.count if asked.only is None else len(kinds)):
        if time.monotonic() > end:
            break
        try:
            (run_both if asked.draft else run)(kinds[i % len(kinds)], asked.seed * 1_000_000 + i // len(kinds) if asked.only is None else asked.only, told)
        except AssertionError as error:
            failed += 1
            print(error, "".join(traceback.format_exception(error.__cause__)[-3:]), "", sep="\n", flush=True)
    for what, n in sorted(told.items()):
        print(f"{n:9} {' '.join(what)}")
    print(f"{failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
