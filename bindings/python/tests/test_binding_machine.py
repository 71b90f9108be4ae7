# SPDX-License-Identifier: BSD-3-Clause
"""Files that change by calls of which any may fail, against dicts of numpy arrays: what a call refuses leaves no trace, what
is read is as the changes have it, and the file has it after the commit and not before. Runs for $CIP_MACHINE seconds."""
import os
import pathlib
import tempfile
import time
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

import cippus

KINDS = ["asdf", "asdf-zlib", "asdf-inline", "b2nd", "blp", "bcolz", "blz", "rawarray", "npy"]
FULL = bool(os.environ.get("CIP_FULL"))
SECONDS = float(os.environ.get("CIP_MACHINE", 3600 if FULL else 60))
REFUSED = (cippus.Error, ValueError, IndexError, TypeError, OverflowError, KeyError)
OWN = {"asdf_library", "history"}  # of ASDF's files, besides what was put
DTYPES = ["u1", "<i2", ">i4", "<f8"]

shapes = hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5)
keys = st.sampled_from(["a", "b", "m", "a~1b", "~0"])
paths = st.one_of(keys, st.tuples(keys, keys).map("/".join))
plain = st.one_of(
    st.integers(-5, 300), st.booleans(), st.none(), st.sampled_from([0.5, "text", "", "1"]), st.lists(st.integers(0, 9), max_size=3)
)
trees = st.one_of(plain, st.dictionaries(st.sampled_from(["a", "b", "x/y"]), plain, max_size=3))


@st.composite
def arrays(draw, shape=shapes, dtype=st.sampled_from(DTYPES)):
    shape = draw(shape) if not isinstance(shape, tuple) else shape
    n = int(np.prod(shape))
    return (np.arange(n) * draw(st.integers(1, 7)) % 100 + draw(st.integers(0, 9))).reshape(shape).astype(draw(dtype))


def empty(shape, dtype):
    return np.zeros(shape, dtype)


def key_of(draw, shape):
    """Basic, fancy and boolean ones, and some beyond the end."""
    n = shape[0] if shape else 0
    what = draw(st.sampled_from(["basic", "basic", "list", "mask", "rows", "beyond"]))
    if what == "basic":
        return draw(hnp.basic_indices(shape))
    if what == "list":
        return draw(st.lists(st.integers(-n, n - 1), max_size=4)) if n else []
    if what == "mask":
        return draw(hnp.arrays(bool, shape))
    if what == "rows":
        return draw(hnp.arrays(bool, n))
    return draw(st.sampled_from([n, -n - 1, [n], (0,) * 9, "nope", 1.5]))


def value_for(draw, shape):
    """For that selection; now and then something that does not fit."""
    return draw(
        st.one_of(
            st.integers(0, 99),
            st.integers(0, 99).map(float),
            arrays(shape if all(shape) else (1,), st.sampled_from(["<i2", "<f8", "u1"])),
            st.sampled_from([-1, 300, 1 << 40, "text", None, [1, 2, 3], object(), np.zeros((7, 7, 7, 7))]),
        )
    )


class Refusal(Exception):
    """What the model does not take."""


def steps_of(path):
    return [s.replace("~1", "/").replace("~0", "~") for s in path.split("/")]


def copied(tree):
    if isinstance(tree, dict):
        return {k: copied(v) for k, v in tree.items()}
    return tree.copy() if isinstance(tree, np.ndarray) else tree


def move_in(tree, path, to, replace):
    holder, last = holder_of(tree, path, False)
    if last not in holder or f"{to}/".startswith(f"{path}/"):
        raise Refusal(path)
    value = holder.pop(last)
    holder, last = holder_of(tree, to, True)
    if last in holder and not replace:
        raise Refusal(to)
    holder[last] = value


def paths_of(tree, above=""):
    """Of the arrays in a model of a file's tree."""
    found = []
    for key, value in tree.items():
        path = above + key.replace("~", "~0").replace("/", "~1")
        if isinstance(value, np.ndarray):
            found.append(path)
        elif isinstance(value, dict):
            found += paths_of(value, path + "/")
    return found


def holder_of(tree, path, make):
    *above, last = steps_of(path)
    for step in above:
        if make:
            tree.setdefault(step, {})
        if not isinstance(tree.get(step), dict):
            raise Refusal(path)
        tree = tree[step]
    return tree, last


def assert_equal(found, expected, where):
    """Elements and what is missing. NaN is itself, in records too."""
    plain = not isinstance(found, np.ma.MaskedArray) and not isinstance(expected, np.ma.MaskedArray)
    if plain and found.astype(expected.dtype).tobytes() == expected.tobytes():
        return
    np.testing.assert_array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(expected), where)
    np.testing.assert_array_equal(found, expected, where)


def assert_same(found, expected, where=""):
    if isinstance(expected, np.ndarray):
        assert isinstance(found, cippus.Array), (where, found)
        assert found.shape == expected.shape and found.dtype == expected.dtype.newbyteorder("="), (where, found, expected)
        if expected.ndim:
            assert len(found) == len(expected)
        assert_equal(found[...], expected, where)
    elif isinstance(expected, dict):
        assert isinstance(found, cippus.Map), (where, found, expected)
        assert [k for k in found if where or k not in OWN] == list(found.keys()) or not where
        assert {k for k in found if where or k not in OWN} == set(expected), (where, list(found), list(expected))
        for key, value in expected.items():
            assert_same(found[key.replace("~", "~0").replace("/", "~1") if "/" in key else key], value, f"{where}/{key}")
    else:
        assert type(found) is type(expected) or isinstance(found, cippus.Seq), (where, found, expected)
        assert found == expected, (where, found, expected)


class Updates(RuleBasedStateMachine):
    """A file open as "r+": `now` is what it is to show, `done` what the last commit put there."""

    kind = "asdf"

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        self.name = pathlib.Path(self.folder.name) / {"rawarray": "x.ra", "asdf-zlib": "x.asdf", "asdf-inline": "x.asdf"}.get(self.kind, f"x.{self.kind}")
        self.tree = self.kind.startswith("asdf")
        self.file, self.came, self.attrs, self.attrs_done = None, set(), {}, {}
        self.moved = False  # something was, since the last commit

    @initialize(x=arrays(), y=arrays())
    def create(self, x, y):
        options = {"asdf-zlib": {"codec": "zlib"}, "asdf-inline": {"storage": "inline"}}.get(self.kind, {})
        if self.kind == "b2nd":
            options["chunks"] = tuple(max(1, n // 2) for n in x.shape)
        self.now = {"a": x, "m": {"b": y, "k": 1}} if self.tree else {"": x}
        with cippus.create(self.name, sync=False, format=self.kind if self.kind in ("bcolz", "blz", "rawarray") else None) as w:
            if self.tree:
                w.put("a", x, **options)
                w.put("m", self.now["m"], **options)
            else:
                w.put("x" if self.kind in ("bcolz", "blz") else "", x, **options)
        self.done = copied(self.now)
        self.file = cippus.open(self.name, "r+", sync=False) if False else cippus.open(self.name, "r+")

    def teardown(self):
        if self.file is not None:
            self.file.rollback()
            self.file.close()
        self.folder.cleanup()

    # --- how calls are made

    def step(self, call, model, surely=False):
        """Both or neither. `surely`: what the library does not do is a defect too."""
        now, attrs, came = copied(self.now), dict(self.attrs), set(self.came)
        try:
            model()
        except (Refusal, DeprecationWarning, *REFUSED) as error:
            self.now, self.attrs, self.came = now, attrs, came
            refused = error
        else:
            refused = None
        try:
            call()
        except cippus.UnsupportedError:
            assert not surely
            self.now, self.attrs, self.came = now, attrs, came
        except REFUSED:
            if refused is None:
                raise
        else:
            assert refused is None, refused

    def array_paths(self, tree=None):
        return paths_of(self.now if tree is None else tree)

    def pick(self, data):
        return data.draw(st.sampled_from(self.plain_paths()))

    def plain_paths(self):
        """Of arrays without masks."""
        return sorted(path for path in self.array_paths() if not isinstance(self.expected(path), np.ma.MaskedArray))

    def expected(self, path):
        if not self.tree:
            return self.now[""]
        holder, last = holder_of(self.now, path, False)
        return holder[last]

    def put_model(self, path, value):
        if not self.tree:
            raise Refusal(path)
        holder, last = holder_of(self.now, path, True)
        holder[last] = value

    def ours(self, path):
        return self.file.arrays[path] if self.tree else self.file.array  # a key "a/b" goes before that path

    # --- elements

    @precondition(lambda self: self.plain_paths())
    @rule(data=st.data(), add=st.booleans())
    def assign(self, data, add):
        path = self.pick(data)
        theirs = self.expected(path)
        key = key_of(data.draw, theirs.shape)
        try:
            shape = theirs[key].shape
        except Exception:
            shape = ()
        value = value_for(data.draw, shape)

        def model():
            if add:
                theirs[key] = theirs[key] + value
            else:
                theirs[key] = value

        def call():
            ours = self.ours(path)
            if add:
                ours[key] = ours[key] + value
            else:
                ours[key] = value

        with np.errstate(all="ignore"), warnings.catch_warnings():
            # an IndexError in numpy from 2.4 on, and here with any
            warnings.filterwarnings("error", "Out of bound index found", DeprecationWarning)
            self.step(call, model)

    @precondition(lambda self: self.plain_paths())
    @rule(data=st.data(), good=st.booleans())
    def append(self, data, good):
        path = self.pick(data)
        theirs = self.expected(path)
        rows = data.draw(st.integers(0, 3))
        if good:
            value = data.draw(arrays((rows, *theirs.shape[1:]), st.sampled_from(["u1", "<i2"])))
            value = value.tolist() if data.draw(st.booleans()) and value.size else value
        else:
            value = data.draw(st.sampled_from([[300], 7, -1, [1.5], np.zeros((2, 9)), "x", [None], np.zeros((1, 1, 1, 1, 1))]))

        def model():
            found = np.array(value, theirs.dtype) if isinstance(value, (list, tuple)) else value
            shape = np.shape(found)
            shape = (1, *shape) if len(shape) == theirs.ndim - 1 else shape
            if len(shape) != theirs.ndim or shape[1:] != theirs.shape[1:]:
                raise Refusal(path)
            more = np.empty(shape, theirs.dtype)
            more[...] = found
            self.replace(path, np.concatenate([theirs, more]))

        self.step(lambda: self.ours(path).append(value), model)

    @precondition(lambda self: self.plain_paths())
    @rule(data=st.data())
    def resize(self, data):
        path = self.pick(data)
        theirs = self.expected(path)
        shape = data.draw(st.one_of(st.tuples(*[st.integers(0, 6)] * theirs.ndim), st.tuples(st.integers(0, 6)).map(lambda t: t + theirs.shape[1:]), st.sampled_from([(2, 2, 2, 2), (-1,) * theirs.ndim])))

        def model():
            if len(shape) != theirs.ndim or min(shape) < 0:
                raise Refusal(path)
            made = np.zeros(shape, theirs.dtype)
            both = tuple(slice(0, min(a, b)) for a, b in zip(shape, theirs.shape))
            made[both] = theirs[both]
            self.replace(path, made)

        self.step(lambda: self.ours(path).resize(shape), model)

    def replace(self, path, value):
        if self.tree:
            holder, last = holder_of(self.now, path, False)
            holder[last] = value
        else:
            self.now[""] = value

    # --- the tree

    @precondition(lambda self: self.tree)
    @rule(path=paths, value=arrays(), codec=st.sampled_from([None, None, "zlib", "nope"]), data=st.data())
    def put(self, path, value, codec, data):
        if data.draw(st.booleans()) and self.plain_paths():
            path = self.pick(data)

        def model():
            if codec == "nope":
                raise Refusal(codec)
            self.put_model(path, value)

        self.step(lambda: self.file.put(path, value, codec=codec), model)

    @rule(path=paths, value=trees, data=st.data())
    def set(self, path, value, data):
        if data.draw(st.integers(0, 4)) == 0:
            value = data.draw(st.sampled_from([object(), {"a": object()}, {"a": [1, np.zeros(2, object)]}, {"a": np.zeros(2), "b": object()}]))
        if not self.tree:
            path = f"nowhere/{path}"

        def model():
            if "object" in str(value):
                raise Refusal(path)
            self.put_model(path, value)

        self.step(lambda: self.file.__setitem__(path, value), model)

    @precondition(lambda self: self.tree)
    @rule(path=paths, x=arrays(), y=arrays(), bad=st.sampled_from([None, None, np.array([object()]), object()]), codec=st.sampled_from([None, "nope"]))
    def put_several(self, path, x, y, bad, codec):
        value = {"x": x, "k": 5, "in": {"y": y}} | ({} if bad is None else {"bad": bad})

        def model():
            if bad is not None or codec == "nope":
                raise Refusal(path)
            self.put_model(path, copied(value))

        self.step(lambda: self.file.put(path, value, codec=codec), model)

    @precondition(lambda self: self.tree)
    @rule(path=paths)
    def delete(self, path):
        def model():
            holder, last = holder_of(self.now, path, False)
            if last not in holder:
                raise Refusal(path)
            del holder[last]

        self.step(lambda: self.file.__delitem__(path), model)

    @precondition(lambda self: self.tree)
    @rule(path=paths, x=arrays(), data=st.data())
    def put_masked(self, path, x, data):
        value = np.ma.array(x, mask=data.draw(hnp.arrays(bool, x.shape)))
        self.step(lambda: self.file.put(path, value), lambda: self.put_model(path, value))

    @precondition(lambda self: self.tree)
    @rule(path=paths, to=paths, replace=st.booleans(), data=st.data())
    def move(self, path, to, replace, data):
        if data.draw(st.booleans()) and self.array_paths():
            path = data.draw(st.sampled_from(sorted(self.array_paths())))

        def model():
            if f"{path}/".startswith(f"{to}/"):
                raise Refusal(path)
            move_in(self.now, path, to, replace)

        def call():
            if f"{path}/".startswith(f"{to}/"):
                raise ValueError("what is to become of the rest of it?")
            self.file.move(path, to, replace=replace)
            self.moved = True

        self.step(call, model)

    # --- attributes

    @precondition(lambda self: self.kind in ("b2nd", "bcolz", "blz"))
    @rule(key=st.sampled_from(["k", "n", "a/b"]), value=st.one_of(plain, st.just(object())), gone=st.booleans())
    def attribute(self, key, value, gone):
        attrs = self.file.array.attrs

        def model():
            if gone and key not in self.attrs or not gone and "object" in str(value):
                raise Refusal(key)
            self.attrs.pop(key) if gone else self.attrs.__setitem__(key, value)

        self.step(lambda: attrs.__delitem__(key) if gone else attrs.__setitem__(key, value), model)

    # --- the end

    @rule(how=st.sampled_from(["commit", "reopen", "with"]))
    def commit(self, how):
        if how == "commit":
            self.file.commit()
        else:
            if how == "reopen":
                self.file.close()
            else:
                with self.file:
                    pass
            self.file = cippus.open(self.name, "r+")
        self.done, self.attrs_done, self.moved = copied(self.now), dict(self.attrs), False
        self.check_file()

    @rule(how=st.sampled_from(["rollback", "rollback", "exception"]))
    def roll_back(self, how):
        if how == "rollback":
            self.file.rollback()
        else:
            with pytest.raises(ZeroDivisionError), self.file:
                1 / 0
            self.file = cippus.open(self.name, "r+")
        self.now, self.attrs, self.moved = copied(self.done), dict(self.attrs_done), False
        self.check_file()

    def check_file(self):
        with cippus.open(self.name) as f:
            self.check(f, self.done, self.attrs_done)
        assert [x.text for x in cippus.verify(self.name) if x.severity in ("bad", "fatal")] == []

    def check(self, f, expected, attrs):
        if self.tree:
            assert_same(f.tree, expected)
            assert sorted(f.arrays) == sorted(self.array_paths(expected))
        else:
            assert_same(f.array, expected[""])
            if self.kind in ("b2nd", "bcolz", "blz"):
                assert dict(f.array.attrs) == attrs

    @invariant()
    def what_is_read_is_what_was_written(self):
        if self.file is None:
            return
        try:
            self.check(self.file, self.now, self.attrs)
        except cippus.UnsupportedError as error:  # elements that changed, and a node that moved
            assert self.moved, error
        if self.tree:
            assert sorted(self.file.arrays) == sorted(self.array_paths()) and repr(self.file)


class NewFiles(RuleBasedStateMachine):
    """A new file: what is refused is not in it, and does not keep it from being made."""

    def __init__(self):
        super().__init__()
        self.now = {}
        self.writer = cippus.create(format="asdf")

    @rule(path=paths, value=st.one_of(trees, arrays(), st.sampled_from([object(), np.zeros(2, object), {"a": np.zeros(2), "b": object()}])), codec=st.sampled_from([None, None, "zlib", "nope"]))
    def put(self, path, value, codec):
        now = copied(self.now)
        try:
            if "object" in str(getattr(value, "dtype", value)) or codec == "nope" and isinstance(value, np.ndarray):
                raise Refusal(path)
            holder, last = holder_of(now, path, True)
            holder[last] = value
            fits = True
        except Refusal:
            fits = False
        try:
            self.writer.put(path, value, codec=codec)
        except cippus.UnsupportedError:
            pass
        except REFUSED as error:
            taken = isinstance(error, cippus.ArgumentError) and path in str(error)
            assert not fits or taken, (path, value, error)
        else:
            assert fits, (path, value)
            self.now = now

    @rule()
    def finish(self):
        self.writer.close()
        with cippus.open(self.writer.getvalue()) as f:
            assert_same(f.tree, self.now)
        self.now, self.writer = {}, cippus.create(format="asdf")

    def teardown(self):
        self.writer.abort()


def run_for(machine, seconds):
    """Rounds of the same examples each time, as many as there is time for."""
    end, turn = time.monotonic() + seconds, 0
    found = settings(
        max_examples=12, stateful_step_count=25, deadline=None, database=None, suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate, *([Phase.shrink] if FULL else [])], print_blob=False,
    )  # fmt: skip
    while time.monotonic() < end:
        turn += 1
        machine._hypothesis_internal_use_seed = turn + int(os.environ.get("CIP_SEED", "0"))
        run_state_machine_as_test(machine, settings=found)
    assert turn


@pytest.mark.parametrize("kind", KINDS)
def test_updates(kind):
    run_for(type("Updates", (Updates,), {"kind": kind}), SECONDS / (len(KINDS) + 1))


def test_new_files():
    run_for(NewFiles, SECONDS / (len(KINDS) + 1))
