# SPDX-License-Identifier: BSD-3-Clause
"""Copies of damaged frames. What python-blosc2 leaves when it is cut off at any byte of an append gives the array of before
or of after it, or the report says that nothing is certain: never other values. Its writes are, in this order (3.3): the
new chunk over the old index, the new index, the header, the trailer, the end of the file, the length in the header."""
import collections
import json
import shutil
import subprocess

import blosc2
import numpy as np
import pytest

EACH = 300


def number(frame, at, n):
    return int.from_bytes(frame[at:at + n], "big")


def header_len(frame):
    return number(frame, 0x0B, 4)


def chunks_end(frame):
    return header_len(frame) + number(frame, 0x27, 8)


def trailer_at(frame):
    return len(frame) - number(frame, len(frame) - 22, 4)


def append_writes(old, new):
    end, index = trailer_at(new), chunks_end(new)
    if index != chunks_end(old):
        yield chunks_end(old), new[chunks_end(old):index]
    yield index, new[index:end]
    yield 0, new[:header_len(new)]
    yield end, new[end:]
    yield None, len(new)
    yield 16, new[16:24]


def images(rng, old, new, writes):
    """(write, bytes of it that are there or None: all, file)"""
    now = bytearray(old)
    for k, (at, data) in enumerate(writes):
        if at is None:
            del now[data:]
            continue
        cuts = {*range(40), *range(len(data) - 20, len(data)), *rng.integers(0, len(data) + 1, 40).tolist()}
        for cut in sorted(c for c in cuts if 0 <= c < len(data)):
            image = now + bytes(max(0, at + cut - len(now)))
            image[at:at + cut] = data[:cut]
            yield k, cut, bytes(image)
        now += bytes(max(0, at + len(data) - len(now)))
        now[at:at + len(data)] = data
        yield k, None, bytes(now)
    assert now == new


def repair(cippus, path, out, *words):
    """Exit status, findings; why not is printed."""
    if out.is_dir():
        shutil.rmtree(out)
    out.unlink(missing_ok=True)
    done = subprocess.run([cippus.path, "repair", "--json", path, out, *words], capture_output=True)
    assert done.returncode in (0, 1, 3), done.stderr.decode()
    print(done.stdout.decode(), done.stderr.decode())
    assert out.exists() == (done.returncode != 3)
    return done.returncode, json.loads(done.stdout)


def values(path, dtype="<i8"):
    x = blosc2.open(str(path), mode="r")[:]
    return np.frombuffer(x, dtype) if isinstance(x, bytes) else x


def schunk(rng, path, n, vlmeta=True, **kw):
    s = blosc2.SChunk(chunksize=8 * kw.get("each", EACH), urlpath=str(path), cparams={"typesize": 8}, mode="w",
                      contiguous=kw.get("contiguous", True))
    for _ in range(n):
        s.append_data(rng.integers(0, 1 << 40, kw.get("each", EACH)))
    if vlmeta:
        s.vlmeta["unit"] = {"of": "K"}
    return s


def append_case(rng, path, case):
    """Frames and values before and after."""
    s = schunk(rng, path, 0 if case == "first" else 6, each=4 if case == "few" else EACH)
    each = 4 if case == "few" else EACH
    before, old = path.read_bytes(), values(path)
    s.append_data({"zeros": np.zeros(each, "i8"), "value": np.full(each, 7)}.get(case, rng.integers(0, 1 << 40, each)))
    return before, path.read_bytes(), old, values(path)


@pytest.mark.parametrize("case", ["data", "few", "value", "zeros"])
def test_an_append_that_is_cut_off_anywhere(cippus, rng, tmp_path, case):
    path, out = tmp_path / "x.b2frame", tmp_path / "y.b2frame"
    before, after, old, new = append_case(rng, path, case)
    writes = list(append_writes(before, after))
    header, found = len(writes) - 4, collections.Counter()
    for k, cut, image in images(rng, before, after, writes):
        path.write_bytes(image)
        status, _ = repair(cippus, path, out)
        if status == 3:  # before the index is there; or it ends amid what was there, and the header says nothing of it
            found["none"] += 1
            assert k < header or (k == header and cut is not None and case != "data")
            continue
        got = values(out)
        assert got.tobytes() in (old.tobytes(), new.tobytes()), (k, cut)
        found["new" if got.size == new.size else "old"] += 1
    assert found["new"] > found["old"] > 0


@pytest.mark.parametrize("case", ["data", "few", "value"])
def test_where_all_was_appended_the_order_may_be_told(cippus, rng, tmp_path, case):
    path, out = tmp_path / "x.b2frame", tmp_path / "y.b2frame"
    before, after, old, new = append_case(rng, path, case)
    for k, cut, image in images(rng, before, after, list(append_writes(before, after))):
        path.write_bytes(image)
        status, told = repair(cippus, path, out, "--in-order")
        if status == 3:  # the first bytes of a chunk over the index, which opens and does not decode
            assert cut is not None and (k == 2 or (k == 0 and cut < 16))  # or the header is half another
            continue
        assert values(out).tobytes() in (old.tobytes(), new.tobytes()), (k, cut)


def resize_writes(old, new):
    shapes = bytearray(new[:header_len(new)])
    shapes[0x57:] = old[0x57:header_len(old)]  # they come last
    index, end = chunks_end(new), trailer_at(new)
    return [(index, new[index:end]), (0, bytes(shapes)), (end, new[end:]), (None, len(new)), (16, new[16:24]), (0, new[:header_len(new)])]


@pytest.mark.parametrize("grown", [(1000, 4), (900, 6)], ids=["rows", "columns"])
def test_a_resize_that_is_cut_off_anywhere(cippus, rng, tmp_path, grown):
    path, out = tmp_path / "x.b2nd", tmp_path / "y.b2nd"
    a = blosc2.asarray(rng.integers(0, 1 << 40, (900, 4)), chunks=(100, 4), blocks=(50, 2), urlpath=str(path), mode="w")
    before, old = path.read_bytes(), a[:]
    if grown[1] == 6:
        a = blosc2.asarray(old[:100], chunks=(100, 4), blocks=(50, 2), urlpath=str(path), mode="w")
        before, old, grown = path.read_bytes(), a[:], (100, 6)
    a.resize(grown)
    after, new, certain = path.read_bytes(), a[:], 0
    for k, cut, image in images(rng, before, after, resize_writes(before, after)):
        path.write_bytes(image)
        status, _ = repair(cippus, path, out)
        if status != 3:
            got = values(out)
            assert got.tobytes() in (old.tobytes(), new.tobytes()), (k, cut)
            certain += 1
    assert certain > 10


def test_a_frame_that_was_cut_has_its_first_chunks_in_order(cippus, rng, tmp_path):
    path, out = tmp_path / "x.b2frame", tmp_path / "y.b2frame"
    schunk(rng, path, 8)
    frame, want = path.read_bytes(), values(path).reshape(8, EACH)
    for cut in sorted(rng.integers(header_len(frame), chunks_end(frame), 30).tolist()):
        path.write_bytes(frame[:cut])
        assert repair(cippus, path, out)[0] == 3
        assert repair(cippus, path, out, "--in-order")[0] == 3  # not whole
        status, told = repair(cippus, path, out, "--in-order", "--fill", "0")
        assert status == 1
        got, whole = values(out).reshape(8, EACH), 0
        while whole < 8 and (got[whole] == want[whole]).all():
            whole += 1
        assert (got[whole:] == 0).all() and whole == 8 * (cut - header_len(frame)) // (chunks_end(frame) - header_len(frame))
        assert sum("] is lost" in f["text"] for f in told) == 8 - whole
    path.write_bytes(frame[:trailer_at(frame) + 9])
    status, told = repair(cippus, path, out)
    assert status == 1 and (values(out).reshape(8, EACH) == want).all()
    assert any("vlmetalayers" in f["text"] for f in told)
    copy = blosc2.open(str(out))
    assert not list(copy.vlmeta)


def test_frames_with_a_history_are_not_guessed_at(cippus, rng, tmp_path):
    """As many chunks as the header says, one behind the other, and not in their order."""
    path, out = tmp_path / "x.b2frame", tmp_path / "y.b2frame"
    for change in "insert", "delete":
        s = schunk(rng, path, 4)
        if change == "insert":
            s.insert_data(1, rng.integers(0, 1 << 40, EACH), copy=True)
        else:
            s.delete_chunk(1)
            s.append_data(np.zeros(EACH, "i8"))
        frame = path.read_bytes()
        for cut in range(chunks_end(frame), trailer_at(frame)):
            path.write_bytes(frame[:cut])
            assert repair(cippus, path, out)[0] == 3
        path.write_bytes(frame[:trailer_at(frame)])  # the index is whole
        want = values_of(s)
        assert repair(cippus, path, out)[0] == 1 and (values(out) == want).all()


def values_of(s):
    return np.concatenate([np.frombuffer(s.decompress_chunk(i), "<i8") for i in range(s.nchunks)])


@pytest.mark.parametrize("fixed", [range(0x10, 0x18), range(0x28, 0x2F)], ids=["frame_len", "cbytes"])
def test_wrong_lengths_in_the_header(cippus, rng, tmp_path, fixed):
    path, out = tmp_path / "x.b2frame", tmp_path / "y.b2frame"
    schunk(rng, path, 5)
    frame, want = path.read_bytes(), values(path)
    for at in fixed:
        path.write_bytes(frame[:at] + bytes([frame[at] ^ int(rng.integers(1, 256))]) + frame[at + 1:])
        status, _ = repair(cippus, path, out)
        assert status in (0, 1) and (values(out) == want).all()
        copy = blosc2.open(str(out))
        assert copy.vlmeta["unit"] == {"of": "K"}


def test_bytes_of_index_and_trailer(cippus, rng, tmp_path):
    path, out = tmp_path / "x.b2frame", tmp_path / "y.b2frame"
    schunk(rng, path, 5)
    frame, want = path.read_bytes(), values(path).reshape(5, EACH)
    for at in range(chunks_end(frame), len(frame)):
        path.write_bytes(frame[:at] + bytes([frame[at] ^ int(rng.integers(1, 256))]) + frame[at + 1:])
        status, told = repair(cippus, path, out, "--fill", "0")
        if status == 3:
            continue
        got = values(out).reshape(5, EACH)
        lost = sum("] is lost" in f["text"] for f in told)
        assert ((got == want).all(axis=1) | (got == 0).all(axis=1)).all(), at
        assert (got == 0).all(axis=1).sum() == lost


def with_index(frame, entries):
    """The frame with an index of these, stored as it is."""
    raw = entries.astype("<u8").tobytes()
    head = bytes([5, 1, 7, 8]) + b"".join(n.to_bytes(4, "little") for n in (len(raw), len(raw), len(raw) + 32)) + bytes(16)
    new = frame[:chunks_end(frame)] + head + raw + frame[trailer_at(frame):]
    return new[:16] + len(new).to_bytes(8, "big") + new[24:]


def test_chunks_at_one_place_are_lost(cippus, rng, tmp_path):
    """One of them is another chunk's; both decode."""
    path, out = tmp_path / "x.b2frame", tmp_path / "y.b2frame"
    schunk(rng, path, 6)
    frame, want = path.read_bytes(), values(path).reshape(6, EACH).copy()
    entries = np.frombuffer(blosc2.decompress2(frame[chunks_end(frame):trailer_at(frame)]), "<u8").copy()
    path.write_bytes(with_index(frame, entries))
    assert repair(cippus, path, out)[0] == 0 and (values(out).reshape(6, EACH) == want).all()
    entries[4] = entries[1]
    path.write_bytes(with_index(frame, entries))
    assert repair(cippus, path, out)[0] == 3
    status, told = repair(cippus, path, out, "--fill", "0")
    want[[1, 4]] = 0
    assert status == 1 and (values(out).reshape(6, EACH) == want).all()
    assert [f["text"].split(" is lost")[0] for f in told if "] is lost" in f["text"]] == ["[300:600]", "[1200:1500]"]


def test_a_resize_to_fewer_chunks_that_is_cut_off(cippus, rng, tmp_path):
    """The shape comes first here. As many chunks with data as it has are not those that it has."""
    path, out = tmp_path / "x.b2nd", tmp_path / "y.b2nd"
    x = rng.integers(1, 1 << 40, (40, 40))
    x[:, 20:] = 0
    a = blosc2.asarray(x, chunks=(10, 10), blocks=(5, 5), urlpath=str(path), mode="w")
    before = path.read_bytes()
    a.resize((20, 40))
    after = path.read_bytes()
    path.write_bytes(before[:0x57] + after[0x57:header_len(after)] + before[header_len(before):])
    assert repair(cippus, path, out)[0] == 3


def test_sparse_frames(cippus, rng, tmp_path):
    path, out = tmp_path / "x.b2frame", tmp_path / "y.b2frame"
    schunk(rng, path, 6, contiguous=False)
    index, want = (path / "chunks.b2frame").read_bytes(), values(path).reshape(6, EACH)
    for cut in range(header_len(index), len(index)):
        (path / "chunks.b2frame").write_bytes(index[:cut])
        if cut >= trailer_at(index):
            assert repair(cippus, path, out)[0] == 1
        else:
            assert repair(cippus, path, out)[0] == 3
            assert repair(cippus, path, out, "--in-order")[0] == 1
        assert (values(out).reshape(6, EACH) == want).all()
    (path / "00000002.chunk").unlink()
    assert repair(cippus, path, out, "--in-order")[0] == 3  # cut off in the index as well
    (path / "chunks.b2frame").write_bytes(index[:-3])
    status, told = repair(cippus, path, out, "--fill", "0")
    got = values(out).reshape(6, EACH)
    assert status == 1 and (got[2] == 0).all() and (np.delete(got, 2, 0) == np.delete(want, 2, 0)).all()
    assert [f["text"].split(" is lost")[0] for f in told if "] is lost" in f["text"]] == ["[600:900]"]
