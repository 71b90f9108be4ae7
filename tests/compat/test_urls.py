# SPDX-License-Identifier: BSD-3-Clause
"""Files behind URLs, from servers that do well and servers that do badly."""
import json
import os
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
import zarr
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests" / "support"))
from range_server import KEY, SECRET, TOKEN, Server, signature  # noqa: E402

SAMPLES = ROOT / "samples"
NAMES = ["night.asdf", "roman.asdf", "cube.b2nd", "tide.blp", "complex.ra", "run.npz", "sky.fits", "weather.h5", "stream.asdf"]
IMAGE = np.random.default_rng(1).random((1024, 1024))


@pytest.fixture(autouse=True)
def no_settings(monkeypatch, tmp_path):
    for name in list(os.environ):
        if name.startswith("AWS_") or name.lower().endswith("_proxy") or name in ("CURL_CA_BUNDLE", "SSL_CERT_FILE"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def server():
    with Server(SAMPLES) as made:
        made.files["big.ra"] = raw_of(IMAGE)
        made.files["empty"] = b""
        yield made


def raw_of(array):
    head = np.array([0x7961727261776172, 0, 3, array.itemsize, array.nbytes, array.ndim, *array.shape[::-1]], "<u8")
    return head.tobytes() + array.tobytes()


def files_of(folder, name):
    return {f"{name}/{p.relative_to(folder)}": p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def run(cippus, *words, **env):
    """Its exit status, standard output and error."""
    done = subprocess.run([cippus.path, *map(str, words)], capture_output=True, text=True, env={**os.environ, **env}, timeout=100)
    return done.returncode, done.stdout, done.stderr


def both(cippus, near, url, *verbs, ok=(0,), **env):
    for words in verbs:
        here, there = (run(cippus, words[0], name, *words[1:], **env) for name in (near, url))
        assert here[:2] == there[:2] and here[0] in ok, there


@pytest.mark.parametrize("name", NAMES)
def test_samples_are_read_the_same(cippus, server, name):
    both(cippus, SAMPLES / name, f"{server.url}/files/{name}", ["ls"], ["tree"], ["stat"], ["verify", "--quiet"], ok=(0, 3))
    assert run(cippus, "diff", SAMPLES / name, f"{server.url}/files/{name}")[0] == 0


@pytest.mark.parametrize("kind", ["weak", "bare", "busy", "to/files", "away/files", "once", "to/away/to/files", "slash"])
def test_servers_that_do_it_another_way(cippus, server, kind):
    both(cippus, SAMPLES / "cube.b2nd", f"{server.url}/{kind}/cube.b2nd", ["ls"], ["cat", "[1]"], ["stat"])
    assert run(cippus, "stat", f"{server.url}/{kind}/big.ra")[0] == 0


def test_convert_writes_the_same_file(cippus, server, tmp_path):
    cippus.run("convert", f"{server.url}/files/night.asdf", tmp_path / "far.asdf", "--accept-loss")
    cippus.run("convert", SAMPLES / "night.asdf", tmp_path / "near.asdf", "--accept-loss")
    assert (tmp_path / "far.asdf").read_bytes() == (tmp_path / "near.asdf").read_bytes()


@pytest.mark.filterwarnings("ignore")
def test_folders_of_known_names(cippus, server, tmp_path):
    store = tmp_path / "m.zarr"
    shutil.copytree(SAMPLES / "model.zarr", store)
    zarr.consolidate_metadata(store)
    cippus.run("convert", SAMPLES / "cube.b2nd", tmp_path / "s.b2nd", "--sparse")
    for folder in (store, tmp_path / "s.b2nd", SAMPLES / "prices.bcolz"):
        server.files.update(files_of(folder, folder.name))
        both(cippus, folder, f"{server.url}/files/{folder.name}/", ["stat"])
        both(cippus, folder, f"{server.url}/slash/{folder.name}", ["stat"])


BAD = {  # the message's end; how many requests are made at most
    "noranges": ("does not support range requests", 1),
    "endless": ("does not support range requests", 1),
    "gzip": ("compressed (Content-Encoding)", 1),
    "gzipranges": ("compressed (Content-Encoding)", 1),
    "shifted": ("expected bytes 0 to 65535, the server sent 1 to 65536", 1),
    "nonsense": ("one that cannot be understood", 1),
    "huge": ("one that cannot be understood", 1),
    "unsized": ("does not tell the size", 1),
    "norange206": ("one Content-Range, found none", 1),
    "short": ("closed the connection before the end", 5),
    "less": ("expected 65536 bytes, the server's Content-Length is 65535", 1),
    "more": ("expected 65536 bytes, the server sent more", 1),
    "trailer": ("bytes, the server sent", 2),
    "bomb": ("262144 bytes of headers", 1),
    "longline": ("header", 1),
    "nohttp": ("HTTP/0.9", 1),
    "closed": ("closed the connection", 5),
    "denied": ("403: access is denied", 1),
    "login": ("401: it requires a user and password", 1),
    "down": ("503: it is overloaded or down", 5),
    "later": ("503: it is overloaded or down", 1),
    "loop": ("redirects more than 5 times", 6),
    "tofile": ("redirects to a URL that is not followed", 1),
    "no/such": ("404: there is no such file", 1),
}


@pytest.mark.parametrize("kind", BAD)
def test_servers_that_do_it_badly(cippus, server, kind):
    text, requests = BAD[kind]
    status, out, err = run(cippus, "stat", f"{server.url}/{kind}/big.ra")
    assert status == 3 and text in err and out == "", err
    assert err.count("\n") == 1 and 1 <= sum(server.tries.values()) <= requests


def test_a_size_that_is_too_large_is_found_when_it_matters(cippus, server):
    assert run(cippus, "ls", f"{server.url}/larger/cube.b2nd")[0] == 3


def test_a_file_that_ends_with_the_connection_is_refused(cippus, server):
    """A streamed block that was cut off would look whole."""
    assert "a connection that breaks would look like its end" in run(cippus, "ls", f"{server.url}/untilclosed/stream.asdf")[2]


def test_a_file_that_changes_is_refused(cippus, server):
    for kind in ("changing", "longtag", "foreigntag"):
        status, out, err = run(cippus, "stat", f"{server.url}/{kind}/big.ra")
        assert status == 3 and "file changed since open: its entity tag is another one" in err


def test_an_empty_file(cippus, server):
    assert "an empty file" in run(cippus, "ls", f"{server.url}/files/empty")[2]


def test_no_server_and_no_host(cippus):
    assert "no server answers there" in run(cippus, "ls", "http://127.0.0.1:1/a.asdf")[2]
    for url, text in {"http://": "a URL with a host", "http://a b/": "printable ASCII", "http://x/" + "a" * 9000: "at most 8192 bytes",
                      "gs://a/b": "found another URL", "s3:///b": "no name of a bucket", "file://host/b": "over a network"}.items():  # fmt: skip
        assert text in run(cippus, "ls", url)[2], url


def test_credentials_are_sent_to_the_host_alone_and_never_shown(cippus, server):
    secret = server.url.replace("//", "//ada:se%3Acret@")
    status, out, err = run(cippus, "ls", "--trace", f"{secret}/login/cube.b2nd?token=hidden")
    assert status == 0, err
    status, out, more = run(cippus, "ls", f"{secret}/away/login/cube.b2nd?token=hidden")  # to another host
    assert status == 3 and "401" in more
    status, out, other = run(cippus, "verify", f"{secret}/files/nothing?token=hidden")
    assert status == 3
    for text in (err, more, other):
        assert "cret" not in text and "hidden" not in text, text


def test_tls(cippus, server, tmp_path):
    pem = tmp_path / "both.pem"
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    if shutil.which("openssl") is None or subprocess.run(["openssl", *words.split(), "-keyout", pem, "-out", tmp_path / "own.pem"]).returncode != 0:
        pytest.skip("no openssl")
    with open(pem, "a") as f:
        f.write((tmp_path / "own.pem").read_text())
    with Server(SAMPLES, certificate=pem) as secure:
        url, known = f"{secure.url}/files/cube.b2nd", {"CURL_CA_BUNDLE": str(tmp_path / "own.pem")}
        both(cippus, SAMPLES / "cube.b2nd", url, ["stat"], **known)
        both(cippus, SAMPLES / "cube.b2nd", url, ["stat"], SSL_CERT_FILE=known["CURL_CA_BUNDLE"])
        both(cippus, SAMPLES / "cube.b2nd", "s3://public/cube.b2nd", ["stat"], AWS_CA_BUNDLE=known["CURL_CA_BUNDLE"], **s3_of(secure))
        assert "certificate" in run(cippus, "stat", url)[2]  # by nobody that is known
        assert "certificate" in run(cippus, "stat", url.replace("localhost", "127.0.0.1"), **known)[2]
        plain = server.url.removeprefix("http://")
        status, out, err = run(cippus, "stat", f"{secure.url}/redirect/{plain}/files/cube.b2nd", **known)
        assert "from https to http" in err and server.seen == []


def test_urls_are_not_written_to(cippus, server):
    url = f"{server.url}/files/night.asdf"
    for words in (["set", url, "a", "1"], ["rm", url, "counts"], ["append", url, "counts", SAMPLES / "complex.ra"], ["resize", url, "counts", "1,1"], ["defrag", url]):
        status, out, err = run(cippus, *words)
        assert status in (2, 3) and "can be read, but not written to" in err, (words, err)
    status, out, err = run(cippus, "convert", SAMPLES / "complex.ra", f"{server.url}/files/new.ra")
    assert status == 3 and "can be read, but not written to" in err
    assert not any(method != "GET" for method, *_ in server.seen)


def test_raw_and_csv_are_files_of_this_machine(cippus, server):
    server.files.update({"a.csv": b"a,b\n1,2\n", "a.raw": bytes(80)})
    for words in (["a.csv"], ["a.raw", "--dtype", "f8", "--shape", "10"]):
        status, out, err = run(cippus, "cat", f"{server.url}/files/{words[0]}", *words[1:])
        assert status == 3 and "raw bytes and csv are not read from URLs" in err


def test_requests(cippus, server, tmp_path):
    """How many, and how many bytes."""
    np.save(tmp_path / "a.npy", IMAGE)
    cippus.run("convert", tmp_path / "a.npy", tmp_path / "a.b2nd", "--codec", "zstd:1", "--chunks", "64,1024", "--blocks", "64,256")
    cippus.run("convert", tmp_path / "a.npy", tmp_path / "a.asdf", "--codec", "blsc")
    for name, opening, window in (("a.b2nd", 3, 2), ("a.asdf", 3, 2), ("a.npy", 1, 1)):
        server.files[name] = (tmp_path / name).read_bytes()
        server.seen.clear()
        cippus.run("ls", f"{server.url}/files/{name}")
        print(name, "open:", server.seen)
        assert len(server.seen) <= opening
        before = len(server.seen)
        server.seen.clear()
        near, far = (cippus.run("cat", where, "[70:80, 70:80]") for where in (tmp_path / name, f"{server.url}/files/{name}"))
        print(name, "window:", server.seen)
        assert near == far and len(server.seen) <= before + window


def test_requests_for_many_small_chunks(cippus, server, tmp_path):
    """They come by hundreds, not by a few."""
    np.save(tmp_path / "a.npy", IMAGE)
    cippus.run("convert", tmp_path / "a.npy", tmp_path / "a.b2nd", "--codec", "zstd:1", "--chunks", "32,32")
    server.files["a.b2nd"] = (tmp_path / "a.b2nd").read_bytes()
    server.seen.clear()
    assert cippus.run("cat", "--to", "raw", f"{server.url}/files/a.b2nd") == IMAGE.tobytes()
    assert len(server.seen) <= 8


def test_one_word(cippus, server, tmp_path):
    """FILE/PATH[SLICE] as of files here, and without a request more than FILE PATH [SLICE]."""
    store = tmp_path / "m.zarr"
    cippus.run("convert", SAMPLES / "model.zarr", store)
    server.files.update(files_of(store, "a.h5/m.zarr"))
    night, cube = SAMPLES / "night.asdf", SAMPLES / "cube.b2nd"
    for near, url, joined, words in (
        (night, "night.asdf", ["night.asdf/image[0:2,1]"], ["image", "[0:2,1]"]),
        (night, "night.asdf", ["night.asdf/image"], ["image"]),
        (night, "night.asdf", ["night.asdf", "image[0:2]"], ["image", "[0:2]"]),
        (night, "night.asdf?a=b/c", ["night.asdf/image?a=b/c[1:3]"], ["image", "[1:3]"]),
        (cube, "cube.b2nd", ["cube.b2nd[0]"], ["[0]"]),
        (cube, "cube.b2nd?x", ["cube.b2nd?x[0]"], ["[0]"]),
        (cube, "cube.b2nd", ["cube.b2nd", "0:2"], ["[0:2]"]),
        (store, "a.h5/m.zarr/", ["a.h5/m.zarr/wind[0]"], ["wind", "[0]"]),
        (store, "a.h5/m.zarr/", ["a.h5/m.zarr/", "time"], ["time"]),
    ):
        expected = cippus.run("cat", near, *words)
        requests = []
        for there in ([url, *words], joined):
            server.seen.clear()
            assert cippus.run("cat", f"{server.url}/files/{there[0]}", *there[1:]) == expected
            requests.append(len(server.seen))
        assert requests[0] == requests[1]
    for word, text in {"night.asdf/nothing[0]": "no node 'nothing'", "none.asdf/image": "none.asdf: not found", "none/x[0]": "none/x: not found"}.items():
        assert text in run(cippus, "cat", f"{server.url}/files/{word}")[2]
    cippus.run("convert", f"{server.url}/files/night.asdf/image", tmp_path / "a.npy", "--accept-loss")
    assert np.load(tmp_path / "a.npy").shape == (128, 160)


# --- S3


def s3_of(server, **more):
    return {"AWS_ENDPOINT_URL": f"{server.url}/s3", **more}


KEYS = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": TOKEN}


def test_the_server_signs_as_amazon_does():
    """The example of a GET with a range in Amazon's description of signatures, version 4."""
    canonical = "GET\n/test.txt\n\nhost:examplebucket.s3.amazonaws.com\nrange:bytes=0-9\n" \
        "x-amz-content-sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\nx-amz-date:20130524T000000Z\n\n" \
        "host;range;x-amz-content-sha256;x-amz-date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # fmt: skip
    found = signature("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "k/20130524/us-east-1/s3/aws4_request", "20130524T000000Z", canonical)
    assert found == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"


def test_s3_anonymous_and_signed(cippus, server):
    server.files["a b/ü+%'(1)~.b2nd"] = (SAMPLES / "cube.b2nd").read_bytes()
    for bucket, keys in (("public", {}), ("public", KEYS), ("private", KEYS)):
        env = s3_of(server, **keys)
        both(cippus, SAMPLES / "cube.b2nd", f"s3://{bucket}/cube.b2nd", ["stat"], **env)
        both(cippus, SAMPLES / "cube.b2nd", f"s3://{bucket}/a b/ü+%'(1)~.b2nd", ["stat"], **env)
        server.seen.clear()
        both(cippus, SAMPLES / "cube.b2nd", f"s3://{bucket}/cube.b2nd?versionId=a/b+c=", ["cat", "[0]"], **env)
        assert all(path.endswith("/cube.b2nd?versionId=a%2Fb%2Bc%3D") for _, path, *_ in server.seen)
    status, out, err = run(cippus, "ls", "--trace", "s3://private/cube.b2nd", **s3_of(server))
    assert status == 3 and "403: access is denied (AccessDenied); the request was anonymous" in err
    for name in ("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"):
        err = run(cippus, "ls", "s3://private/cube.b2nd", **s3_of(server, **{name: "x"}))[2]
        assert f"keys that {name} leads to are not looked up" in err and err.endswith("export-credentials' prints\n"), err
    assert run(cippus, "ls", "s3://public/cube.b2nd", **s3_of(server, AWS_CONTAINER_CREDENTIALS_RELATIVE_URI="/x"))[0] == 0
    err = run(cippus, "ls", "s3://private/cube.b2nd", **s3_of(server, **{**KEYS, "AWS_SESSION_TOKEN": "old"}))[2]
    assert "(AccessDenied)" in err and "anonymous" not in err
    status, out, err = run(cippus, "ls", "--trace", "s3://private/cube.b2nd", **s3_of(server, **KEYS, AWS_NO_SIGN_REQUEST="YES"))
    assert status == 3 and "403" in err
    status, out, err = run(cippus, "ls", "--trace", "s3://private/nothing.b2nd", **s3_of(server, **KEYS))
    assert status == 3 and "404" in err
    assert not any(part in err for part in (KEY, SECRET, TOKEN))


def test_s3_is_not_followed_to_other_hosts(cippus, server):
    status, out, err = run(cippus, "stat", "s3://moved/cube.b2nd", **s3_of(server, **KEYS))
    assert status == 3 and "307" in err and len(server.seen) == 1


def test_s3_settings_of_files(cippus, server, tmp_path):
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text(
        f"# ours\n[default]\naws_access_key_id = wrong\naws_secret_access_key = wrong\n\n[survey]\n"
        f"aws_access_key_id={KEY}\naws_secret_access_key =  {SECRET} \naws_session_token = {TOKEN}\n[role]\n"
    )
    (tmp_path / ".aws" / "config").write_text(
        f"[default]\nregion = eu-west-1\n[profile survey]\nregion = eu-central-1\nendpoint_url = {server.url}/s3\ns3 =\n  region = no\n"
        "[profile role]\nrole_arn = arn:aws:iam::1:role/x\n"
    )
    both(cippus, SAMPLES / "cube.b2nd", "s3://private/cube.b2nd", ["stat"], AWS_PROFILE="survey")
    assert "there is no profile 'nobody'" in run(cippus, "ls", "s3://private/cube.b2nd", AWS_PROFILE="nobody")[2]
    assert "'aws configure export-credentials' prints" in run(cippus, "ls", "s3://private/cube.b2nd", AWS_PROFILE="role")[2]
    assert run(cippus, "ls", "s3://private/cube.b2nd", **s3_of(server))[0] == 3  # the default's keys are wrong
    assert "its secret" in run(cippus, "ls", "s3://private/cube.b2nd", **s3_of(server, AWS_ACCESS_KEY_ID=KEY))[2]


def test_s3_folders(cippus, server, tmp_path):
    cippus.run("convert", SAMPLES / "cube.b2nd", tmp_path / "s.b2nd", "--sparse")
    shutil.copytree(SAMPLES / "model.zarr", tmp_path / "m.zarr")
    for path in tmp_path.rglob("zarr.json"):  # no metadata of all in one
        found = json.loads(path.read_text())
        if found.pop("consolidated_metadata", None) is not None:
            path.write_text(json.dumps(found))
    folders = [SAMPLES / "wells.blz", SAMPLES / "prices.bcolz", SAMPLES / "model.zarr", tmp_path / "s.b2nd", tmp_path / "m.zarr"]
    for folder in folders:
        server.files.update(files_of(folder, f"in/{folder.name}"))
        for url in (f"s3://private/in/{folder.name}", f"s3://private/in/{folder.name}/"):
            both(cippus, folder, url, ["ls"], ["stat"], **s3_of(server, **KEYS))


@pytest.mark.filterwarnings("ignore")
def test_s3_lists_of_servers_that_do_it_badly(cippus, server, tmp_path):
    group = zarr.open_group(tmp_path / "g.zarr", mode="w")
    for name in ("a+b%41", "c d", "e", "f", "g"):
        group.create_array(name, data=np.arange(5))
    server.files.update(files_of(tmp_path / "g.zarr", "g.zarr"))
    for bucket in ("public", "bare"):
        both(cippus, tmp_path / "g.zarr", f"s3://{bucket}/g.zarr/", ["ls"], ["stat"], **s3_of(server))
    for bucket, text in {"circle": "one that was there before", "flood": "at most 8388608 bytes", "packed": "not compressed"}.items():
        server.seen.clear()
        status, out, err = run(cippus, "ls", f"s3://{bucket}/g.zarr/", **s3_of(server))
        assert status == 3 and text in err and len(server.seen) < 40, err


# --- kept on disk


def nbytes(server):
    n = sum(sent for *_, sent in server.seen)
    server.seen.clear()
    return n


def test_cache(cippus, server, tmp_path):
    url, cache = f"{server.url}/files/big.ra", tmp_path / "kept"
    words = ["cat", "--to", "raw", url, "--cache", cache]
    assert cippus.run(*words, "[100:103]") == IMAGE[100:103].tobytes()
    assert nbytes(server) < 400_000
    assert cippus.run(*words) == IMAGE.tobytes()
    assert nbytes(server) > 8_000_000
    assert cippus.run(*words) == IMAGE.tobytes() and nbytes(server) == 65536  # asked whether it is the same
    assert cippus.run(*words, "[1000:, 5]") == IMAGE[1000:, 5].tobytes() and nbytes(server) == 65536
    (name,) = os.listdir(cache)
    path = cache / name
    assert cache.stat().st_mode & 0o777 == 0o700 and path.stat().st_mode & 0o777 == 0o600
    server.files["big.ra"] = raw_of(IMAGE + 1)  # another version
    assert cippus.run(*words) == (IMAGE + 1).tobytes() and nbytes(server) > 8_000_000
    server.files["big.ra"] = raw_of(IMAGE)
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    for i in range(30):  # whatever is wrong with it
        damaged = bytearray(whole)
        for at in rng.integers(0, len(whole) if i % 3 else 40_000, 1 + i):
            damaged[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged[: len(whole) - (i % 2) * int(rng.integers(len(whole)))])
        assert cippus.run(*words) == IMAGE.tobytes()


def test_cache_of_others_and_of_no_use(cippus, server, tmp_path):
    url, cache = f"{server.url}/files/big.ra", tmp_path / "kept"
    cache.mkdir()
    cache.chmod(0o777)
    assert "nobody else can write to" in run(cippus, "stat", url, "--cache", cache)[2]
    cache.chmod(0o700)
    for kind in ("weak", "bare"):  # versions that cannot be told apart
        cippus.run("stat", f"{server.url}/{kind}/big.ra", "--cache", cache)
        assert os.listdir(cache) == []
    cippus.run("stat", url, "--cache", cache)
    (name,) = os.listdir(cache)
    (tmp_path / "victim").write_bytes(b"precious")
    for make in (os.symlink, os.link):
        (cache / name).unlink()
        make(tmp_path / "victim", cache / name)
        cippus.run("stat", url, "--cache", cache)
        assert (tmp_path / "victim").read_bytes() == b"precious"
    (cache / name).unlink()
    os.mkfifo(cache / name)
    cippus.run("stat", url, "--cache", cache)
    assert run(cippus, "stat", url, "--cache", tmp_path / "no" / "folder")[0] == 3
    secret = server.url.replace("//", "//ada:se%3Acret@")
    cippus.run("stat", f"{secret}/login/big.ra?sig=hidden", "--cache", cache)
    assert not any(word in p.read_bytes() for p in cache.iterdir() for word in (b"hidden", b"cret"))


def test_a_server_without_ranges_is_copied_into_the_cache(cippus, server, tmp_path):
    url, cache = f"{server.url}/noranges/big.ra", tmp_path / "kept"
    words = ["cat", "--to", "raw", url, "--cache", cache]
    for i in range(3):
        assert cippus.run(*words) == IMAGE.tobytes()
        assert len(server.seen) == (2 if i == 0 else 1)
        server.seen.clear()
    (name,) = os.listdir(cache)
    with open(cache / name, "r+b") as f:
        f.seek(1_000_000)
        f.write(b"damage")
    assert cippus.run(*words, "[5]") == IMAGE[5].tobytes() and len(server.seen) == 2
    server.files["big.ra"] = raw_of(IMAGE + 1)
    assert cippus.run(*words) == (IMAGE + 1).tobytes()
    status, out, err = run(cippus, *words, "--cache-size", "1M")
    assert status == 3 and "bytes do not fit the cache" in err
    assert "range requests" in run(cippus, "stat", f"{server.url}/endless/big.ra", "--cache", cache)[2]
    assert "nor gives a strong entity tag" in run(cippus, "stat", f"{server.url}/untagged/big.ra", "--cache", cache)[2]


def test_cache_of_a_bucket_at_two_endpoints(cippus, server, tmp_path, monkeypatch):
    """The same bucket, key, size, tag and time; other bytes."""
    for name, image in (("one", IMAGE), ("two", IMAGE + 1)):
        server.files[name] = raw_of(image)
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"{server.url}/as/{name}")
        assert cippus.run("cat", "--to", "raw", "s3://bucket/big", "--cache", tmp_path / "kept") == image.tobytes()


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small disk")
def test_cache_on_a_full_disk(cippus, server, tmp_path):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", tmp_path]).returncode != 0:
        pytest.skip("no mounts here")
    try:
        for _ in range(2):
            assert cippus.run("cat", "--to", "raw", f"{server.url}/files/big.ra", "--cache", tmp_path / "kept") == IMAGE.tobytes()
        with open(tmp_path / "rest", "wb", buffering=0) as f, pytest.raises(OSError):
            while True:
                f.write(bytes(4096))
        assert "no file can be made in the cache" in run(cippus, "stat", f"{server.url}/noranges/big.ra", "--cache", tmp_path / "kept")[2]
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_cache_is_bounded(cippus, server, tmp_path):
    cache = tmp_path / "kept"
    for i in range(5):
        server.files[f"{i}.ra"] = raw_of(IMAGE[: 200 + i])
        cippus.run("stat", f"{server.url}/files/{i}.ra", "--cache", cache, "--cache-size", "4M")
        assert sum(p.stat().st_blocks * 512 for p in cache.iterdir()) <= 4 << 20
    nbytes(server)
    cippus.run("stat", f"{server.url}/files/4.ra", "--cache", cache, "--cache-size", "4M")
    assert nbytes(server) == 65536
    cippus.run("stat", f"{server.url}/files/big.ra", "--cache", cache, "--cache-size", "4M")  # more than fits
    assert sum(p.stat().st_blocks * 512 for p in cache.iterdir()) <= 4 << 20


def test_cache_of_many_processes_that_are_killed(cippus, server, tmp_path):
    words = [cippus.path, "cat", "--to", "raw", f"{server.url}/files/big.ra", "--cache", str(tmp_path / "kept")]
    for i in range(6):
        running = [subprocess.Popen(words, stdout=subprocess.DEVNULL) for _ in range(3)]
        time.sleep(0.02 + 0.02 * i)
        for process in running:
            process.kill()
            process.wait()
        assert subprocess.run(words, capture_output=True, check=True).stdout == IMAGE.tobytes()
