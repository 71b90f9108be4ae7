# SPDX-License-Identifier: BSD-3-Clause
"""Threads, fork, references, damaged files, types."""
import gc
import io
import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import tracemalloc

import numpy as np
import pytest

import cippus

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = pathlib.Path(os.environ.get("CIPPUS_CORPUS") or HERE.parents[3] / "shared" / "corpus")


def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def run_threads(work, count=8):
    failed = []

    def guarded(i):
        try:
            work(i)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failed:
        raise failed[0]


def test_many_threads_read_one_file(sample):
    f = sample("night.asdf")
    image, counts = f["image"][...], f["counts"][...]
    with open(f.path, "rb") as raw:
        like = cippus.open(io.BytesIO(raw.read()))

    def work(i):
        for g in (f, like):
            for j in range(30):
                row = (7 * i + j) % 128
                np.testing.assert_array_equal(g["image"][row, ::3], image[row, ::3])
                np.testing.assert_array_equal(g["counts"][[row % 64, 3]], counts[[row % 64, 3]])
                assert g["exposure/frames"][i % 3] == i % 3 + 1

    run_threads(work)


def test_a_file_is_closed_while_others_read(sample):
    for _ in range(20):
        f = cippus.open(sample("night.asdf").path)
        a, node = f["image"], f["exposure"]
        ready = threading.Barrier(5)

        def work(i):
            ready.wait()
            if i == 4:
                f.close()
                return
            try:
                for row in range(128):
                    a[row]
                    node["time"]
            except ValueError as error:
                assert "closed file" in str(error)

        run_threads(work, 5)
        assert f.closed


def test_changes_and_reads_of_many_threads_are_whole_or_busy(tmp_path):
    with cippus.create(tmp_path / "x.asdf") as w:
        w["a"] = np.zeros((50, 100), np.int64)
    f = cippus.open(tmp_path / "x.asdf", "r+")

    def work(i):
        for j in range(10):
            try:
                if i == 0:
                    f["a"][...] = j + 1
                    f.commit()
                else:
                    assert len(np.unique(f["a"][...])) == 1
            except cippus.BusyError:
                pass
            except ValueError as error:
                assert "changed" in str(error)

    run_threads(work, 4)
    f.rollback()
    f.close()


def test_a_child_reads_on_after_a_fork(sample):
    f = sample("night.asdf")
    image = f["image"][...]
    f["counts"][...]
    child = os.fork()
    if child == 0:
        ok = False
        try:
            ok = (f["image"][5:9] == image[5:9]).all() and f["spectrum"][...].shape == (512,)
        finally:
            os._exit(0 if ok else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    np.testing.assert_array_equal(f["image"][5:9], image[5:9])


def test_a_child_that_ends_leaves_what_its_parent_writes(tmp_path):
    updated = str(tmp_path / "x.asdf")
    with cippus.create(updated) as w:
        w["a"] = np.arange(3)
    f = cippus.open(updated, "r+")
    f["a"][0] = 7
    new = [cippus.create(tmp_path / name) for name in ("new.asdf", "new.bcolz")]
    for w in new:
        w["a"] = np.arange(3)
    child = os.fork()
    if child == 0:
        refused = 0
        for write in (lambda: new[0].commit(), lambda: new[1].commit(), lambda: f.commit()):
            try:
                write()
            except cippus.Error:
                refused += 1
        del f, new, w
        gc.collect()  # as at the interpreter's end
        os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    f.close()
    for w in new:
        w.close()
    assert cippus.open(updated)["a"][0] == 7
    assert cippus.open(tmp_path / "new.asdf")["a"][2] == cippus.open(tmp_path / "new.bcolz")[""][2] == 2


def test_files_stay_where_they_were_opened(tmp_path, monkeypatch):
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path)
    for name in ("x.asdf", "below/x.asdf"):
        with cippus.create(name) as w:
            w["a"] = np.arange(3)
    with cippus.open("x.asdf", "r+") as f:
        f["a"][0] = 5
        monkeypatch.chdir("below")
        f.commit()
        f["text"] = "t" * 70000  # a new file
        f.commit()
        assert f["text"][0] == "t" and f["a"][0] == 5
    assert list(cippus.open("x.asdf")["a"]) == [0, 1, 2]
    assert list(cippus.open(tmp_path / "x.asdf")["a"]) == [5, 1, 2]


def use_everything(path, data):
    with cippus.open(path) as f:
        for array in f.arrays.values():
            array[...], array[0], array.dtype, array.stored_dtype, array.shape, array._storage, repr(array), array.node, array.parent, dict(array.attrs), array.blocks
            if array.ndim:
                array[[0, 1]], array[np.ones(array.shape, bool)], array.oindex[[1, 0]]
            if array.fields:
                array[array.fields[0]][...]
        f["exposure"]["time"], f["exposure/frames"][0], f.tree.to_json(), f.facts, f.findings, dict(f), f.tree.tag
        for wrong in ("nope", 99):
            try:
                f[wrong] if wrong == "nope" else f["counts"][wrong]
            except (KeyError, IndexError):
                pass
        try:
            f["counts"].view()
        except cippus.UnsupportedError:
            pass
        try:
            f["image"].read(progress=lambda done, total: 1 // 0)
        except ZeroDivisionError:
            pass
    with cippus.open(io.BytesIO(data)) as f:
        f["counts"][3]
    try:
        cippus.open(data[:700])["image"][...]
    except (cippus.Error, KeyError):
        pass
    w = cippus.create(format="rawarray")
    w[""] = np.arange(1000.0)
    w.close()
    f = cippus.open(w.getvalue())
    view = f.array.view()
    f.close()
    view.sum()
    w = cippus.create(format="asdf")
    w["a"] = {"b": np.arange(5), "c": [1, "x"]}
    w.abort()
    change_everything(cippus.create(like := io.BytesIO(), format="asdf"), like)


def change_everything(w, like):
    with w:
        w["a"] = np.arange(40).reshape(5, 8)
        w["r"] = np.zeros(9, [("x", "f4"), ("y", "i2")])
    for source in (like, like.getvalue()):
        with cippus.open(source, "r+") as f:
            f["a"][[0, 2, 0]], f["a"][f["a"][...] > 30], f["a"].oindex[[1, 4], [2, 3]] = 1, 2, 3
            f["r"]["x"][::2], f["r"][["x", "y"]] = 5, (1, 2)
            for wrong in (([9], 1), ([0], [1, 2]), (np.ones(3, bool), 1)):
                try:
                    f["a"][wrong[0]] = wrong[1]
                except (IndexError, ValueError):
                    pass
            f["n"] = 1
            f.commit()
            f.getvalue(), f["a"].attrs, f.rollback()
    try:
        with cippus.open(io.BufferedReader(io.BytesIO(like.getvalue())), "r+") as f:
            f["a"][0] = 1
    except (OSError, cippus.Error):
        pass
    try:
        cippus.create(io.BytesIO(), format="nope")
    except cippus.Error:
        pass


def test_nothing_leaks(sample):
    path = sample("night.asdf").path
    data = pathlib.Path(path).read_bytes()
    tracemalloc.start()
    for _ in range(80):  # until Python's own caches are full
        use_everything(path, data)
    gc.collect()
    held, before, fds = resident(), tracemalloc.get_traced_memory()[0], len(os.listdir("/proc/self/fd"))
    for _ in range(100):
        use_everything(path, data)
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 60_000
    assert resident() - held < 12 << 20
    assert len(os.listdir("/proc/self/fd")) <= fds  # other tests' connections may end meanwhile


def test_references_are_given_back(sample):
    f = sample("night.asdf")
    f["counts"][0], f["exposure"]["time"]
    for make in (lambda: f["counts"], lambda: f["exposure"], lambda: f["exposure/frames"], lambda: f["stars"]["flux"]):
        gc.collect()
        count = sys.getrefcount(f)
        things = [make() for _ in range(50)]
        assert sys.getrefcount(f) == count + 50
        del things
        assert sys.getrefcount(f) == count
    dtype = f["counts"].dtype
    count = sys.getrefcount(dtype)
    for _ in range(50):
        f["counts"][3:5]
    assert abs(sys.getrefcount(dtype) - count) < 10


def test_many_threads_change_one_file_in_memory():
    """Each its own part: what is assigned is all there in the end, or the call was told that another one was writing."""
    with cippus.create(format="blosc2") as w:
        w.put("", np.zeros((16, 1000)), chunks=(4, 250))
    f = cippus.open(w.getvalue(), "r+")
    f.array[0, 0] = 0  # the update has begun

    def work(i):
        for j in range(20):
            while True:
                try:
                    f.array[i, np.arange(j, 1000, 20)] = i + 1
                    break
                except cippus.BusyError:
                    time.sleep(0.001)

    run_threads(work, 8)
    f.commit()
    assert (f.array[:8] == np.arange(1, 9)[:, None]).all() and not f.array[8:].any()
    f.close()


def test_classes_of_the_library_are_not_made_by_hand(sample):
    for kind in (cippus.File, cippus.Array, cippus.Map, cippus.Seq):
        with pytest.raises(TypeError):
            kind()
        with pytest.raises(TypeError):
            kind.__new__(kind)
    with pytest.raises(TypeError):
        object.__new__(cippus.Array)
    with pytest.raises(RuntimeError):
        cippus._cippus.bind(*[None] * 7)


SECOND = r"""
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
load = (
    "import importlib.util as u\n"
    f"s = u.spec_from_file_location('cippus._cippus', {sys.argv[1]!r})\n"
    "try:\n    s.loader.exec_module(u.module_from_spec(s))\nexcept ImportError as error:\n    print(error, flush=True)\n"
)
interpreters.run_string(interpreters.create(), load)
"""


def test_a_second_interpreter_is_refused():
    done = subprocess.run([sys.executable, "-c", SECOND, cippus._cippus.__file__], capture_output=True, text=True, timeout=60)
    assert "main interpreter" in done.stdout, done.stdout + done.stderr


CHECK = r"""
import faulthandler, json, os, resource, sys
faulthandler.enable()
import numpy as np, cippus
resource.setrlimit(resource.RLIMIT_AS, (3 << 30,) * 2)
def look(path):
    with cippus.open(path) as f:
        repr(f), repr(f.tree), f.facts, f.findings, list(f)[:1000]
        for array in list(f.arrays.values())[:50]:
            repr(array), array._repr_html_(), dict(array.attrs), array.blocks, array.parent
            if 0 <= array.nbytes <= 1 << 25:
                array[...], array.read(mask=True)
                if array.ndim and len(array):
                    array[-1:], array[[0, -1]], array[0]
                np.asarray(array.view()).tobytes() if array.storage == "contiguous" else None
def change(path):
    with cippus.open(open(path, "rb").read(), "r+") as f:
        for array in [a for a in list(f.arrays.values())[:10] if 0 <= a.nbytes <= 1 << 22]:
            for key in (..., [0], array[...] == array[...]) if array.ndim else ():
                try:
                    array[key] = 1
                except errors:
                    pass
            try:
                array.append(array[:1])
            except errors:
                pass
        try:
            f.commit(), f.getvalue()
        except errors:
            f.rollback()
errors = (cippus.Error, ValueError, TypeError, KeyError, IndexError, MemoryError, OverflowError)
for path in json.load(sys.stdin):
    try:
        change(path) if not os.path.isdir(path) else None
    except errors:
        pass
    try:
        look(path)
        print("ok")
    except errors as error:
        print(type(error).__name__)
"""


def hostile_files():
    cases = json.loads((CORPUS / "hostile.json").read_text())["files"]
    seed, full = int(os.environ.get("CIP_SEED", "1")), os.environ.get("CIP_FULL")
    paths = sorted({str(CORPUS / case["file"]) for case in cases})
    return paths if full else paths[seed % 3 :: 3]


@pytest.mark.skipif(not (CORPUS / "hostile.json").exists(), reason=f"no corpus at {CORPUS}")
def test_hostile_files_never_end_the_interpreter():
    paths = hostile_files()
    for at in range(0, len(paths), 100):
        part = paths[at : at + 100]
        done = subprocess.run([sys.executable, "-c", CHECK], input=json.dumps(part), capture_output=True, text=True, timeout=600)
        lines = done.stdout.split()
        assert done.returncode == 0, (part[min(len(lines), len(part) - 1)], done.stderr[-3000:])
        assert len(lines) == len(part)


def test_a_typed_program_passes_mypy():
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir=/dev/null", HERE / "typed_program.py"],
                          capture_output=True, text=True, cwd=HERE)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    subprocess.run([sys.executable, HERE / "typed_program.py"], check=True)
