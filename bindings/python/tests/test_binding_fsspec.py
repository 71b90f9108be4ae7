# SPDX-License-Identifier: BSD-3-Clause
"""Files read through fsspec: what is asked for, by how many requests, and what is refused."""
import contextlib
import functools
import hashlib
import http.server
import io
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import uuid
import zipfile

import numpy as np
import pytest

import cippus

fsspec = pytest.importorskip("fsspec")
from fsspec.implementations.memory import MemoryFileSystem  # noqa: E402

SAMPLES = pathlib.Path(__file__).resolve().parents[3] / "samples"
IMAGE = np.random.default_rng(1).random((1024, 1024))


class Counting(MemoryFileSystem):
    """A store in memory that counts calls as an object store would bill them."""

    protocol = "counted"
    calls = []

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.replace("counted://", "memory://"))

    def info(self, path, **more):
        self.calls.append(("info", 0))
        return super().info(path, **more)

    def ls(self, path, detail=True, **more):
        self.calls.append(("ls", 0))
        return super().ls(path, detail=detail, **more)

    def cat_file(self, path, start=None, end=None, **more):
        found = super().cat_file(path, start, end, **more)
        self.calls.append(("get", len(found)))
        return found


fsspec.register_implementation("counted", Counting, clobber=True)


@contextlib.contextmanager
def counted(what):
    """What the calls in it ask for: prints and gives (requests for bytes, bytes)."""
    Counting.calls.clear()
    found = {}
    yield found
    gets = [n for kind, n in Counting.calls if kind == "get"]
    found.update(gets=len(gets), nbytes=sum(gets), others=len(Counting.calls) - len(gets))
    print(f"{what}: {len(gets)} requests of {sum(gets)} bytes, {found['others']} for the state or a listing")


@pytest.fixture
def store():
    """Puts files into a store of their own; gives its URL."""
    fs = fsspec.filesystem("counted")
    made = []

    def put(files):
        made.append(f"/{uuid.uuid4().hex}")
        for name, data in files.items():
            fs.pipe(f"{made[-1]}/{name}", data)
        return f"counted:/{made[-1]}"

    yield put
    for folder in made:
        fs.rm(folder, recursive=True)


@pytest.fixture(scope="module")
def chunked():
    with cippus.create(format="asdf") as w:
        w.put("image", IMAGE, codec="blsc")
        w["n"] = 3
    return w.getvalue()


def folder_of(path):
    return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}


def test_samples_are_read_the_same(store):
    for name in ("night.asdf", "roman.asdf", "stream.asdf", "cube.b2nd", "tide.blp", "complex.ra"):
        url = store({name: (SAMPLES / name).read_bytes()})
        with cippus.open(f"{url}/{name}") as far, cippus.open(SAMPLES / name) as near:
            assert list(far.arrays) == list(near.arrays) and far.path == f"{url}/{name}"
            for path, array in near.arrays.items():
                np.testing.assert_array_equal(far.arrays[path][...], array[...])


def test_folders_are_read_the_same(store, tmp_path):
    with cippus.create(tmp_path / "s.b2nd", options={"sparse": "yes"}) as w:
        w.put("", IMAGE[:256], chunks=(64, 1024))
    with cippus.create(tmp_path / "z.zarr", options={"chunks": "64,256", "shards": "128,512"}) as w:
        w.put("g/x", IMAGE[:256])
    folders = [SAMPLES / "prices.bcolz", SAMPLES / "wells.blz", tmp_path / "s.b2nd", tmp_path / "z.zarr"]
    for folder in folders:
        assert folder.is_dir()
        url = store(folder_of(folder))
        with cippus.open(url) as far, cippus.open(folder) as near:
            for path, array in near.arrays.items():
                np.testing.assert_array_equal(far.arrays[path][...], array[...])


def test_files_beside_another_are_members(store, tmp_path):
    with cippus.create(tmp_path / "x y.asdf") as w:
        w.put("a", IMAGE[:9], storage="external")
    url = store(folder_of(tmp_path))
    with cippus.open(f"{url}/x y.asdf") as f:
        np.testing.assert_array_equal(f["a"][...], IMAGE[:9])
    fsspec.filesystem("counted").rm(f"{url}/x y0000.asdf")
    with cippus.open(f"{url}/x y.asdf") as f, pytest.raises(cippus.Error):
        f["a"][...]


def test_requests_of_a_chunked_file(store, chunked):
    url = store({"a.asdf": chunked})
    with counted("open, chunked ASDF") as n:
        f = cippus.open(f"{url}/a.asdf")
    assert n["gets"] <= 4 and n["nbytes"] < len(chunked) / 4
    a = f["image"]
    with counted("a window in one chunk") as n:
        np.testing.assert_array_equal(a[70:80, 70:80], IMAGE[70:80, 70:80])
    assert n["gets"] <= 2
    f.close()
    with cippus.open(f"{url}/a.asdf") as f:
        f["image"][0, 0]
        with counted("20 rows, one after the other") as n:
            for row in range(0, 100, 5):
                np.testing.assert_array_equal(f["image"][row], IMAGE[row])
        assert n["gets"] <= 12  # one for each block that the rows before did not need
        with counted("20 rows in one call") as n:
            np.testing.assert_array_equal(f["image"][500:600:5], IMAGE[500:600:5])
        assert n["others"] <= 3
        with counted(f"all of it ({len(chunked)} bytes)") as n:
            np.testing.assert_array_equal(f["image"][...], IMAGE)
        assert n["nbytes"] < 1.5 * len(chunked)


def test_requests_of_frames(store, tmp_path):
    shapes = {"chunks": (64, 1024), "codec": "zstd:1"}
    with cippus.create(format="blosc2") as w:
        w.put("", IMAGE, **shapes, options={"blocks": "64,256"})
    url = store({"c.b2nd": w.getvalue()})
    with counted("open, contiguous frame") as n:
        f = cippus.open(f"{url}/c.b2nd")
    assert n["gets"] <= 4
    with counted("a window in one chunk") as n:
        np.testing.assert_array_equal(f.array[70:80, 70:80], IMAGE[70:80, 70:80])
    assert n["gets"] <= 4
    with counted("a column: 16 chunks") as n:
        np.testing.assert_array_equal(f.array[:, 500], IMAGE[:, 500])
    assert n["gets"] <= 32 and n["others"] <= 2 and n["nbytes"] < len(w.getvalue()) / 3  # heads, then blocks
    f.close()
    with cippus.create(tmp_path / "s.b2nd", options={"sparse": "yes"}) as w:
        w.put("", IMAGE, **shapes, options={"blocks": "64,256"})
    url = store(folder_of(tmp_path / "s.b2nd"))
    with counted("open, sparse frame") as n:
        f = cippus.open(url)
    assert n["gets"] <= 4 and n["others"] <= 6
    with counted("a window in one chunk") as n:
        np.testing.assert_array_equal(f.array[70:80, 70:80], IMAGE[70:80, 70:80])
    assert n["gets"] <= 3
    f.close()


def test_what_changed_is_refused(store, chunked):
    fs = fsspec.filesystem("counted")
    url = store({"a.asdf": chunked})
    with cippus.open(f"{url}/a.asdf") as f:
        f["image"][0, 0]
        fs.pipe(f"{url}/a.asdf", chunked)  # the same bytes, but who knows
        with pytest.raises(cippus.BusyError, match="changed since open") as caught:
            f["image"][1000, 1000]
        assert url in str(caught.value)
    with cippus.open(f"{url}/a.asdf") as f:
        fs.pipe(f"{url}/a.asdf", chunked[:5000])
        with pytest.raises((cippus.BusyError, cippus.ReadError)):
            f["image"][1000, 1000]
        fs.rm(f"{url}/a.asdf")
        with pytest.raises(FileNotFoundError, match="a.asdf"):
            f["image"][1000, 1000]
        fs.pipe(f"{url}/a.asdf", b"")


def test_what_cannot_be_opened(store):
    url = store({"a.asdf": b"no such format", "empty": b""})
    with pytest.raises(cippus.FileMissingError, match="there is no such file") as caught:
        cippus.open(f"{url}/b.asdf")
    assert caught.value.path == f"{url}/b.asdf"
    for name in ("a.asdf", "empty"):
        with pytest.raises(cippus.Error, match=url):
            cippus.open(f"{url}/{name}")
    with pytest.raises(ValueError, match="Protocol not known"):
        cippus.open("nobody://x")
    with pytest.raises(ValueError, match="'r\\+' needs a path"):
        cippus.open(f"{url}/a.asdf", "r+")
    with pytest.raises(ValueError, match="for reading"):
        cippus.create(f"{url}/new.asdf")
    with pytest.raises(ValueError, match="storage_options"):
        cippus.open("a.asdf", storage_options={"x": 1})
    with pytest.raises(FileNotFoundError):
        cippus.open("file:///does/not/exist")
    code = "import sys; sys.modules['fsspec'] = None\nimport cippus\ncippus.open('s3://bucket/a.asdf')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install fsspec" in done.stderr


def test_damaged_files_end_in_exceptions(store, chunked):
    rng = np.random.default_rng(7)
    for i in range(40):
        data = bytearray((SAMPLES / ("night.asdf", "cube.b2nd")[i % 2]).read_bytes())
        for at in rng.integers(0, len(data), 20):
            data[at] = rng.integers(256)
        if i % 3 == 0:
            del data[int(rng.integers(len(data))) :]
        url = store({"a": bytes(data)})
        try:
            with cippus.open(f"{url}/a") as f:
                for array in f.arrays.values():
                    with contextlib.suppress(cippus.Error):
                        array[...]
        except cippus.Error as error:
            assert url in str(error)


def test_other_ways_to_name_a_file(store, chunked, tmp_path):
    path = tmp_path / "a.asdf"
    path.write_bytes(chunked)
    with cippus.create(f"file://{tmp_path}/b.asdf") as w:
        w["n"] = 1
    assert (tmp_path / "b.asdf").exists()
    with cippus.open(f"file://{path}", "r+") as f:
        assert f.path == str(path)
        f["n"] = 4
    with zipfile.ZipFile(tmp_path / "z.zip", "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("in/a.asdf", chunked)
    url = store({"a.asdf": chunked, "a.asdf.gz": __import__("gzip").compress(chunked)})
    sources = [
        f"zip://in/a.asdf::{tmp_path / 'z.zip'}",
        f"simplecache::{url}/a.asdf",
        fsspec.open(f"{url}/a.asdf"),
        fsspec.open(f"{url}/a.asdf.gz", compression="gzip"),
        fsspec.open(f"{url}/a.asdf").open(),
        fsspec.open(f"file://{path}"),
    ]
    for source in sources:
        with cippus.open(source) as f:
            np.testing.assert_array_equal(f["image"][100:110, ::7], IMAGE[100:110, ::7])


def test_threads_and_forks(store, chunked):
    url = store({"a.asdf": chunked})
    failed = []
    with cippus.open(f"{url}/a.asdf") as f:

        def work(i):
            try:
                for row in range(i, 1024, 97):
                    np.testing.assert_array_equal(f["image"][row, ::9], IMAGE[row, ::9])
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not failed
        pid = os.fork()
        if pid == 0:
            os._exit(0 if np.array_equal(f["image"][900], IMAGE[900]) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


# --- a server of HTTP


class Handler(http.server.BaseHTTPRequestHandler):
    """Ranges, entity tags and conditions of RFC 9110."""

    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self.answer(False)

    def do_GET(self):
        self.answer(True)

    def answer(self, with_body):
        server = self.server
        server.seen.append((self.command, self.headers.get("Range")))
        data = server.files.get(self.path)
        if data is None:
            return self.send(404, b"", with_body)
        tag = server.tag % hashlib.sha256(data).hexdigest()[:16]
        assert "If-Match" not in self.headers or not tag.startswith("W/")  # which never match
        if self.headers.get("If-Match", tag) != tag:
            return self.send(412, b"", with_body)
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if asked and server.ranges:
            a, b = int(asked[1]), int(asked[2])
            more = {"Content-Range": f"bytes {a}-{min(b, len(data) - 1)}/{len(data)}"}
            return self.send(206, data[a : b + 1], with_body, ETag=tag, **more)
        return self.send(200, data, with_body, ETag=tag)

    def send(self, code, data, with_body, **headers):
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            self.wfile.write(data)

    def log_message(self, *words):
        pass


@pytest.fixture
def server():
    pytest.importorskip("aiohttp")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        made.files, made.seen, made.ranges, made.tag = {}, [], True, '"%s"'
        made.daemon_threads = True
        made.url = f"http://127.0.0.1:{made.server_address[1]}"
        thread = threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield made
        made.shutdown()


def test_http(server, chunked):
    server.files["/a.asdf"] = chunked
    with cippus.open(f"{server.url}/a.asdf") as f:
        print("open by HTTP:", server.seen)
        assert len(server.seen) <= 5
        server.seen.clear()
        np.testing.assert_array_equal(f["image"][:, 500], IMAGE[:, 500])
        print("a column of 16 chunks by HTTP:", len(server.seen), "requests")
        assert len(server.seen) <= 17 and all(kind == "GET" and asked for kind, asked in server.seen)
        server.files["/a.asdf"] = chunked[:-1] + b"x"
        with pytest.raises(cippus.BusyError, match="changed since open"):
            f["image"][...]
        del server.files["/a.asdf"]
        with pytest.raises(FileNotFoundError):
            f["image"][...]
    with pytest.raises(cippus.FileMissingError):
        cippus.open(f"{server.url}/b.asdf")


def test_http_window_of_raw_rows(server, tmp_path):
    with cippus.create(tmp_path / "raw.asdf") as w:
        w.put("image", IMAGE)
    server.files["/raw.asdf"] = (tmp_path / "raw.asdf").read_bytes()
    with cippus.open(f"{server.url}/raw.asdf") as f:
        server.seen.clear()
        np.testing.assert_array_equal(f["image"][50:850, 10:30], IMAGE[50:850, 10:30])
        assert len(server.seen) <= 9


def test_http_with_weak_tags(server, chunked):
    server.files["/a.asdf"], server.tag = chunked, 'W/"%s"'
    with cippus.open(f"{server.url}/a.asdf") as f:
        np.testing.assert_array_equal(f["image"][0], IMAGE[0])
        server.files["/a.asdf"] = chunked[:-1] + b"x"
        with pytest.raises(cippus.BusyError, match="changed since open"):
            f["image"][...]


def test_http_of_a_server_without_ranges(server, chunked):
    server.files["/a.asdf"] = chunked
    server.ranges = False
    with pytest.raises(cippus.UnsupportedError, match="does not support range requests .*: try 'simplecache::http"):
        cippus.open(f"{server.url}/a.asdf")
    with cippus.open(f"simplecache::{server.url}/a.asdf") as f:
        assert f["image"][3, 4] == IMAGE[3, 4]


def test_http_members(server, tmp_path):
    with cippus.create(tmp_path / "x.asdf") as w:
        w.put("a", IMAGE[:9], storage="external")
    with cippus.create(tmp_path / "s.b2nd", options={"sparse": "yes"}) as w:
        w.put("", IMAGE[:256], chunks=(64, 1024))
    server.files.update({f"/{name}": data for name, data in folder_of(tmp_path).items()})
    with cippus.open(f"{server.url}/x.asdf") as f:
        np.testing.assert_array_equal(f["a"][...], IMAGE[:9])
    with cippus.open(f"{server.url}/s.b2nd/") as f:
        np.testing.assert_array_equal(f.array[...], IMAGE[:256])


def test_http_by_many_threads(server, chunked):
    server.files["/a.asdf"] = chunked
    failed = []
    with cippus.open(f"{server.url}/a.asdf") as f:

        def work(i):
            try:
                np.testing.assert_array_equal(f["image"][i::8, 3], IMAGE[i::8, 3])
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=functools.partial(work, i)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not failed
        pid = os.fork()
        if pid == 0:  # where fsspec's loop does not run on
            signal.alarm(20)
            os._exit(0 if np.array_equal(f["image"][900], IMAGE[900]) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_file_likes_that_raise():
    class Bad(io.BytesIO):
        broken = False

        def read(self, n=-1):
            if self.broken:
                raise ZeroDivisionError("in the file-like")
            return super().read(n)

    like = Bad((SAMPLES / "night.asdf").read_bytes())
    with cippus.open(like) as f:
        like.broken = True
        with pytest.raises(ZeroDivisionError):
            f["image"][...]
        like.broken = False
        assert f["image"][...].shape == (128, 160)
