# SPDX-License-Identifier: BSD-3-Clause
"""BLZ as its document describes it, which no program ever wrote: folders made by blz_document.py are read."""
import json
import os
import struct
import subprocess

import blz_document as blz
import numpy as np
import pytest

CIPPUS = os.environ["CIPPUS"]
NUMBERS = np.arange(1000, dtype="<f8") / 3
PRINTED = b"{'dtype': 'float64', 'shape': [1024], 'others': []}"
NESTED = np.dtype([("id", "<i4"), ("p", [("x", ">f4"), ("y", "<i2", (2,))], (3,)), ("label", "S5"), ("big", "V300")])


def nested(n):
    a = np.zeros(n, NESTED)
    a["id"] = np.arange(n)
    a["p"]["x"] = np.arange(n * 3).reshape(n, 3) / 7
    a["p"]["y"] = np.arange(n * 6).reshape(n, 3, 2)
    a["label"] = [f"r{i % 999}" for i in range(n)]
    a["big"] = [bytes([i % 256]) * 300 for i in range(n)]
    return a


def run(*argv, status=0):
    p = subprocess.run([CIPPUS, *map(str, argv)], capture_output=True)
    assert p.returncode == status, p.stderr.decode()
    return p.stdout


def packed(a):
    """As `cat --to raw` gives it: little-endian, without padding."""
    return a.astype(a.dtype.newbyteorder("<")).tobytes()


def check(root, array, *options):
    assert run("cat", *options, "--to", "raw", root) == packed(array)
    run("cat", *options, "--check", "--to", "raw", root)
    lo, hi = len(array) // 3, len(array) // 3 + 7
    assert run("cat", *options, "--to", "raw", root, ".", f"[{lo}:{hi}]") == packed(array[lo:hi])
    out = run("verify", "--deep", *options, root).decode()
    assert out.endswith(": ok\n"), out


TREES = {
    "plain": {},
    "keyless": {"key": False},
    "no-offsets": {"offsets": False},
    "metadata": {"metadata": b'{"a": [1, 2]}'},
    "printed-metadata": {"metadata": PRINTED},
    "empty-metadata": {"metadata": b""},
    "metadata-without-offsets": {"metadata": PRINTED, "offsets": False},
    "final-version-3": {"metadata": b'{"a": 1}', "final": True, "free": 4},
    "free-offsets": {"free": 3},
    "spare": {"spare": 40},
    "spare-without-offsets": {"spare": 1000, "offsets": False},
    "spare-of-anything": {"spare": 33, "garbage": b"x"},
    "unknown-sizes": {"chunk_size": -1, "last": -1},
    "unknown-last": {"last": -1},
    "streamed": {"nchunks": -1, "chunk_size": -1, "last": -1, "offsets": False},
    "streamed-keyless": {"nchunks": -1, "chunk_size": -1, "last": -1, "offsets": False, "key": False},
    "unknown-sizes-keyless": {"chunk_size": -1, "key": False},
    "everything": {"metadata": PRINTED, "checksum": 6, "spare": 64, "attributes": {"k": [1, None]}},
    "one-chunk-each": {"per": 1},
    "all-in-one": {"per": 100},
    "lz4": {"cname": "lz4"},
    "zlib": {"cname": "zlib"},
    "zstd": {"cname": "zstd"},
    **{f"digest-{i}": {"checksum": i} for i in range(1, 9)},
    **{f"digest-{i}-walked": {"checksum": i, "offsets": False, "spare": 7} for i in (1, 5, 8)},
}


@pytest.mark.parametrize("name", TREES)
def test_every_option_decodes(tmp_path, name):
    blz.write(tmp_path / "a", NUMBERS, **TREES[name])
    check(tmp_path / "a", NUMBERS)


def test_offsets_that_were_never_written_are_told(tmp_path):
    blz.write(tmp_path / "a", NUMBERS, unset=True, spare=12)
    assert run("cat", "--to", "raw", tmp_path / "a") == packed(NUMBERS)
    assert "3 of 3 offsets were never written" in run("verify", tmp_path / "a", status=1).decode()


ARRAYS = {
    "2d": np.arange(600, dtype="<i2").reshape(60, 10),
    "big-endian": np.arange(300, dtype=">i4"),
    "text": np.array([f"s{i}" for i in range(300)], "S6"),
    "unicode": np.array([f"\u00e9{i}" for i in range(300)], "<U5"),
    "times": np.arange(300).astype("M8[ns]"),
    "records": np.array([(i, i / 2) for i in range(300)], [("a", "<i4"), ("b", ">f8")]),
    "nested": nested(301),
    "records-2d": nested(120).reshape(40, 3),
    "empty": np.zeros(0, "<i4"),
    "one": np.array([7], "u1"),
    "names": np.array([(i, i) for i in range(250)], [("a/b", "<i4"), ("..", "u1")]),
}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("key", [True, False])
def test_every_type_decodes(tmp_path, name, key):
    blz.write(tmp_path / "a", ARRAYS[name], chunklen=17, key=key, checksum=2)
    check(tmp_path / "a", ARRAYS[name])


def test_fields_are_read_by_themselves(tmp_path):
    a = nested(301)
    blz.write(tmp_path / "a", a, chunklen=20)
    assert run("cat", "--to", "raw", tmp_path / "a", "p/x") == packed(a["p"]["x"])
    for f in (tmp_path / "a/data/id").iterdir():
        f.unlink()
    assert run("cat", "--to", "raw", tmp_path / "a", "label") == packed(a["label"])
    run("cat", "--to", "raw", tmp_path / "a", "id", status=3)


def test_chunks_of_any_number_of_rows(tmp_path):
    blz.write(tmp_path / "a", NUMBERS[:0], key=False)
    rows, at, n = [3, 50, 1, 446, 200, 300], 0, 0
    for group in (rows[:2], rows[2:3], [], rows[3:]):
        n += 1
        raws = []
        for k in group:
            raws.append(NUMBERS[at:at + k].tobytes())
            at += k
        data, _ = blz.superchunk(raws, 8, chunk_size=-1, last=-1)
        (tmp_path / f"a/data/__{n}__.bin").write_bytes(data)
    assert at == len(NUMBERS)
    (tmp_path / "a/meta/sizes").write_text(json.dumps({"shape": [1000], "nbytes": 8000}))
    check(tmp_path / "a", NUMBERS)


def test_a_superchunk_of_nothing_is_read(tmp_path):
    blz.write(tmp_path / "a", NUMBERS[:0])
    data, _ = blz.superchunk([b""], 8)
    (tmp_path / "a/data/__1__.bin").write_bytes(data)
    (tmp_path / "a/meta/sizes").write_text('{"shape": [0], "nbytes": 0, "cbytes": 16}')
    check(tmp_path / "a", NUMBERS[:0])


def test_attributes_and_unknown_files_are_shown(tmp_path):
    blz.write(tmp_path / "a", NUMBERS, attributes={"coords": {"lat": 40.1}})
    (tmp_path / "a/meta/history").write_text('["made"]')
    tree = json.loads(run("tree", "--json", tmp_path / "a"))
    assert tree == {"attributes": {"coords": {"lat": 40.1}}, "meta": {"history": ["made"]}}
    assert "superchunks, 4 files" in run("info", tmp_path / "a").decode()


def test_chunks_are_listed_with_their_files(tmp_path):
    blz.write(tmp_path / "a", NUMBERS, checksum=2)
    chunks = json.loads(run("info", "--chunks", "--json", tmp_path / "a"))[0]["arrays"][0]["chunks"]
    assert [c["member"] for c in chunks] == [f"data/__{i // 3 + 1}__.bin" for i in range(10)]
    assert chunks[3]["checksum_kind"] == "crc32"


def test_what_is_converted_is_equal(tmp_path):
    a = nested(301)
    blz.write(tmp_path / "a", a)
    run("convert", tmp_path / "a", tmp_path / "a.npy")
    assert packed(np.load(tmp_path / "a.npy")) == packed(a)


# --- shards ---------------------------------------------------------------------------------------


def sharded(tmp_path, array, how, **options):
    """The array's folder, whose superchunks lie in three others; the option that names them."""
    root = tmp_path / "a"
    inside = how == "under"
    shards = [(root if inside else tmp_path) / f"part{i}" for i in range(3)]
    blz.write(root, array, shards=shards, **options)
    if how == "listed":
        (root / "meta/shards").write_text(json.dumps([f"../part{i}" for i in range(3)]))
    return root, shards, {"under": [], "listed": ["--allow-external"],
                          "named": ["--shards", ":".join(map(str, shards))]}[how]


@pytest.mark.parametrize("key", [True, False])
@pytest.mark.parametrize("how", ["under", "listed", "named"])
def test_shards_are_one_array(tmp_path, how, key):
    root, _, options = sharded(tmp_path, NUMBERS, how, key=key, checksum=2)
    check(root, NUMBERS, *options)


def test_shards_of_records(tmp_path):
    root, _, options = sharded(tmp_path, nested(301), "named", chunklen=10)
    check(root, nested(301), *options)


def test_a_lost_shard_is_told_by_range_and_the_rest_is_read(tmp_path):
    root, shards, options = sharded(tmp_path, NUMBERS, "named")
    for f in (shards[1] / "data").iterdir():
        f.unlink()
    assert run("cat", *options, "--to", "raw", root, ".", "[:300]") == packed(NUMBERS[:300])
    assert run("cat", *options, "--to", "raw", root, ".", "[600:]") == packed(NUMBERS[600:])
    run("cat", *options, "--to", "raw", root, ".", "[300:301]", status=3)
    assert "rows 300 to 599 are missing" in run("verify", *options, root, status=1).decode()


def test_a_range_opens_only_the_files_that_hold_it(tmp_path):
    root, shards, options = sharded(tmp_path, NUMBERS, "named")
    for n in (1, 3, 4):
        for s in shards:
            file = s / f"data/__{n}__.bin"
            if file.exists():
                file.write_bytes(b"")
    assert run("cat", *options, "--to", "raw", root, ".", "[350:550]") == packed(NUMBERS[350:550])


def test_without_the_number_of_chunks_files_are_opened_as_far_as_needed(tmp_path):
    blz.write(tmp_path / "a", NUMBERS, key=False)
    (tmp_path / "a/data/__4__.bin").write_bytes(b"")
    assert run("cat", "--to", "raw", tmp_path / "a", ".", "[350:900]") == packed(NUMBERS[350:900])
    run("cat", "--to", "raw", tmp_path / "a", ".", "[899:901]", status=3)


def test_two_files_of_one_number_are_named(tmp_path):
    root, shards, options = sharded(tmp_path, NUMBERS, "under")
    copy = shards[2] / "data/__1__.bin"
    copy.write_bytes((shards[0] / "data/__1__.bin").read_bytes())
    p = subprocess.run([CIPPUS, "info", root], capture_output=True)
    assert p.returncode == 3 and b"part0/data/__1__.bin" in p.stderr and b"part2/data/__1__.bin" in p.stderr
    copy.unlink()
    os.link(shards[0] / "data/__1__.bin", copy)
    check(root, NUMBERS)


@pytest.mark.parametrize("path", ["../part0", "/etc", "part0/../../part0"])
def test_listed_shards_stay_beneath_unless_it_is_allowed(tmp_path, path):
    root, _, _ = sharded(tmp_path, NUMBERS, "named")
    (root / "meta/shards").write_text(json.dumps([path]))
    assert run("info", root, status=3) == b""


def test_a_shard_that_is_missing_is_refused(tmp_path):
    root, _, _ = sharded(tmp_path, NUMBERS, "named")
    run("info", "--shards", tmp_path / "gone", root, status=3)


def test_a_shard_without_data_has_no_chunks(tmp_path):
    """It is named in a warning; what the others lack is missing as before."""
    root, _, _ = sharded(tmp_path, NUMBERS, "named")
    (tmp_path / "empty").mkdir()
    alone = run("verify", root, status=1)
    assert run("verify", "--shards", tmp_path / "empty", root, status=1).count(b"missing") >= alone.count(b"missing")


# --- what is missing or wrong ---------------------------------------------------------------------


def test_a_missing_superchunk_costs_its_rows(tmp_path):
    blz.write(tmp_path / "a", NUMBERS)
    (tmp_path / "a/data/__2__.bin").unlink()
    assert run("cat", "--to", "raw", tmp_path / "a", ".", "[:300]") == packed(NUMBERS[:300])
    assert run("cat", "--to", "raw", tmp_path / "a", ".", "[600:]") == packed(NUMBERS[600:])
    run("cat", "--to", "raw", tmp_path / "a", ".", "[299:301]", status=3)
    assert "rows 300 to 599 are missing" in run("verify", tmp_path / "a", status=1).decode()


def test_without_the_number_of_chunks_all_behind_it_is_missing(tmp_path):
    blz.write(tmp_path / "a", NUMBERS, key=False)
    (tmp_path / "a/data/__2__.bin").unlink()
    assert run("cat", "--to", "raw", tmp_path / "a", ".", "[:300]") == packed(NUMBERS[:300])
    run("cat", "--to", "raw", tmp_path / "a", ".", "[600:]", status=3)
    assert "rows 300 to 999 are missing" in run("verify", tmp_path / "a", status=1).decode()


@pytest.mark.parametrize("key", [True, False])
def test_more_rows_than_sizes_says_are_a_warning(tmp_path, key):
    blz.write(tmp_path / "a", NUMBERS, key=key)
    (tmp_path / "a/meta/sizes").write_text(json.dumps({"shape": [430], "nbytes": 3440}))
    assert run("cat", "--to", "raw", tmp_path / "a") == packed(NUMBERS[:430])
    assert "1000 rows are stored, 570 more" in run("verify", tmp_path / "a", status=1).decode()


@pytest.mark.parametrize("key", [True, False])
def test_fewer_rows_than_sizes_says_are_missing(tmp_path, key):
    blz.write(tmp_path / "a", NUMBERS[:950], key=key)
    (tmp_path / "a/meta/sizes").write_text(json.dumps({"shape": [1400], "nbytes": 11200}))
    assert run("cat", "--to", "raw", tmp_path / "a", ".", "[:950]") == packed(NUMBERS[:950])
    run("cat", "--to", "raw", tmp_path / "a", ".", "[940:960]", status=3)
    assert "missing" in run("verify", tmp_path / "a", status=1).decode()


def test_a_changed_byte_is_a_wrong_digest(tmp_path):
    blz.write(tmp_path / "a", NUMBERS, checksum=7)
    file = tmp_path / "a/data/__2__.bin"
    data = bytearray(file.read_bytes())
    data[struct.unpack_from("<q", data, 32)[0] + 60] ^= 1
    file.write_bytes(data)
    run("cat", "--to", "raw", tmp_path / "a", ".", "[300:310]", status=3)
    assert run("cat", "--to", "raw", tmp_path / "a", ".", "[400:410]") == packed(NUMBERS[400:410])
    assert "the sha384 stored after them" in run("verify", tmp_path / "a", status=1).decode()


def test_a_wrong_cbytes_is_a_finding(tmp_path):
    blz.write(tmp_path / "a", NUMBERS)
    (tmp_path / "a/meta/sizes").write_text(json.dumps({"shape": [1000], "nbytes": 8000, "cbytes": 5}))
    assert "it records 5 bytes of chunks" in run("verify", tmp_path / "a", status=1).decode()
    assert run("cat", "--to", "raw", tmp_path / "a") == packed(NUMBERS)


@pytest.mark.parametrize("at, byte, word", [
    (4, 9, "version 1, 2 or 3, found 9"), (4, 2, "expected version 3, found 2"), (5, 0x81, "0x81"), (6, 77, "77"),
    (0, 0, "magic"), (23, 0x80, "chunks"), (28, 1, "zero bytes"), (11, 0x70, "chunk"),
])
def test_headers_that_lie_are_refused(tmp_path, at, byte, word):
    blz.write(tmp_path / "a", NUMBERS, metadata=b"{}" if at == 28 else None)
    file = tmp_path / "a/data/__1__.bin"
    data = bytearray(file.read_bytes())
    data[at] = byte
    file.write_bytes(data)
    run("cat", "--to", "raw", tmp_path / "a", ".", "[:10]", status=3)
    assert run("cat", "--to", "raw", tmp_path / "a", ".", "[300:]") == packed(NUMBERS[300:])
    assert word in run("verify", tmp_path / "a", status=1).decode()


def test_two_folders_of_one_field_are_corrupt(tmp_path):
    blz.write(tmp_path / "a", ARRAYS["records"])
    (tmp_path / "a/data/%61").mkdir()
    assert run("info", tmp_path / "a", status=3) == b""
