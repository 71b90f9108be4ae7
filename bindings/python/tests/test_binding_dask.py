# SPDX-License-Identifier: BSD-3-Clause
"""cippus.dask: lazy arrays, and files written by many tasks, threads and processes."""
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import Phase, given, settings, strategies as st

import cippus

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
cd = pytest.importorskip("cippus.dask")

FULL = os.environ.get("CIP_FULL") == "1"
EXTENSIONS = ["asdf", "b2nd", "npy", "ra", "blz", "bcolz", "blp"]


def values(shape, dtype="i4"):
    return np.random.default_rng(5).integers(0, 1000, shape).astype(dtype)


def content(path):
    """All bytes of a file or folder."""
    if not path.is_dir():
        return path.read_bytes()
    return {p.relative_to(path): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file()}


# --- reading


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_written_and_read(tmp_path, extension):
    a = values((70, 90))
    path = tmp_path / f"x.{extension}"
    assert cd.to_file(da.from_array(a, chunks=(20, 30)), path) == path
    x = cd.from_file(path)
    assert x.dtype == a.dtype and x.shape == a.shape
    np.testing.assert_array_equal(x.compute(), a)
    np.testing.assert_array_equal((x[10:50:3, ::-1] + 1).sum(axis=0).compute(scheduler="sync"), (a[10:50:3, ::-1] + 1).sum(axis=0))
    np.testing.assert_array_equal(x[[3, 60, 3]][:, [5, 1]].compute(), a[[3, 60, 3]][:, [5, 1]])
    assert os.listdir(tmp_path) == [path.name]


def test_chunks_are_whole_stored_chunks(tmp_path):
    path = tmp_path / "x.b2nd"
    with cippus.create(path) as w:
        w.put("", values((100, 130)), chunks=(16, 20))
    assert cd.from_file(path).chunksize == (100, 130)
    with dask.config.set({"array.chunk-size": "8kB"}):
        x = cd.from_file(path)
    assert x.chunksize == (16, 120) and x.chunks[1] == (120, 10)
    with dask.config.set({"array.chunk-size": "1B"}):
        assert cd.from_file(path).chunksize == (16, 20)
    assert cd.from_file(path, chunks=(50, -1)).chunks == ((50, 50), (130,))
    with cippus.create(tmp_path / "x.npy") as w:
        w[""] = values((100, 130))
    with dask.config.set({"array.chunk-size": "8kB"}):
        assert cd.from_file(tmp_path / "x.npy").chunksize == (15, 130)


def test_names_tell_contents_apart(tmp_path):
    path = tmp_path / "x.asdf"
    with cippus.create(path) as w:
        w["a"], w["b"], w["text"] = values(10), values(10) + 1, "no array"
    x = cd.from_file(path, "a")
    assert x.name == cd.from_file(path, "a").name != cd.from_file(path, "b").name
    again = pickle.loads(pickle.dumps(x))
    np.testing.assert_array_equal(again.compute(), values(10))
    with cippus.open(path, "r+") as f:
        f["a"][3] = -1
    assert x.name != cd.from_file(path, "a").name
    with pytest.raises(cippus.BusyError, match="has changed since"):
        x.compute()
    with pytest.raises(TypeError, match="is no array"):
        cd.from_file(path, "text")
    with pytest.raises(KeyError):
        cd.from_file(path, "nothing")
    with pytest.raises(TypeError, match="expected a path"):
        cd.from_file(b"#ASDF")
    with pytest.raises(FileNotFoundError):
        cd.from_file(tmp_path / "nothing.asdf")


def test_files_are_closed_when_read(tmp_path):
    path = tmp_path / "x.asdf"
    with cippus.create(path) as w:
        w["a"] = values(1000)
    cd.from_file(path, "a").sum().compute()
    assert not any(str(path) in os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{n}"))


def test_masks(tmp_path):
    path = tmp_path / "x.asdf"
    a = np.ma.MaskedArray(values((6, 8), "f4"), values((6, 8)) % 3 == 0)
    with cippus.create(path) as w:
        w["a"] = a
    x = cd.from_file(path, "a", mask=True, chunks=(4, 4))
    found = x.compute()
    np.testing.assert_array_equal(found.mask, a.mask)
    np.testing.assert_array_equal(found.compressed(), a.compressed())
    assert x.mean().compute() == pytest.approx(a.mean())
    np.testing.assert_array_equal(x[[1, 4]].compute().mask, a[[1, 4]].mask)
    with pytest.raises(TypeError, match="masked arrays"):
        cd.to_file(x, tmp_path / "y.asdf")
    assert sorted(os.listdir(tmp_path)) == ["x.asdf"]


# --- writing


def test_many_arrays_and_values(tmp_path):
    path = tmp_path / "x.asdf"
    a, b = values((30, 40)), values(17, "f8")
    cd.to_file({"a/b": da.from_array(a, chunks=7), "c": da.from_array(b, chunks=5)}, path, codec="zlib", tree={"unit": "K"})
    with cippus.open(path) as f:
        np.testing.assert_array_equal(f["a/b"][...], a)
        np.testing.assert_array_equal(f["c"][...], b)
        assert f["unit"] == "K" and f["c"].codec == "zlib"


@settings(max_examples=400 if FULL else 25, deadline=None, phases=[Phase.generate])
@given(data=st.data())
def test_any_blocks(tmp_path_factory, data):
    shape = tuple(data.draw(st.lists(st.integers(0, 40), min_size=1, max_size=3)))
    cut = tuple(data.draw(st.integers(n // 4 + 1, n + 2)) for n in shape)
    extension = data.draw(st.sampled_from(["asdf", "b2nd", "npy", "blz", "bcolz"]))
    if extension in ("blz", "bcolz") and 0 in shape[1:]:
        return
    a = values(shape, data.draw(st.sampled_from(["i4", "f8", "u1"])))
    chunks = None
    if extension == "b2nd" and data.draw(st.booleans()) and 0 not in shape:
        chunks = tuple(data.draw(st.integers(1, n)) for n in shape)
    path = tmp_path_factory.mktemp("d") / f"x.{extension}"
    x = da.from_array(a, chunks=cut)
    cd.to_file(x, path, chunks=chunks, scheduler="sync")
    with cippus.open(path) as f:
        if chunks is not None:
            assert f.array.chunks == chunks
        np.testing.assert_array_equal(f.array[...], a)
    assert [f for f in cippus.verify(path) if f.severity != "note"] == []
    assert os.listdir(path.parent) == [path.name]
    read = cd.from_file(path, chunks=data.draw(st.sampled_from(["auto", -1])))
    np.testing.assert_array_equal(read.compute(scheduler="sync"), a)


def test_records_and_chunk_options(tmp_path):
    a = np.zeros(50, [("x", "f4"), ("n", "i8")])
    a["n"] = np.arange(50)
    cd.to_file(da.from_array(a, chunks=20), tmp_path / "x.asdf")
    np.testing.assert_array_equal(cd.from_file(tmp_path / "x.asdf").compute(), a)
    b = values((64, 64))
    cd.to_file(da.from_array(b, chunks=32), tmp_path / "x.b2nd", codec="lz4:9", chunks=(16, 16), options={"blocks": "8,8", "sparse": "yes"})
    assert (tmp_path / "x.b2nd").is_dir()
    with cippus.open(tmp_path / "x.b2nd") as f:
        assert f.array.chunks == (16, 16) and "lz4" in f.array.codec
        np.testing.assert_array_equal(f.array[...], b)


def test_what_is_there_stays(tmp_path):
    path = tmp_path / "x.b2nd"
    path.write_bytes(b"mine")
    x = da.ones((10, 10), chunks=5)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        cd.to_file(x, path)
    later = cd.to_file(x, tmp_path / "y.b2nd", compute=False)
    (tmp_path / "y.b2nd").write_bytes(b"mine, too")
    with pytest.raises(FileExistsError):
        later.compute()
    assert path.read_bytes() == b"mine" and (tmp_path / "y.b2nd").read_bytes() == b"mine, too"
    cd.to_file(x, path, overwrite=True)
    with cippus.open(path) as f:
        assert f.array[...].sum() == 100


def test_links_and_modes_stay(tmp_path):
    real, link = tmp_path / "real.b2nd", tmp_path / "link.b2nd"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real.name)
    cd.to_file(da.ones((10, 10), chunks=5), link, overwrite=True)
    assert link.is_symlink() and real.stat().st_mode & 0o777 == 0o640
    assert cd.from_file(real).sum().compute() == 100


@pytest.mark.parametrize("extension", ["b2nd", "asdf", "bcolz"])
def test_a_file_that_is_being_updated_is_not_replaced(tmp_path, extension):
    path = tmp_path / f"x.{extension}"
    cd.to_file(da.ones((10, 10), chunks=5), path)
    with cippus.open(path, "r+") as f:
        array = f.arrays["data"] if "data" in f.arrays else f.array
        array[0, 0] = 7
        with pytest.raises(cippus.BusyError):
            cd.to_file(da.zeros((10, 10), chunks=5), path, overwrite=True)
    assert cd.from_file(path, "data" if extension == "asdf" else "").max().compute() == 7
    cd.to_file(da.zeros((10, 10), chunks=5), path, overwrite=True)
    assert cd.from_file(path, "data" if extension == "asdf" else "").max().compute() == 0
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("extension", ["b2nd", "asdf"])
def test_the_journal_of_another_file_is_in_the_way(tmp_path, extension):
    """A new file beside it could not be read."""
    path = tmp_path / f"x.{extension}"
    journal = tmp_path / f".x.{extension}.cip-journal"
    journal.write_bytes(b"of a file that is gone")
    with pytest.raises(cippus.Error, match="in the way"):
        cd.to_file(da.ones((10, 10), chunks=5), path)
    assert os.listdir(tmp_path) == [journal.name]


@pytest.mark.parametrize("extension", ["b2nd", "asdf"])
def test_attributes_of_the_file_stay(tmp_path, extension):
    path = tmp_path / f"x.{extension}"
    path.write_bytes(b"old")
    path.chmod(0o600)
    try:
        os.setxattr(path, "user.note", b"mine")
    except OSError:
        pytest.skip("no extended attributes here")
    cd.to_file(da.ones((10, 10), chunks=5), path, overwrite=True)
    assert os.getxattr(path, "user.note") == b"mine" and path.stat().st_mode & 0o777 == 0o600


def test_formats_that_the_name_does_not_tell(tmp_path):
    cd.to_file(da.ones((10, 10), chunks=5), tmp_path / "x.dat", format="blosc2", sync=False)
    with cippus.open(tmp_path / "x.dat") as f:
        assert f.format == "blosc2" and f.array[...].sum() == 100


def test_folders_of_parts_that_are_just_made_stay(tmp_path):
    young = [tmp_path / f".x.b2nd.cip-parts-{'0' * 12}{end}" for end in ("", f"-{os.getppid()}-{'0' * 8}", "-x-y", f"-{os.getpid()}")]
    for folder in young:
        folder.mkdir()
    cd.to_file(da.ones((10, 10), chunks=5), tmp_path / "x.b2nd")
    assert sorted(os.listdir(tmp_path)) == sorted(["x.b2nd", *(f.name for f in young)])
    path = tmp_path / "y.b2nd"
    later = cd.to_file(da.ones((10, 10), chunks=5), path, compute=False)
    cd.to_file(da.zeros((10, 10), chunks=5), path)
    os.unlink(path)
    later.compute()
    assert cd.from_file(path).sum().compute() == 100


@pytest.mark.parametrize("extension", ["b2nd", "asdf", "bcolz"])
def test_what_fails_leaves_nothing(tmp_path, extension):
    def broken(block, block_id=None):
        if block_id == (1, 1):
            raise ZeroDivisionError("not this one")
        return block

    x = da.ones((20, 20), chunks=10).map_blocks(broken, dtype="f8", meta=np.empty((0, 0)))
    path = tmp_path / f"x.{extension}"
    with pytest.raises(ZeroDivisionError):
        cd.to_file(x, path)
    wrong = da.ones((20, 20), chunks=10).map_blocks(lambda b: b.astype("f4"), dtype="f8", meta=np.empty((0, 0)))
    with pytest.raises(ValueError, match="expected shape"):
        cd.to_file(wrong, path)
    assert os.listdir(tmp_path) == []
    y = da.from_array(np.arange(10), chunks=5)
    with pytest.raises(ValueError, match="unknown lengths"):
        cd.to_file(y[y > 3], path)
    with pytest.raises(TypeError, match="expected a dask array"):
        cd.to_file(np.ones(3), path)


def test_the_last_task_done_twice(tmp_path):
    """As when its worker dies after the target was there."""
    for name in "x.asdf", "x.b2nd", "x.bcolz":
        path = tmp_path / name
        job = cd._Job(str(path), cd._new_folder(str(path), True), False)
        job.options, job.arrays = {"format": None, "options": None}, {"codec": None, "chunks": None}
        (x,) = job.plan({"data": da.from_array(values((20, 20)), chunks=10)}, None)
        done = [cd._write_part(p, i, x.blocks[i].compute()) for p in job.plans for i in p.indices()]
        with pytest.raises(ValueError, match=f"expected {len(done)} blocks, found {len(done) - 1}"):
            job.assemble(done[:-1])
        assert job.assemble(done) == str(path)
        assert job.assemble(done) == str(path)
        job.clean("")
        np.testing.assert_array_equal(cd.from_file(path).compute(), values((20, 20)))


def test_leftovers_of_killed_processes(tmp_path):
    path = tmp_path / "x.b2nd"
    text = f"""
import cippus.dask as cd, dask.array as da, os, signal, numpy as np
x = da.ones((20, 20), chunks=10).map_blocks(lambda b: os.kill(os.getpid(), signal.SIGKILL), dtype="f8", meta=np.empty((0, 0)))
cd.to_file(x, {str(path)!r}, scheduler="sync")
"""
    assert subprocess.run([sys.executable, "-c", text]).returncode == -signal.SIGKILL
    (left,) = os.listdir(tmp_path)
    assert left.startswith(".x.b2nd.cip-parts-")
    cd.to_file(da.ones((20, 20), chunks=10), path)
    assert os.listdir(tmp_path) == ["x.b2nd"]


# --- processes


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with dask.config.set({"distributed.worker.daemon": False, "distributed.admin.tick.limit": "1h"}):
        with distributed.LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50) as c:
            with distributed.Client(c) as client:
                yield client


@pytest.mark.parametrize("extension", ["b2nd", "asdf", "bcolz"])
def test_distributed(cluster, tmp_path, extension):
    a = values((300, 200))
    source, path, alone = (tmp_path / f"{n}.{extension}" for n in ("source", "many", "one"))
    cd.to_file(da.from_array(a, chunks=(60, 70)), source)
    x = cd.from_file(source, chunks=(60, 70))
    cd.to_file(x * 2, path)
    cd.to_file(x * 2, alone, scheduler="sync")
    np.testing.assert_array_equal(cd.from_file(path).compute(), a * 2)
    assert content(path) == content(alone)
    assert sorted(os.listdir(tmp_path)) == sorted(p.name for p in (source, path, alone))


def slow(block):
    time.sleep(0.1)
    return block + 1


def test_a_worker_that_dies(cluster, tmp_path):
    a = values((160, 160))
    path = tmp_path / "x.b2nd"
    pids = list(cluster.run(os.getpid).values())
    threading.Timer(0.5, os.kill, (pids[0], signal.SIGKILL)).start()
    cd.to_file(da.from_array(a, chunks=(20, 20)).map_blocks(slow), path)
    np.testing.assert_array_equal(cd.from_file(path).compute(scheduler="sync"), a + 1)
    assert os.listdir(tmp_path) == ["x.b2nd"]
    assert pids[0] not in cluster.run(os.getpid).values()


@pytest.mark.skipif(not FULL, reason="4 GiB: CIP_FULL=1")
@pytest.mark.parametrize("extension", ["b2nd", "asdf"])
def test_four_gigabytes(tmp_path, extension):
    """Read, computed with and written by 4 workers, of which one is killed midway."""
    distributed = pytest.importorskip("distributed")
    source, path = tmp_path / "source.b2nd", tmp_path / f"x.{extension}"
    rows, columns = 1 << 15, 1 << 15
    with cippus.create(source, codec="lz4:5") as w:
        slab = w.declare("data", (rows, columns), "f4", chunks=(1024, 1024))
        for i in range(0, rows, 2048):
            slab[i : i + 2048] = np.arange(i, i + 2048, dtype="f4")[:, None] + np.arange(columns, dtype="f4") % 97
    with distributed.LocalCluster(n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50) as c:
        with distributed.Client(c) as client:
            pids = list(client.run(os.getpid).values())
            start = time.time()
            threading.Timer(5, os.kill, (pids[0], signal.SIGKILL)).start()
            with dask.config.set({"array.chunk-size": "64MiB"}):
                cd.to_file(cd.from_file(source) * 2 + 1, path, **({"codec": "lz4:5"} if extension == "b2nd" else {}))
            print(f"{extension}: {time.time() - start:.1f} s")
            assert pids[0] not in client.run(os.getpid).values()
    with cippus.open(path) as f:
        a = f.array
        assert a.shape == (rows, columns)
        for i in range(0, rows, 2048):
            want = (np.arange(i, i + 2048, dtype="f4")[:, None] + np.arange(columns, dtype="f4") % 97) * 2 + 1
            np.testing.assert_array_equal(a[i : i + 2048], want)
    assert sorted(os.listdir(tmp_path)) == sorted(["source.b2nd", path.name])
