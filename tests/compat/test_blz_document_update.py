# SPDX-License-Identifier: BSD-3-Clause
"""Folders that blz_document.py made change, and blz_document_reader.py reads them, which knows nothing of ours; numpy says what
they are to hold."""
import json
import os
import subprocess
import time

import blz_document as blz
import blz_document_reader as reader
import numpy as np
import pytest
from test_blz_document import ARRAYS, NUMBERS, TREES, nested, packed, run, sharded

CIPPUS = os.environ["CIPPUS"]


def same(root, array, *options, **how):
    found = reader.read(root, **how)
    assert found.shape == array.shape and packed(found) == packed(array)
    assert run("cat", *options, "--to", "raw", root) == packed(array)
    out = run("verify", "--deep", *options, root).decode()
    assert out.endswith(": ok\n"), out
    assert not [p for p in root.iterdir() if ".cip" in p.name]


def put(root, array, lo, hi, values, *options):
    array[lo:hi] = values
    raw = root.parent / "rows.raw"
    raw.write_bytes(packed(array[lo:hi]))
    run("put", *options, root, ".", f"[{lo}:{hi}]", raw)
    return array


def append(root, array, rows, *options):
    raw = root.parent / "rows.raw"
    raw.write_bytes(packed(rows))
    run("append", *options, root, raw)
    return np.concatenate([array, rows])


def insert(root, array, at, rows, *options):
    raw = root.parent / "rows.raw"
    raw.write_bytes(packed(rows))
    run("put", "--insert", *options, root, ".", f"[{at}:{at}]", raw)
    return np.concatenate([array[:at], rows, array[at:]])


def delete(root, array, lo, hi, *options):
    run("rm", *options, root, ".", f"[{lo}:{hi}]")
    return np.delete(array, slice(lo, hi), 0)


def resize(root, array, n, fill=0, *options):
    run("resize", *options, root, ",".join(map(str, (n, *array.shape[1:]))))
    out = np.zeros((n, *array.shape[1:]), array.dtype)
    out[:] = np.array(fill).astype(array.dtype) if array.dtype.names is None else fill
    out[:len(array)] = array[:n]
    return out


def change(root, array, fill=0, *options):
    """Every kind of change; the array as it is then."""
    rng = np.random.default_rng(7)
    put(root, array, 3, 5, array[7:9].copy(), *options)
    same(root, put(root, array, 120, 420, array[500:800].copy(), *options), *options)
    array = append(root, array, array[rng.integers(0, len(array), 7)], *options)
    same(root, array, *options)
    array = append(root, array, array[rng.integers(0, len(array), 777)], *options)
    each = json.loads((root / "meta/storage").read_text())["chunklen"]
    for at, n in ((40, 30), (40, 2 * each), (each, 3 * each)):
        array = insert(root, array, at, array[rng.integers(0, len(array), n)], *options)
        same(root, array, *options)
        array = delete(root, array, at + 5, at + 5 + n, *options)
        same(root, array, *options)
    same(root, resize(root, array, 1234, fill, *options), *options)
    array = resize(root, array[:1234], 1500, fill, *options)
    same(root, array, *options)
    array = resize(root, array, 300, fill, *options)
    same(root, array, *options)
    array = resize(root, array, 0, fill, *options)
    same(root, array, *options)
    array = append(root, array, np.ones((50, *array.shape[1:]), "u1").astype(array.dtype) if array.dtype.names is None else
                   np.zeros((50, *array.shape[1:]), array.dtype), *options)
    same(root, array, *options)


@pytest.mark.parametrize("name", TREES)
def test_every_form_is_changed(tmp_path, name):
    blz.write(tmp_path / "a", NUMBERS, dflt=2.5, **TREES[name])
    change(tmp_path / "a", NUMBERS.copy(), 2.5)


@pytest.mark.parametrize("name", [n for n in ARRAYS if n not in ("empty", "one", "times")])
@pytest.mark.parametrize("key", [True, False])
def test_every_type_is_changed(tmp_path, name, key):
    a = ARRAYS[name]
    a = np.concatenate([a] * (1000 // len(a) + 1))
    blz.write(tmp_path / "a", a, chunklen=17, key=key, checksum=2, spare=5, dflt="-" if a.dtype.kind in "SU" else None)
    change(tmp_path / "a", a, "-" if a.dtype.kind in "SU" else np.zeros((), a.dtype))


FILLS = {
    "number": ("<f8", -1.5, -1.5),
    "nan": (">f4", float("nan"), np.nan),
    "infinity": ("<f8", float("-inf"), -np.inf),
    "complex": ("<c16", [1.0, -2.0], 1 - 2j),
    "text": ("S4", "ab", b"ab"),
    "record": ([("a", "<i4"), ("b", ">f8", (2,))], [7, 2.5], (7, 2.5)),
    "nested": ([("a", [("x", "<i2"), ("y", "u1")], (2,)), ("b", "S2")], [[[1, 2], [3, 4]], "q"], ([(1, 2), (3, 4)], b"q")),
    "one for all": ([("p", [("x", "<i2"), ("y", "u1", (2,))], (3,))], [[5, 6]], ([(5, 6)] * 3,)),
    "opaque": ([("a", "<i4"), ("b", "V3")], [1, ""], (1, b"\0\0\0")),
    "none": ("<i8", None, 0),
}


@pytest.mark.parametrize("name", FILLS)
def test_growing_adds_what_dflt_says(tmp_path, name):
    dtype, dflt, value = FILLS[name]
    dtype = np.dtype(dtype)
    a = np.zeros(25, dtype)
    blz.write(tmp_path / "a", a, chunklen=10, per=2, dflt=dflt)
    run("resize", tmp_path / "a", 47)
    want = np.zeros(47, dtype)
    want[25:] = np.array(value, dtype)
    same(tmp_path / "a", want)


def test_rows_of_the_array_have_their_own_dflt(tmp_path):
    a = np.zeros((10, 3), "<i4")
    blz.write(tmp_path / "a", a, chunklen=4, dflt=[1, 2, 3])
    run("resize", tmp_path / "a", "13,3")
    same(tmp_path / "a", np.concatenate([a, [[1, 2, 3]] * 3]).astype("<i4"))


def test_a_dflt_that_fits_no_row_adds_none(tmp_path):
    blz.write(tmp_path / "a", NUMBERS, dflt="x")
    run("resize", tmp_path / "a", 1100, status=3)
    run("resize", tmp_path / "a", 990)
    same(tmp_path / "a", NUMBERS[:990])


# --- where chunks come to lie ---------------------------------------------------------------------


def files(root):
    return {str(p.relative_to(root)): (p.stat().st_ino, p.stat().st_size) for p in root.rglob("__*__.bin")}


def test_a_chunk_that_fits_stays_in_its_place(tmp_path):
    root, a = tmp_path / "a", NUMBERS.copy()
    blz.write(root, a, spare=800, checksum=2)
    before = files(root)
    same(root, put(root, a, 350, 360, 7.0))
    assert files(root) == before
    noise = np.random.default_rng(3).bytes(800)
    same(root, put(root, a, 300, 400, np.frombuffer(noise, "<f8")))
    assert files(root) == before
    same(root, put(root, a, 300, 400, 0))
    assert files(root) == before


def test_one_that_does_not_makes_its_superchunk_a_new_file_with_the_same_space(tmp_path):
    root, a = tmp_path / "a", np.zeros(1000)
    blz.write(root, a, spare=10, metadata=b'{"a": 1}', checksum=6)
    before = files(root)
    noise = np.random.default_rng(3).bytes(800)
    same(root, put(root, a, 400, 500, np.frombuffer(noise, "<f8")))
    after = files(root)
    assert {n for n in before if before[n] != after[n]} == {"data/__2__.bin"}
    found = reader.Superchunk(root / "data/__2__.bin")
    assert found.metadata == b'{"a": 1}' and found.spare == [10, 10, 10]


def test_rows_come_to_the_last_superchunk_as_long_as_it_has_room(tmp_path):
    root, a = tmp_path / "a", NUMBERS.copy()
    blz.write(root, a[:750], spare=3, checksum=1)
    a = append(root, a[:750], a[:400])
    same(root, a)
    folder = reader.Folder(root)
    assert [len(s.chunks) for s in folder.files[""]] == [3, 3, 3, 3]
    assert all(set(s.spare) == {3} and s.checksum == 1 for s in folder.files[""])
    resize(root, a, 300)
    assert sorted(files(root)) == ["data/__1__.bin"]


def test_rows_that_sizes_does_not_count_are_not_shown_when_it_grows(tmp_path):
    root = tmp_path / "a"
    blz.write(root, NUMBERS)
    (root / "meta/sizes").write_text(json.dumps({"shape": [430], "nbytes": 3440, "cbytes": 0}))
    run("resize", root, 470)
    assert run("cat", "--to", "raw", root) == packed(np.concatenate([NUMBERS[:430], np.zeros(40)]))
    run("resize", root, 1000)
    assert run("cat", "--to", "raw", root) == packed(np.concatenate([NUMBERS[:430], np.zeros(570)]))
    assert reader.Superchunk(root / "data/__4__.bin").chunks


def test_chunks_of_other_lengths_are_refused(tmp_path):
    root = tmp_path / "a"
    blz.write(root, NUMBERS[:0], key=False)
    data, _ = blz.superchunk([NUMBERS[:30].tobytes(), NUMBERS[30:180].tobytes()], 8, chunk_size=-1, last=-1)
    (root / "data/__1__.bin").write_bytes(data)
    (root / "meta/sizes").write_text('{"shape": [180], "nbytes": 1440}')
    assert b"expected chunks of 100 rows" in subprocess.run([CIPPUS, "put", root, ".", "[0]", "1"],
                                                             capture_output=True).stderr
    same(root, NUMBERS[:180])


def test_a_field_changes_its_own_files_alone(tmp_path):
    root, a = tmp_path / "a", nested(301)
    blz.write(root, a, chunklen=20, checksum=2)
    before = files(root)
    run("put", root, "p/x", "[7, 2]", "4.5")
    a["p"]["x"][7, 2] = 4.5
    same(root, a)
    after = files(root)
    assert {n for n in before if before[n] != after[n]} <= {"data/p/x/__1__.bin"}
    run("put", root, "p/y", "[:, 1]", "3")
    a["p"]["y"][:, 1] = 3
    same(root, a)
    run("put", root, "id", "[100:200]", "-1")
    a["id"][100:200] = -1
    same(root, a)


def with_field(array, name, values):
    """The records with one field more."""
    out = np.zeros(array.shape, array.dtype.descr + [(name, values.dtype if values.dtype.names is None else values.dtype.descr,
                                                      values.shape[array.ndim:])])
    for old in array.dtype.names:
        out[old] = array[old]
    out[name] = values
    return out


FORMS = {
    "usual": {}, "shards": {}, "keyless": {"key": False}, "walked": {"offsets": False}, "spare": {"spare": 33, "checksum": 6},
    "zlib": {"cname": "zlib"}, "long": {"per": 100}, "dflt": {"dflt": [7, 2.5]},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [n for n in ARRAYS if n not in ("one", "records", "names", "empty")])
def test_fields_come(tmp_path, name, form):
    a = np.array([(i, i / 2) for i in range(len(ARRAYS[name]))], [("a", "<i4"), ("b", ">f8")])
    root, shards = tmp_path / "a", None
    if form == "shards":
        shards = [root / f"part{i}" for i in range(3)]
    blz.write(root, a, chunklen=17, shards=shards, **{"per": 4, **FORMS[form]})
    before = {p: p.read_bytes() for p in root.rglob("*.bin")}
    for field in ("c", "d/e \u00e9"):
        values = ARRAYS[name]
        np.save(tmp_path / "new.npy", values)
        run("put", "--new", "--durability", "process", root, field.replace("/", "~1"), tmp_path / "new.npy")
        a = with_field(a, field, values)
        same(root, a)
    storage = json.loads((root / "meta/storage").read_text())
    if form == "dflt" and values.dtype.names is None:
        zero = {"S": "", "U": "", "M": 0}.get(values.dtype.kind, 0)
        assert storage["dflt"] == [7, 2.5, zero, zero]
    assert all(p.read_bytes() == was for p, was in before.items())
    if values.dtype.names is None:  # as those of another field are named, and dealt out
        assert {str(p.parent.parent / p.name) for p in root.rglob("c/*.bin")} == {str(p.parent.parent / p.name) for p in root.rglob("b/*.bin")}
    fill = np.zeros((), a.dtype)
    if form == "dflt":
        fill["a"], fill["b"] = 7, 2.5
    a = append(root, a, a[:40])
    same(root, a)
    a = resize(root, a, len(a) + 50, fill)
    same(root, a)
    same(root, resize(root, a, 20, fill))


def test_fields_of_records_along_several_axes(tmp_path):
    a = nested(120).reshape(40, 3)
    blz.write(tmp_path / "a", a, chunklen=7, per=2, dflt=0)
    values = np.arange(40 * 3 * 2, dtype=">i2").reshape(40, 3, 2)
    np.save(tmp_path / "new.npy", values)
    run("put", "--new", tmp_path / "a", "more", tmp_path / "new.npy")
    same(tmp_path / "a", with_field(a, "more", values))
    np.save(tmp_path / "new.npy", values[:, :2])
    run("put", "--new", tmp_path / "a", "less", tmp_path / "new.npy", status=3)
    np.save(tmp_path / "new.npy", values[:, 0, 0])
    run("put", "--new", tmp_path / "a", "least", tmp_path / "new.npy", status=3)


def test_fields_that_cannot_come_change_nothing(tmp_path):
    root = tmp_path / "a"
    blz.write(root, np.zeros(20, [("a", "<i4"), ("b", ">f8")]), chunklen=7, per=2)
    blz.write(tmp_path / "one", np.zeros(20), chunklen=7)
    (root / "data/left").mkdir()
    for n in (19, 20):
        np.save(tmp_path / f"{n}.npy", np.zeros(n))
    before = {p: p.read_bytes() for p in root.rglob("*") if p.is_file()}
    for name, n, status, *options in [("c", 19, 3), ("a", 20, 2), ("left", 20, 2), ("c/d", 20, 3), (os.fsdecode(b"\xff"), 20, 2), ("x" * 201, 20, 3),
                                      ("c", 20, 3, "--option=chunklen=5"), ("c", 20, 3, "--option=superchunk=1")]:
        run("put", "--new", *options, root, name, tmp_path / f"{n}.npy", status=status)
    run("put", "--new", tmp_path / "one", "c", tmp_path / "20.npy", status=3)
    assert {p: p.read_bytes() for p in root.rglob("*") if p.is_file()} == before


def test_attributes_change(tmp_path):
    root = tmp_path / "a"
    blz.write(root, NUMBERS, attributes={"k": [1, None]})
    run("set", root, "attributes/units/length", "m")
    run("rm", root, "attributes/k")
    assert reader.Folder(root).attributes == {"units": {"length": "m"}}
    run("set", root, "meta/x", "1", status=3)
    same(root, NUMBERS)


# --- shards ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["under", "listed"])
def test_new_superchunks_come_to_the_shards_in_turn(tmp_path, how):
    root, shards, _ = sharded(tmp_path, NUMBERS, "under", checksum=2)
    if how == "listed":
        (root / "meta/shards").write_text(json.dumps(["part0", "part1", "part2"]))
    change(root, NUMBERS.copy())
    a = append(root, np.concatenate([np.zeros(0), np.ones(50)]), NUMBERS)
    same(root, a)
    assert sorted(files(root)) == ["part0/data/__1__.bin", "part0/data/__4__.bin", "part1/data/__2__.bin", "part2/data/__3__.bin"]


def test_what_lies_outside_the_folder_is_refused(tmp_path):
    root, shards, options = sharded(tmp_path, NUMBERS, "named")
    p = subprocess.run([CIPPUS, "put", *map(str, options), root, ".", "[0]", "1"], capture_output=True)
    assert p.returncode == 3 and b"in a shard outside the folder" in p.stderr
    same(root, NUMBERS, *options, shards=shards)


# --- several processes ----------------------------------------------------------------------------

SIZE = int(os.environ.get("CIPPUS_BLZ_ROWS", 40000))  # 100000000 for the size that people have


def process(*argv):
    return subprocess.Popen([CIPPUS, *map(str, argv)], stderr=subprocess.PIPE)


@pytest.mark.parametrize("kind", ["append", "put"])
def test_processes_that_change_one_folder_lose_nothing(tmp_path, kind):
    """Four of them, over three folders; what each did is there, and nothing else."""
    root, n = tmp_path / "a", SIZE // 16
    blz.write(root, np.zeros(16 * n if kind == "put" else 0), chunklen=max(n // 8, 1), per=4, checksum=2)
    for i in range(3):
        (root / f"part{i}/data").mkdir(parents=True)
    (root / "meta/shards").write_text(json.dumps([f"part{i}" for i in range(3)]))
    for i in range(16):
        (tmp_path / f"{i}.raw").write_bytes(np.full(n, i, "<f8").tobytes())
    for step in range(4):
        jobs = [process(kind, root, *([".", f"[{i * n}:{(i + 1) * n}]"] if kind == "put" else []), tmp_path / f"{i}.raw",
                        "--wait", 600) for i in range(4 * step, 4 * step + 4)]
        for p in jobs:
            assert p.communicate()[1] == b"" and p.returncode == 0
    found = reader.read(root)
    if kind == "put":
        assert np.array_equal(found, np.repeat(np.arange(16.0), n))
    else:
        runs = found.reshape(16, n)
        assert (runs == runs[:, :1]).all() and sorted(runs[:, 0]) == list(range(16))
        assert {str(p.parent.parent.name) for p in root.rglob("*.bin")} == {"part0", "part1", "part2"}
    assert run("cat", "--to", "raw", root, ".", f"[{5 * n + 3}:{9 * n}]") == packed(found[5 * n + 3:9 * n])
    run("resize", root, 7 * n + 1)
    run("resize", root, 11 * n)
    same(root, np.concatenate([found[:7 * n + 1], np.zeros(4 * n - 1)]))


@pytest.mark.parametrize("kind", ["append", "put"])
def test_processes_that_encode_first_take_turns_only_to_place_chunks(tmp_path, kind):
    """Chunks of lz4 in an array of zlib's stay what they are; one of the processes is killed anywhere."""
    root, each, n = tmp_path / "a", 500, 2000
    np.save(tmp_path / "zeros.npy", np.zeros(8 * n))
    small = [f"--option=chunklen={each}", "--option=superchunk=4"]
    run("convert", tmp_path / "zeros.npy", root, "--format", "blz", "--codec", "zlib:1", *small)
    if kind == "append":
        run("resize", root, 0)
    want = np.zeros(8 * n)
    for i in range(8):
        want[i * n:(i + 1) * n] = np.arange(n) // 3 + i
        np.save(tmp_path / f"{i}.npy", want[i * n:(i + 1) * n])
        run("convert", tmp_path / f"{i}.npy", tmp_path / f"{i}", "--format", "blz", "--codec", "lz4:1", *small)
    jobs = [process(kind, root, *([".", f"[{i * n}:{(i + 1) * n}]"] if kind == "put" else []), tmp_path / f"{i}", "--wait", 600)
            for i in range(8)]
    time.sleep(0.01)
    jobs[7].kill()
    done = [p.communicate()[1] == b"" and p.returncode == 0 for p in jobs]
    assert all(done[:7])
    run("set", root, "attributes/of", "the next writer, who completes or clears away what was left")
    found = reader.read(root)
    if kind == "put":
        last = found[7 * n:]
        assert np.array_equal(found[:7 * n], want[:7 * n])
        assert np.array_equal(last, want[7 * n:]) or (not done[7] and not last.any())
    else:
        runs, parts = found.reshape(-1, n), want.reshape(8, n)
        which = sorted(int(r[0]) for r in runs)
        assert which in ([*range(7)], [*range(8)]) and (not done[7] or 7 in which)
        assert all(np.array_equal(r, parts[int(r[0])]) for r in runs)
    assert run("cat", "--to", "raw", root) == packed(found)
    assert run("verify", "--deep", root).decode().endswith(": ok\n")
    blocks = json.loads(run("info", "--json", "--blocks", root))[0]["blocks"]
    assert {b["codec"] for b in blocks[:28]} == {"lz4"}


def test_a_killed_process_leaves_the_old_rows_or_the_new_ones(tmp_path):
    root, n = tmp_path / "a", SIZE // 8
    a = np.arange(4.0 * n)
    blz.write(root, a, chunklen=max(n // 8, 1), per=4, checksum=2)
    rows = tmp_path / "rows.raw"
    rows.write_bytes(np.full(n, -1.0).tobytes())
    for k in range(24):
        p = process("append", root, rows)
        try:
            p.wait(k * 0.002)
        except subprocess.TimeoutExpired:
            p.kill()
        p.communicate()
        found = np.frombuffer(run("cat", "--to", "raw", root), "<f8")
        want = np.concatenate([a, np.full(n, -1.0)]) if len(found) > len(a) else a
        assert np.array_equal(found, want)
        run("put", root, ".", "[0]", k)  # the next writer completes or clears away what was left
        a = np.concatenate([[k], found[1:]])
    same(root, a)


NEW = {"usual": [], "spare": ["spare=40", "superchunk=2"], "shards": ["shards=p0,p1,p2", "superchunk=2", "offsets=no"]}


@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("kind", ["numbers", "nested"])
def test_new_folders_are_read_and_changed_too(tmp_path, name, kind):
    a = NUMBERS.copy() if kind == "numbers" else nested(1000)
    np.save(tmp_path / "a.npy", a)
    options = [f"--option={o}" for o in ("chunklen=30", *NEW[name])]
    p = subprocess.run([CIPPUS, "convert", tmp_path / "a.npy", tmp_path / "a", "--format", "blz", *options], capture_output=True)
    assert p.returncode == 0, p.stderr.decode()
    same(tmp_path / "a", a)
    change(tmp_path / "a", a, np.zeros((), a.dtype))
