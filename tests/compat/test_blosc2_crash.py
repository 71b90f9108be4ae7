# SPDX-License-Identifier: BSD-3-Clause
"""What crashes leave of Blosc2 frames (tests/fault: every write cut off, lost or torn), opened by python-blosc2: at once the
old array or the new one, whatever we would have to complete."""
import os
import pathlib
import shutil
import subprocess

import blosc2
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def by_python(folder):
    """Shape, elements, metadata; None where there is no file yet."""
    found = [p for p in folder.iterdir() if p.suffix == ".b2nd" and p.name[0] != "."]
    if not found:
        return None
    x = blosc2.open(str(found[0]), mode="r")
    return x.shape, x[...].tobytes(), {k: x.schunk.meta[k] for k in x.schunk.meta}, {k: x.schunk.vlmeta[k] for k in x.schunk.vlmeta}


def by_us(cippus, folder):
    a = cippus.array(next(p for p in folder.iterdir() if p.suffix == ".b2nd" and p.name[0] != "."))
    return a.shape, a.tobytes()


def test_images_of_crashes(cippus, tmp_path):
    program = pathlib.Path(os.environ.get("CIPPUS_PROGRAMS") or ROOT / "build" / "dev" / "tests") / "test_fault"
    env = {**os.environ, "CIP_FAULT_IMAGES": str(tmp_path / "images")}
    for kind in ("Blosc2: ", "sparse: "):
        done = subprocess.run([program, kind], env=env, capture_output=True)
        assert done.returncode == 0, done.stdout.decode()[-2000:]
    rows = sorted((tmp_path / "images").iterdir())
    count = {"old": 0, "between": 0, "new": 0}
    for row in rows:
        images = sorted(row.iterdir())
        promised = [p for p in images if p.name.endswith("-done")]
        assert len(images) > 2 and promised
        old, new = by_python(images[0]), by_python(promised[-1])
        assert old != new or "defrag" in row.name
        for image in images:
            found = by_python(image)
            between = "in turn" in row.name and found[:2] == by_us(cippus, image)  # of several updates; the program judged that one
            assert found == new or (found == old or between) and image not in promised, f"{row.name}: {image.name}"
            count["new" if found == new else "old" if found == old else "between"] += 1
        shutil.rmtree(row)
    print(f"{len(rows)} ways to change a frame, {sum(count.values())} images: {count}")
    assert len(rows) >= 20 and count["old"] and count["new"]
