# SPDX-License-Identifier: BSD-3-Clause
"""Updates of Blosc2 frames by a process that is killed (SIGKILL) at any moment: python-blosc2 finds the array as the last
update that was answered left it, or the next one, at once and whole; and so do we, perhaps the next one where it still finds the
last. 500 kills a kind with CIP_FULL=1."""
import pathlib
import random
import subprocess
import sys
import time

import blosc2
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from effort import FULL, SEED  # noqa: E402

KILLS = 500 if FULL else 15
BATCH = 24  # updates that a process is given
BASE = (120, 90)


def window(rng, shape):
    return tuple(slice(*sorted(map(int, rng.choice(n + 1, 2, replace=False)))) for n in shape)


def rows(rng, n, shape):
    """Some that cannot be compressed, some stored without data."""
    return rng.integers(0, 2**31, (n, *shape[1:]), "<i4") if rng.random() < 0.8 else np.full((n, *shape[1:]), 3, "<i4")


def put(rng, a):
    at = window(rng, a.shape)
    v = rows(rng, at[0].stop - at[0].start, (0, at[1].stop - at[1].start))
    out = a.copy()
    out[at] = v
    return out, ("write", "", "[" + ",".join(f"{s.start}:{s.stop}" for s in at) + "]", "{}"), v


def append(rng, a):
    if len(a) > 4 * BASE[0]:
        return a[:BASE[0]], ("resize", "", f"{BASE[0]},{a.shape[1]}"), None
    v = rows(rng, int(rng.integers(1, 90)), a.shape)
    return np.concatenate([a, v]), ("append", "", "{}"), v


def resize_and_delete(rng, a):
    axis = int(rng.integers(2))
    if a.shape[axis] < BASE[axis]:
        shape = [int(n + rng.integers(0, 60)) for n in a.shape]
        out = np.zeros(shape, a.dtype)
        out[:a.shape[0], :a.shape[1]] = a
        return out, ("resize", "", f"{shape[0]},{shape[1]}"), None
    if rng.random() < 0.5:
        return put(rng, a)
    start, stop = sorted(map(int, rng.choice(np.arange(1, a.shape[axis] + 1), 2, replace=False)))
    return np.delete(a, slice(start, stop), axis), ("delete", "", axis, start, stop - start), None


def any_of_them(rng, a):
    return (put, append, resize_and_delete)[rng.integers(3)](rng, a)


KINDS = {"put": (put, False), "append": (append, False), "resize and delete": (resize_and_delete, False), "sparse": (any_of_them, True)}


class Updates:
    """The update number k is always the same one, so that what a killed process was at can be told."""

    def __init__(self, script, kind):
        self.script, self.folder, self.kind = script, script.folder, [*KINDS].index(kind)
        self.change, sparse = KINDS[kind]
        self.k = 0
        self.a = np.random.default_rng(SEED).integers(0, 2**31, BASE, "<i4")
        np.save(self.folder / "in.npy", self.a)
        assert script.run(("convert", "in.npy", "a.b2nd", "chunks=40,30", "blocks=11,30", "codec=lz4", f"sparse={'yes' if sparse else 'no'}")) == "ok"

    def next(self, k, a):
        out, words, v = self.change(np.random.default_rng([SEED, self.kind, k]), a)
        if v is not None:
            np.save(self.folder / f"v{k % BATCH}.npy", v)
        return out, [str(w).format(f"v{k % BATCH}.npy") or "." for w in words]

    def batch(self):
        lines, a = [], self.a
        for k in range(self.k, self.k + BATCH):
            a, words = self.next(k, a)
            lines += [["edit", "a.b2nd"], words, ["commit"], ["end"]]
        return "".join("\t".join(x) + "\n" for x in lines)

    def forward(self, n):
        for _ in range(n):
            self.a, _ = self.next(self.k, self.a)
            self.k += 1


def run_and_kill(script, text, rng, each):
    """How many updates were answered before it was killed; whether it was."""
    (script.folder / "lines").write_text(text)
    with open(script.folder / "lines") as lines:
        p = subprocess.Popen(script.process.args, stdin=lines, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=script.folder, bufsize=0)
    answers = [p.stdout.readline() for _ in range(rng.randrange(BATCH))]
    time.sleep(rng.uniform(0, each))
    p.kill()
    out, err = p.communicate()
    answers = b"".join([*answers, out]).decode().split()
    assert set(answers) <= {"ok"}, answers + [err.decode()]
    return len(answers), p.returncode == -9


def by_python(path):
    try:
        return blosc2.open(str(path), mode="r")[...]
    except RuntimeError:
        return None


@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_any_moment(script, kind):
    rng, updates = random.Random(SEED), Updates(script, kind)
    first, start = updates.batch().encode(), time.monotonic()
    assert subprocess.run(script.process.args, input=first, cwd=script.folder, capture_output=True).stdout.split() == [b"ok"] * BATCH
    each = (time.monotonic() - start) / BATCH
    updates.forward(BATCH)
    kills = new = tries = 0
    while kills < KILLS:
        tries += 1
        assert tries < 4 * KILLS + 20
        answered, killed = run_and_kill(script, updates.batch(), rng, each)
        kills += killed
        updates.forward(answered)
        where = f"seed {SEED}, {kind}, kill {kills}, update {updates.k}"
        found = by_python(script.folder / "a.b2nd")
        assert found is not None, where + ": python-blosc2 cannot read it"
        if found.shape != updates.a.shape or (found != updates.a).any():
            assert killed
            updates.forward(1)
            new += 1
        assert found.shape == updates.a.shape and (found == updates.a).all(), where
        ours = script.bytes("a.b2nd")
        if ours != found.tobytes():  # an update that is decided, which the next writer completes
            assert killed and any((script.folder / "a.b2nd").glob(".cip-journal")), where
            updates.forward(1)
            new += 1
            assert ours == updates.a.tobytes(), where
    assert script.run(("edit", "a.b2nd"), ("resize", "", "7,5"), ("commit",), ("verify", "a.b2nd")) == "ok"  # what was left is cleared away
    assert (by_python(script.folder / "a.b2nd") == updates.a[:7, :5]).all()
    left = [p.name for p in script.folder.iterdir() if p.name[0] == "."]
    assert not left, left
    print(f"{kind}: {kills} kills within {updates.k} updates, {new} found after the update that was not answered")
