# SPDX-License-Identifier: BSD-3-Clause
"""`cippus serve`: who may ask, what paths reach, ranges, the API, and clients that mean no good."""
import contextlib
import http.client
import io
import json
import os
import random
import resource
import socket
import subprocess
import sys
import threading
import time
import types
import urllib.parse

import numpy as np
import pytest
from conftest import ROOT
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from served import served

SAMPLES = ROOT / "samples"

@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A served folder beside which lies what must not be seen."""
    top = tmp_path_factory.mktemp("top")
    (top / "secret.npy").write_bytes(b"secret")
    folder = top / "data"
    (folder / "sub dir").mkdir(parents=True)
    np.save(folder / "a.npy", np.arange(1000, dtype="<i4").reshape(20, 50))
    np.save(folder / "sub dir" / "é&b.npy", np.arange(3.0))
    (folder / ".hidden").write_text("no")
    (folder / "text").write_bytes(bytes(range(256)) * 40)
    (folder / "out").symlink_to(top)
    (folder / "out.npy").symlink_to(top / "secret.npy")
    (folder / "in.npy").symlink_to("a.npy")
    os.mkfifo(folder / "fifo")
    return folder


@pytest.fixture(scope="module")
def server(cippus, tree):
    with served(cippus, tree, SAMPLES) as s:
        yield s


# --- who may ask -------------------------------------------------------------------------------


@pytest.mark.parametrize("host, status", [("localhost", 200), ("127.0.0.1:99", 200), ("[::1]:8", 200), ("evil.example", 403),
                                          ("127.0.0.1.evil.example", 403), ("localhost.evil", 403), ("localhost:8@evil", 403), ("127.0.0.256", 403)])
def test_only_local_names_are_answered(server, host, status):
    for target in ("/", "/api/v1/list", "/files/data/a.npy"):
        assert server.ask(target, headers={"Host": host}).status == status


def test_pages_of_others_are_refused(server, cippus, tree):
    own = f"http://{server.host}:{server.port}"
    assert server.ask("/api/v1", headers={"Origin": own}).status == 200
    answer = server.ask("/api/v1", headers={"Origin": "http://evil.example"})
    assert answer.status == 403 and "Access-Control-Allow-Origin" not in answer.headers
    with served(cippus, tree, "--cors") as open_server:
        answer = open_server.ask("/api/v1", headers={"Origin": "http://other.example"})
        assert answer.status == 200 and answer.headers["Access-Control-Allow-Origin"] == "*"
        assert open_server.ask("/files/data/a.npy", method="OPTIONS").status == 204


def test_public_needs_the_token(cippus, tree):
    with served(cippus, tree, "--public", "--bind", "127.0.0.1") as s:
        assert len(s.token) == 32
        other = {"Host": "host.example"}
        assert s.ask("/", headers=other).status == 200, "the page has no data"
        for target in ("/api/v1", "/files/data/a.npy", "/zarr/data/a.npy/zarr.json", "/refs/data/a.npy"):
            assert s.ask(target, headers=other).status == 401
            assert s.ask(f"{target}?token={'0' * 32}", headers=other).status == 401
            assert s.ask(f"{target}?token={s.token}", headers=other).status == 200
            assert s.ask(target, headers={"Authorization": f"Bearer {s.token}"}).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "X"])
def test_only_reading(server, method):
    answer = server.ask("/files/data/a.npy", method=method)
    assert answer.status == 405 and answer.headers["Allow"] == "GET, HEAD"


# --- paths -------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["data/../secret.npy", "data/%2e%2e/secret.npy", "data/./a.npy", "data//a.npy", "data/..%2fsecret.npy",
                                  "data/a.npy%00", "data/%zz", "../data/a.npy", "data/%2", "data/" + "a" * 9000])
def test_bad_paths_are_refused(server, path):
    for kind in ("files", "zarr", "refs"):
        assert server.ask(f"/{kind}/{path}").status in (400, 414, 431)


@pytest.mark.parametrize("path", ["data/out/secret.npy", "data/out.npy", "data/out", "data/.hidden", "data/fifo", "data/nothing",
                                  "secret.npy", "", "data", "data/a.npy/b", "etc/passwd", "data/..."])
def test_nothing_else_is_reached(server, path):
    answer = server.ask(f"/files/{path}")
    assert answer.status == 404 and b"secret\n" not in answer.body


def test_links_within_are_followed(server):
    assert server.ask("/files/data/in.npy").body == server.ask("/files/data/a.npy").body


def test_members_outside_are_refused(cippus, tmp_path):
    """Of a store a chunk, of an ASDF file another file; both by a link that the opened file does not tell of."""
    data = tmp_path / "data"
    data.mkdir()
    for file in ("x.zarr", "x.asdf"):
        cippus.run("convert", "--fill", "7", "--dtype", "int64", "--shape", "1000", data / file)
    cippus.run("explode", data / "x.asdf", data / "e.asdf")
    for member in (data / "x.zarr" / "data" / "c" / "0", data / "e0000.asdf"):
        member.rename(tmp_path / member.name)
        member.symlink_to(tmp_path / member.name)
    with served(cippus, data) as s:
        for file in ("x.zarr", "e.asdf"):
            for target in (f"api/v1/window?file=data/{file}&path=data", f"zarr/data/{file}/data/c/0"):
                answer = s.ask("/" + target)
                assert answer.status == 403 and "reached through a link" in answer.json["error"]["text"]
        assert s.api("window", file="data/x.asdf", select="[7]") == 7


def test_files_of_a_folder_in_which_much_happens(cippus, tmp_path):
    """Its times change all the while."""
    np.save(tmp_path / "a.npy", np.arange(3))
    stop = threading.Event()

    def touch():
        while not stop.is_set():
            (tmp_path / "new").touch()
            (tmp_path / "new").unlink()

    thread = threading.Thread(target=touch)
    thread.start()
    try:
        with served(cippus, tmp_path) as s:
            for _ in range(200):
                assert s.api("window", file=f"{tmp_path.name}/a.npy") == [0, 1, 2]
    finally:
        stop.set()
        thread.join()


EXCHANGE = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
a, b = (os.fsencode(x) for x in sys.argv[1:])
if libc.renameat2(-100, a, -100, b, 2) != 0:
    sys.exit(77)
print(flush=True)
while True:
    libc.renameat2(-100, a, -100, b, 2)
"""


@pytest.mark.parametrize("what", ["file", "folder", "store"])
def test_a_link_that_comes_and_goes_leads_nowhere(cippus, tmp_path, what):
    """The name alternates between what is served and a link to the same outside."""
    for place, value in (("data", 0), ("outside", 1)):
        (tmp_path / place / "sub").mkdir(parents=True)
        np.save(tmp_path / place / "sub" / "x.npy", np.full(1000, value))
        cippus.run("convert", "--fill", str(value), "--dtype", "int64", "--shape", "1000", tmp_path / place / "x.zarr")
    name = {"file": "sub/x.npy", "folder": "sub", "store": "x.zarr"}[what]
    link = tmp_path / "data" / "link"
    link.symlink_to(tmp_path / "outside" / name)
    child = subprocess.Popen([sys.executable, "-c", EXCHANGE, tmp_path / "data" / name, link], stdout=subprocess.PIPE)
    try:
        if child.stdout.readline() == b"":
            pytest.skip("the file system does not exchange names")
        with served(cippus, tmp_path / "data") as s:
            file = "data/x.zarr" if what == "store" else "data/sub/x.npy"
            seen = set()
            for i in range(400):
                answer = s.ask(f"/api/v1/window?file={file}&as=raw")
                seen.add(answer.status)
                assert answer.status in (404, 500, 503) or answer.body == bytes(8000), (answer.status, answer.body[:200])
            assert 200 in seen and len(seen) > 1
    finally:
        child.kill()
        child.wait()


def test_names_are_decoded_once(server):
    name = urllib.parse.quote("data/sub dir/é&b.npy")
    assert np.array_equal(np.load(io.BytesIO(server.ask("/files/" + name).body)), np.arange(3.0))
    assert server.api("window", file="data/sub dir/é&b.npy") == [0, 1, 2]


def test_lists_are_what_can_be_reached(server):
    names = {e["name"]: e for e in server.api("list", folder="data")["entries"]}
    assert set(names) == {"a.npy", "in.npy", "sub dir", "text"}
    assert names["a.npy"]["format"] == "npy" and names["sub dir"]["type"] == "folder" and names["text"]["format"] is None
    assert [e["name"] for e in server.api("list")["entries"]] == ["data", "samples"]
    formats = {e["format"] for e in server.api("list", folder="samples")["entries"] if e["type"] == "file"}
    assert formats >= {"asdf", "blosc2", "bloscpack", "blz", "fits", "hdf5", "npz", "rawarray", "zarr"}
    part = server.api("list", folder="samples", offset=2, limit=3)
    assert len(part["entries"]) == 3 and part["total"] == len(os.listdir(SAMPLES))


def test_names_that_json_cannot_have_are_told_to_be_none(cippus, tmp_path):
    for name in (b"a\xff.npy", b"a\xef\xbf\xbd.npy", b"\xc3(", "é\u2028\n<b>".encode()):
        with open(os.path.join(os.fsencode(tmp_path), name), "wb") as f:
            np.save(f, np.arange(3))
    with served(cippus, tmp_path) as s:
        names = [(e["name"], e["format"], e.get("why")) for e in s.api("list", folder=tmp_path.name)["entries"]]
        none = "the name is not UTF-8"
        assert sorted(names, key=str) == sorted([("a\ufffd.npy", None, none), ("a\ufffd.npy", "npy", None), ("\ufffd(", None, none),
                                                 ("é\u2028\n<b>", "npy", None)], key=str)
        for name, format, _ in names:
            if format is not None:
                assert s.api("window", file=f"{tmp_path.name}/{name}") == [0, 1, 2]
        assert s.ask(f"/files/{tmp_path.name}/a%ff.npy").status == 200


def test_names_of_a_folder_are_bounded(cippus, tmp_path):
    """2 MiB of them, a sixteenth of the memory."""
    for i in range(12000):
        (tmp_path / f"{i:0200}").touch()
    with served(cippus, tmp_path, "--max-memory", "32M") as s:
        assert s.api("list", 413, folder=tmp_path.name, limit=1)["error"]["code"] == "limit"
        for i in range(4000):
            (tmp_path / f"{i:0200}").unlink()
        assert s.api("list", folder=tmp_path.name, limit=1)["total"] == 8000


# --- files by ranges ---------------------------------------------------------------------------


@pytest.mark.parametrize("text, first, last", [("bytes=0-9", 0, 9), ("bytes=10000-99999", 10000, 10239), ("bytes=-5", 10235, 10239),
                                               ("bytes=10239-", 10239, 10239), ("bytes=-99999", 0, 10239)])
def test_ranges(server, text, first, last):
    whole = bytes(range(256)) * 40
    answer = server.ask("/files/data/text", headers={"Range": text})
    assert answer.status == 206 and answer.body == whole[first : last + 1]
    assert answer.headers["Content-Range"] == f"bytes {first}-{last}/10240"
    head = server.ask("/files/data/text", method="HEAD", headers={"Range": text})
    assert head.status == 206 and head.body == b"" and int(head.headers["Content-Length"]) == len(answer.body)


@pytest.mark.parametrize("text", ["bytes=10240-", "bytes=-0", "bytes=99999999999-"])
def test_ranges_outside(server, text):
    answer = server.ask("/files/data/text", headers={"Range": text})
    assert answer.status == 416 and answer.headers["Content-Range"] == "bytes */10240"


@pytest.mark.parametrize("text", ["bytes=5-2", "items=0-1", "bytes=0-1,5-6", "bytes=-", "bytes=a-b", "bytes=0x1-2",
                                  "bytes=99999999999999999999999-"])
def test_what_is_no_range_is_ignored(server, text):
    answer = server.ask("/files/data/text", headers={"Range": text})
    assert answer.status == 200 and len(answer.body) == 10240


def tag_of(server, target):
    """The one that it has once the clock of the file system has gone on."""
    for _ in range(100):
        tag = server.ask(target).headers["ETag"]
        if tag is not None:
            return tag
        time.sleep(0.1)
    raise AssertionError("there is never a tag")


def test_entity_tags(cippus, tmp_path):
    file = tmp_path / "x.npy"
    np.save(file, np.zeros(4))
    with served(cippus, file) as s:
        tag = tag_of(s, "/files/x.npy")
        assert s.ask("/files/x.npy", headers={"If-None-Match": f'"other", W/{tag}'}).status == 304
        assert s.ask("/files/x.npy", headers={"Range": "bytes=0-3", "If-Range": tag}).status == 206
        np.save(file, np.ones(4))
        assert s.ask("/files/x.npy", headers={"If-None-Match": tag}).status == 200
        answer = s.ask("/files/x.npy", headers={"Range": "bytes=0-3", "If-Range": tag})
        assert answer.status == 200 and len(answer.body) == file.stat().st_size
        assert s.api("window", file="x.npy") == [1, 1, 1, 1], "a changed file is opened again"


def test_a_file_changed_just_now_has_no_tag(cippus, tmp_path):
    """Its next change may come within the same step of the clock."""
    file = tmp_path / "x.npy"
    with served(cippus, tmp_path) as s:
        target = f"/files/{tmp_path.name}/x.npy"
        for i in range(50):
            file.write_bytes(b"%d" % (i % 10))
            answer = s.ask(target, headers={"If-None-Match": "*", "Range": "bytes=0-0", "If-Range": '""'})
            assert answer.status == 200 and answer.body == b"%d" % (i % 10) and "ETag" not in answer.headers


def begin_to_receive(server, target, most):
    """A connection on which at least `most` bytes of the answer are left to be sent."""
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.settimeout(30)
    s.connect((server.host, server.port))
    s.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    assert s.recv(100).startswith(b"HTTP/1.1 200")
    time.sleep(0.3)
    return s


def receive_all(s):
    got = 100
    with s, contextlib.suppress(ConnectionResetError):
        while part := s.recv(1 << 20):
            got += len(part)
    return got


@pytest.mark.parametrize("how", ["write", "cut", "grow", "nothing", "replace", "remove"])
def test_what_is_sent_of_a_file_is_of_one_state(cippus, tmp_path, how):
    file = tmp_path / "x"
    size = 64 << 20
    with open(file, "wb") as f:
        f.truncate(size)
    with served(cippus, tmp_path) as s:
        target = f"/files/{tmp_path.name}/x"
        time.sleep(0.1)
        with begin_to_receive(s, target, size // 2) as c:
            if how == "write":
                with open(file, "r+b") as f:
                    f.seek(size - 10)
                    f.write(b"new")
            elif how == "cut":
                os.truncate(file, size // 2)
            elif how == "grow":
                os.truncate(file, size + 1)
            elif how == "replace":
                (tmp_path / "new").write_bytes(b"x" * 100)
                os.replace(tmp_path / "new", file)
            elif how == "remove":
                file.unlink()
            got = receive_all(c)
        assert (got >= size) == (how in ("nothing", "replace", "remove")), got
        assert s.ask("/api/v1").status == 200


def test_answers_are_of_one_state(cippus, tmp_path):
    """The first and the last element change while all are read: both in the sum, or none."""
    n = 100 << 20
    np.lib.format.open_memmap(tmp_path / "x.npy", mode="w+", dtype="u1", shape=(n,)).flush()
    with served(cippus, tmp_path) as s, open(tmp_path / "x.npy", "r+b", buffering=0) as f:
        target = f"/api/v1/stat?file={tmp_path.name}/x.npy"
        for i in range(3):
            tag_of(s, f"/files/{tmp_path.name}/x.npy")
            answers = []
            thread = threading.Thread(target=lambda: answers.append(s.ask(target)))
            thread.start()
            time.sleep(0.1)
            for at in (128, 128 + n - 1):
                os.pwrite(f.fileno(), bytes([i + 1]), at)
            thread.join()
            assert answers[0].status == 503 or round(answers[0].json["mean"] * n) in (2 * i, 2 * i + 2)


# --- the API -----------------------------------------------------------------------------------


def test_the_same_json_as_the_command(server, cippus):
    for name in sorted(os.listdir(SAMPLES)):
        file = SAMPLES / name
        if subprocess.run([cippus.path, "info", file], capture_output=True).returncode != 0:
            continue
        told = json.loads(cippus.run("ls", "--json", file))
        got = server.api("arrays", file=f"samples/{name}", limit=1000)
        assert got["total"] == len(told)
        for a, b in zip(told, got["arrays"]):
            a["file"] = b["file"]
            assert a == b
        info = json.loads(cippus.run("info", "--json", file))[0]
        assert {**info, "file": f"samples/{name}"} == server.api("info", file=f"samples/{name}")
        for a in told:
            if a["state"] == "ok" and not a["masked"]:
                npy = server.ask("/api/v1/window?" + urllib.parse.urlencode({"file": f"samples/{name}", "path": a["path"], "as": "npy"}))
                assert npy.status == 200 and npy.body == cippus.run("cat", "--to", "npy", file, a["path"] or ".")


def test_answers_are_as_the_schema_says(server):
    """docs/json/serve.schema.json, for every call and every sample."""
    schema, other = (json.loads((ROOT / "docs/json" / f).read_text()) for f in ("serve.schema.json", "cippus.schema.json"))
    registry = Registry().with_resources([("cippus.schema.json", Resource.from_contents(other)), ("serve.schema.json", Resource.from_contents(schema))])
    validators = {k: Draft202012Validator({"$ref": f"serve.schema.json#/$defs/{k}"}, registry=registry) for k in schema["$defs"]}
    seen = set()

    def check(call, status=200, **query):
        document = server.api(call, status, **query)
        validators[call if status == 200 else "error"].validate(document)
        seen.add(call)
        return document

    assert set(check("")["calls"]) - {"window"} <= set(validators)
    check("list")
    for entry in check("list", folder="samples")["entries"]:
        file = f"samples/{entry['name']}"
        if not entry["format"]:
            check("info", 422, file=file)
            continue
        for call in ("info", "tree", "verify"):
            check(call, file=file)
        check("search", file=file, text="e")
        check("tree", 404, file=file, path="no/such")
        for a in check("arrays", file=file)["arrays"]:
            assert set(check("array", file=file, path=a["path"])) - set(check("array", file=file, path=a["path"], brief=1)) == {"node", "attributes", "beside"}
            check("chunks", 200 if a["state"] == "ok" else 422, file=file, path=a["path"], limit=3)
            if a["state"] == "ok" and a["dtype"][:3] in ("int", "flo", "uin"):
                check("stat", file=file, path=a["path"])
    assert seen >= {"", "list", "info", "arrays", "tree", "search", "array", "stat", "chunks", "verify"}


def test_windows(server):
    a = np.arange(1000, dtype="<i4").reshape(20, 50)
    raw = server.ask("/api/v1/window?file=data/a.npy&select=%5B2:9:3,::-1%5D&as=raw")
    assert raw.headers["X-Cippus-Shape"] == "[3, 50]" and raw.body == a[2:9:3, ::-1].tobytes()
    assert server.api("window", file="data/a.npy", select="[3, 4:6]") == [154, 155]
    assert server.api("window", 400, file="data/a.npy", select="[20]")["error"]["code"] == "out of range"
    assert server.api("window", 400, file="data/a.npy", select="[a]")["error"]["status"] == 400
    assert server.api("window", 400, file="data/a.npy", **{"as": "exe"})["error"]["code"] == "bad argument"
    assert server.api("window", 400, file="data/a.npy", colour="red")["error"]["text"].startswith("there is no parameter 'colour'")
    assert server.api("window", 422, file="data/text")["error"]["code"] == "unknown format"
    assert server.api("window", 404, file="data/a.npy", path="x/y")["error"]["code"] == "not found"
    mask = server.ask("/api/v1/window?file=samples/night.asdf&path=masked&as=raw&mask=1")
    assert len(mask.body) == 24 and set(mask.body) == {0, 1}
    assert server.api("window", file="samples/wells.blz", path="depth", select="[:2]") is not None


def test_large_windows_are_refused(cippus, tmp_path):
    cippus.run("convert", "--fill", "1", "--dtype", "float64", "--shape", "100000,10000", "--codec", "zstd", tmp_path / "big.b2nd")
    with served(cippus, tmp_path / "big.b2nd", "--max-memory", "32M") as s:
        error = s.api("window", 413, file="big.b2nd", **{"as": "raw"})["error"]
        assert error["code"] == "limit" and "--max-memory" in error["text"]
        assert s.api("window", 413, file="big.b2nd", select="[:150]")["error"]["code"] == "limit", "JSON is longer than the elements"
        assert s.api("window", file="big.b2nd", select="[-1, -2:]") == [1, 1]
        page = s.api("chunks", file="big.b2nd", limit=2)
        assert len(page["chunks"]) <= 2
        peak = int(next(x for x in open(f"/proc/{s.process.pid}/status") if x.startswith("VmHWM")).split()[1])
        assert peak < 64 * 1024


def test_trees(server):
    top = server.api("tree", file="samples/roman.asdf", path="roman/meta")
    assert [c["node"]["path"] for c in top["children"]][:2] == ["roman/meta/exposure", "roman/meta/filename"]
    second = server.api("tree", file="samples/roman.asdf", path="roman/meta", offset=1, limit=1)
    assert second["total"] == top["total"] and [c["node"]["value"] for c in second["children"]] == ["roman.asdf"]
    found = server.api("search", file="samples/roman.asdf", text="wfi0")
    assert [f["node"]["path"] for f in found["found"]] == ["roman/meta/instrument/detector"] and found["complete"]
    attributes = server.api("array", file="samples/weather.h5", path="temperature")
    assert attributes["axes"] == ["day", "station"] and attributes["attributes"]["units"] == "K"


def test_attributes_beyond_the_limits_are_an_error(cippus, tmp_path):
    """Not null, and not left out: 10 MB of text by aliases, where a tree may take 4 MiB."""
    lines = ["#ASDF 1.0.0", "#ASDF_STANDARD 1.5.0", "%YAML 1.1", "%TAG ! tag:stsci.edu:asdf/", "--- !core/asdf-1.1.0"]
    lines += [f"t0: &t0 {'x' * 1000}"] + [f"t{i}: &t{i} [{', '.join([f'*t{i - 1}'] * 10)}]" for i in range(1, 5)]
    (tmp_path / "a.asdf").write_text("\n".join([*lines, "a: !core/ndarray-1.0.0 [1, 2, 3]", "...", ""]))
    with served(cippus, tmp_path / "a.asdf", "--max-memory", "32M") as s:
        assert s.api("window", file="a.asdf", path="a") == [1, 2, 3]
        for target in ("/zarr/a.asdf/zarr.json", "/api/v1/array?file=a.asdf&path=a"):
            answer = s.ask(target)
            assert answer.status == 413 and set(answer.json) == {"error"}


def test_findings(cippus, tmp_path):
    data = bytearray((SAMPLES / "night.asdf").read_bytes())
    data[-2000] ^= 1
    (tmp_path / "night.asdf").write_bytes(data)
    with served(cippus, tmp_path) as s:
        name = f"{tmp_path.name}/night.asdf"
        told = json.loads(cippus.run("verify", "--json", "--deep", tmp_path / "night.asdf", status=1))
        found = s.api("verify", file=name, deep=1)
        assert found["complete"] and found["bad"] > 0 and found["findings"] == [{**t, "file": name} for t in told]


NUMBERS = ["0", "-1", "1", "1000", "1001", "01", "", "1e3", str(2**62), str(2**63), str(2**64 - 1), str(2**64)]
SELECTIONS = ["[0]", "[-1]", "[...]", "[::-1]", "[0:0]", f"[{2**63 - 1}]", f"[{-(2**63)}]", f"[::{2**63 - 1}]", f"[::{-(2**63)}]", "[0:2, 0:2]",
              "[[0]]", "[None]", "[::0]", "[", "", f"[{', '.join('0' * 40)}]"]
CHUNKS = ["c", "c/0", "c/0/0", "c/0/0/0", f"c/{2**64 - 1}", f"c/{2**62}", "c/-1", "c/00", "zarr.json", ".zattrs", "data/zarr.json", "x"]
STATUSES = {200, 206, 304, 400, 403, 404, 410, 413, 416, 422, 500, 503}


def no_constant(name):
    raise ValueError(f"{name} is no JSON")


def damaged_samples(folder, rng):
    """Each sample that is a file, and copies of it: cut short, or with some bytes changed."""
    for path in sorted(p for p in SAMPLES.iterdir() if p.is_file()):
        data = bytearray(path.read_bytes())
        (folder / path.name).write_bytes(data)
        (folder / f"cut-{path.name}").write_bytes(data[: rng.randrange(len(data))])
        for _ in range(8):
            data[rng.randrange(min(len(data), 4096))] = rng.randrange(256)
        (folder / f"bad-{path.name}").write_bytes(data)


def odd_targets(server, name, rng):
    """Requests about one file, most of which ask for something that is not there."""
    quoted, encode = urllib.parse.quote(name), urllib.parse.urlencode
    arrays = server.api("arrays", status=None, file=name, limit=3).get("arrays", [])
    paths = [a["path"] for a in arrays] + [rng.choice(["", ".", "/", "x/y", "..", "\n", "[0]", "*", "a" * 3000])]
    yield from (f"/api/v1/{call}?" + encode({"file": name}) for call in ("info", "tree", "verify", "list"))
    yield from (f"/refs/{quoted}", f"/files/{quoted}", f"/zarr/{quoted}/zarr.json", f"/zarr/{quoted}/{rng.choice(CHUNKS)}")
    for path in paths:
        where = {"file": name, "path": path}
        yield "/api/v1/array?" + encode(where)
        yield "/api/v1/window?" + encode({**where, "select": rng.choice(SELECTIONS), "as": rng.choice(["json", "npy", "raw", "csv", "text", "x"])})
        yield "/api/v1/stat?" + encode({**where, "select": rng.choice(SELECTIONS)})
        yield "/api/v1/chunks?" + encode({**where, "offset": rng.choice(NUMBERS), "limit": rng.choice(NUMBERS)})
        yield "/api/v1/picture?" + encode({**where, "width": rng.choice(NUMBERS), "height": rng.choice(NUMBERS), "as": rng.choice(["png", "values", "json"])})
        yield f"/zarr/{quoted}/{urllib.parse.quote(path)}/{rng.choice(CHUNKS)}"


def test_odd_requests_about_each_file(cippus, tmp_path):
    rng = random.Random(1)
    damaged_samples(tmp_path, rng)
    with served(cippus, tmp_path, "--max-memory", "64M") as s:
        for file in sorted(os.listdir(tmp_path)):
            for target in odd_targets(s, f"{tmp_path.name}/{file}", rng):
                answer = s.ask(target)
                assert answer.status in STATUSES, (target, answer.status)
                assert b"/proc/self" not in answer.body or target.startswith("/files"), target
                if answer.headers["Content-Type"] == "application/json":
                    document = json.loads(answer.body.decode(), parse_constant=no_constant)
                    assert answer.status == 200 or set(document) == {"error"}, (target, document)


def test_shapes_up_to_the_last_number(cippus, tmp_path):
    """Arrays of nothing but metadata: every element is the fill value, or the array is refused."""
    rng = random.Random(2)
    for i, (shape, chunk) in enumerate([(2**63 - 1, 2**62), (2**63 - 1, 7), (2**62, 2**40), (2**62, 2**62), (2**62 + 1, 2**61), (2**63 - 1, 1)]):
        (tmp_path / f"{i}.zarr").mkdir()
        (tmp_path / f"{i}.zarr" / "zarr.json").write_text(json.dumps({
            "zarr_format": 3, "node_type": "array", "shape": [shape], "data_type": "uint8", "fill_value": 7, "codecs": [{"name": "bytes"}],
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [chunk]}}, "chunk_key_encoding": {"name": "default"}}))
    ends = [None, 0, 1, 2**61, 2**62 - 1, 2**62, 2**62 + 1, 2**63 - 2, 2**63 - 1]
    statuses = set()
    with served(cippus, tmp_path) as s:
        for i in range(300):
            file = f"{tmp_path.name}/{i % 6}.zarr"
            start, stop, step = (rng.choice(ends) for _ in range(3))
            step = (step or 1) * rng.choice([1, -1])
            text = f"[{'' if start is None else start}:{'' if stop is None else stop}:{step}]"
            answer = s.ask("/api/v1/window?" + urllib.parse.urlencode({"file": file, "select": text, "as": "raw"}))
            statuses.add(answer.status)
            if answer.status == 200:
                shape = (2**63 - 1, 2**63 - 1, 2**62, 2**62, 2**62 + 1, 2**63 - 1)[i % 6]
                first, last, by = slice(start, stop, step).indices(shape)
                assert answer.body == b"\7" * max(0, -((first - last) // by)), text
    assert statuses == {200, 413, 422}


# --- clients that mean no good -----------------------------------------------------------------


def connect(server):
    s = socket.create_connection((server.host, server.port), timeout=30)
    return s


def test_idle_connections_keep_nobody_out(cippus, tree):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(10000, hard - 200)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, count + 200), hard))
    with served(cippus, tree) as s:
        idle = []
        try:
            for i in range(count):
                one = connect(s)
                if i % 2:
                    one.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
                idle.append(one)
                if i % 2500 == 2499:
                    began = time.monotonic()
                    assert s.ask("/api/v1").status == 200
                    assert time.monotonic() - began < 2
            assert len(os.listdir(f"/proc/{s.process.pid}/fd")) < 700
        finally:
            for one in idle:
                one.close()
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_downloads_that_stand_still_keep_nobody_out(cippus, tmp_path):
    """With few descriptors, half of which they take."""
    few = tmp_path / "few"
    few.write_text(f"#!/bin/sh\nulimit -n 256\nexec '{os.path.abspath(cippus.path)}' \"$@\"\n")
    few.chmod(0o755)
    with open(tmp_path / "x", "wb") as f:
        f.truncate(64 << 20)
    with served(types.SimpleNamespace(path=few), tmp_path / "x") as s, contextlib.ExitStack() as stack:
        for _ in range(150):
            c = stack.enter_context(socket.socket())
            c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            c.connect((s.host, s.port))
            c.sendall(b"GET /files/x HTTP/1.1\r\nHost: localhost\r\n\r\n")
        end = time.monotonic() + 30
        while True:  # nobody has to go before the downloads have stood still for a while
            try:
                assert s.ask("/api/v1").status == 200
                break
            except ConnectionError:
                assert time.monotonic() < end
                time.sleep(0.2)
        assert s.ask("/files/x", headers={"Range": "bytes=-1"}).body == b"\0"


@pytest.mark.parametrize("request_text", [
    b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 20000 + b"\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 200000 + b"\r\n\r\n",
    b"GET /" + b"a" * 200000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n", b"GET\r\n\r\n", b"\0" * 1000, b"\r\n" * 1000, b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
])
def test_odd_requests_end(server, request_text):
    with connect(server) as s:
        s.settimeout(0.5)  # it may wait for more
        try:
            s.sendall(request_text)
            s.shutdown(socket.SHUT_WR)
            while s.recv(1 << 16):
                pass
        except OSError:
            pass
    assert server.ask("/api/v1").status == 200


HEAD = b"GET /api/v1 HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize("more", [
    b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: xchunked\r\n\r\n", b"Content-Length: 0\r\nContent-Length: 5\r\n\r\nhello", b"Content-Length: 5\r\n\r\nhello",
    b"Content-Length : 5\r\n\r\nhello", b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n", b"Host: evil\r\n\r\n", b"X Y: z\r\n\r\n"])
def test_nothing_is_smuggled(server, more):
    """What a proxy may take for a request's body is never answered as another one."""
    with connect(server) as s:
        s.settimeout(5)
        s.sendall(HEAD + more + b"GET /files/data/a.npy HTTP/1.1\r\nHost: localhost\r\n\r\n")
        got = b""
        with contextlib.suppress(ConnectionResetError):
            while part := s.recv(1 << 16):
                got += part
    assert got.startswith(b"HTTP/1.1 400") and got.count(b"HTTP/1.1 ") == 1


def test_requests_one_after_the_other_on_a_connection(server):
    body = (HEAD + b"Content-Length: 0\r\n\r\n", HEAD.replace(b"GET", b"HEAD") + b"\r\n", HEAD.replace(b"v1", b"v1/list") + b"\r\n")
    with connect(server) as s:
        s.sendall(b"".join(body * 5) + HEAD + b"Connection: close\r\n\r\n")
        got = b""
        while part := s.recv(1 << 16):
            got += part
    assert got.count(b"HTTP/1.1 200") == 16


def test_requests_at_the_same_time(server):
    a = np.arange(1000, dtype="<i4").reshape(20, 50)
    wrong = []

    def ask(k):
        for i in range(20):
            row = (k + i) % 20
            answer = server.ask(f"/api/v1/window?file=data/a.npy&select=%5B{row}%5D&as=raw")
            if answer.body != a[row].tobytes():
                wrong.append((k, i, answer.status, answer.body))

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_kept_connections_never_stall(server):
    """Each of 128 connections asks 40 times; none waits for a time limit."""
    slow = []

    def ask():
        connection = http.client.HTTPConnection(server.host, server.port, timeout=10)
        for i in range(40):
            began = time.monotonic()
            connection.request("GET", "/api/v1/window?file=data/a.npy&as=raw")
            if connection.getresponse().read() != np.arange(1000, dtype="<i4").tobytes() or time.monotonic() - began > 8:
                slow.append(i)
        connection.close()

    threads = [threading.Thread(target=ask) for _ in range(128)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not slow


def test_a_client_that_leaves_costs_nothing(server):
    for _ in range(50):
        with connect(server) as s:
            s.sendall(b"GET /api/v1/verify?file=samples/night.asdf&deep=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert server.ask("/api/v1").status == 200


def test_it_ends_while_it_is_busy(cippus, tree):
    stop = threading.Event()

    def ask(s):
        while not stop.is_set():
            with contextlib.suppress(OSError, http.client.HTTPException):  # once it has ended
                s.ask("/api/v1/window?file=data/a.npy")

    with served(cippus, tree) as s:
        threads = [threading.Thread(target=ask, args=(s,)) for _ in range(16)]
        for t in threads:
            t.start()
        time.sleep(0.5)
    stop.set()
    for t in threads:
        t.join()


def test_wrong_use(cippus, tmp_path):
    for words, text in [(["--bind", "0.0.0.0"], b"requires --public"), (["--port", "65536"], b"65535"), (["--max-memory", "1M"], b"32M")]:
        done = subprocess.run([cippus.path, "serve", tmp_path, *words], capture_output=True, timeout=10)
        assert done.returncode == 2 and text in done.stderr
    done = subprocess.run([cippus.path, "serve", tmp_path / "nothing"], capture_output=True, timeout=10)
    assert done.returncode == 3
