# SPDX-License-Identifier: BSD-3-Clause
"""Frames within other files: python-blosc2 opens those that we append, and we those that it or anybody does."""
import blosc2
import numpy as np

from test_blosc2_write import same


def test_python_opens_what_we_append(cippus, rng, tmp_path):
    box, want = tmp_path / "box", {}
    box.write_bytes(rng.bytes(int(rng.integers(1, 5000))))
    before = box.read_bytes()
    for i, dtype in enumerate(("<i4", "<f8", "|S5", "<u2")):
        a = rng.integers(0, 100, (40 + i, 30)).astype(dtype)
        np.save(tmp_path / "in.npy", a)
        out = cippus.run("convert", tmp_path / "in.npy", box, "--format", "blosc2", "--at-end", "--chunks", "16,16")
        want[int(out.split()[-1])] = a
    assert box.read_bytes().startswith(before) and min(want) == len(before)
    for at, a in want.items():
        same(blosc2.open(str(box), mode="r", offset=at)[:], a)
        same(cippus.array(box, "", "--offset", at), a)
        assert cippus.run("verify", "--deep", box, "--offset", at).decode().endswith(f"{box}: ok\n")


def test_we_open_frames_anywhere(cippus, rng, tmp_path):
    box, a = tmp_path / "box", rng.integers(0, 1 << 40, (50, 20))
    nd = blosc2.asarray(a, chunks=(20, 20), blocks=(10, 5))
    nd.schunk.vlmeta["unit"] = "K"
    frame, before, after = nd.to_cframe(), rng.bytes(777), rng.bytes(333)
    box.write_bytes(before + frame + after)
    at = len(before)
    same(cippus.array(box, "", "[10:30, ::2]", "--offset", at), a[10:30, ::2])
    assert cippus.run("tree", box, "vlmeta/unit", "--offset", at) == b"K\n"
    cippus.run("convert", box, tmp_path / "out.b2nd", "--offset", at)
    same(blosc2.open(str(tmp_path / "out.b2nd"))[:], a)
    cippus.run("cat", box, "--offset", at - 1, status=3)
    index = at + int.from_bytes(frame[11:15], "big") + int.from_bytes(frame[39:47], "big")
    box.write_bytes(box.read_bytes()[:index])  # no index within what is left
    cippus.run("repair", box, tmp_path / "copy.b2nd", "--offset", at, status=3)
