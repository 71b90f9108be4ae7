# SPDX-License-Identifier: BSD-3-Clause
"""The tables of docs/guide/from-others.md: what the two sides of a row give is equal."""
import ast
import contextlib
import io
import pathlib
import re
import shutil

import numpy as np
import pytest

import cippus

ROOT = pathlib.Path(__file__).resolve().parents[3]
X = np.arange(48.0).reshape(6, 8)


def rows(section):
    """The pairs of a section's table; `X`, or `Y` is the first of two ways."""
    text = (ROOT / "docs/guide/from-others.md").read_text().split(f"\n## {section}\n")[1].split("\n## ")[0]
    cells = [re.split(r"(?<=`)\s*\|\s*(?=`)", line.strip("| ")) for line in text.splitlines() if line.startswith("| `")]
    assert all(len(pair) == 2 for pair in cells)
    return [tuple(re.findall(r"`([^`]+)`", cell) for cell in pair) for pair in cells]


def run(code, names):
    """What the last statement gives, if it is an expression."""
    body = ast.parse(code).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), code, "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), code, "eval"), names)


def same(a, b):
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(np.asarray(a), np.asarray(b))
    return a == b


def names_of(side, source, folder, suffix, **more):
    """Each side's own variables; its file is a copy."""
    (folder / side).mkdir()
    path = folder / side / source.name
    (shutil.copytree if source.is_dir() else shutil.copy)(source, path)
    new = str(folder / side / f"new.{suffix}")
    return {"np": np, "x": X.copy(), "out": np.zeros_like(X), "path": str(path), "new": new, **more}


def compare(section, there, here):
    for left, right in rows(section):
        want = run(left[0], there)
        for code in right:
            found = run(code, here)
            assert same(want, found), f"{left[0]} gives {want!r}, {code} gives {found!r}"


def test_rows_of_asdf(tmp_path):
    asdf = pytest.importorskip("asdf")
    there = names_of("there", ROOT / "samples/night.asdf", tmp_path, "asdf", asdf=asdf)
    compare("asdf", there, names_of("here", ROOT / "samples/night.asdf", tmp_path, "asdf", cippus=cippus))


def test_rows_of_blosc2(tmp_path):
    blosc2 = pytest.importorskip("blosc2")
    there = names_of("there", ROOT / "samples/cube.b2nd", tmp_path, "b2nd", blosc2=blosc2)
    compare("blosc2", there, names_of("here", ROOT / "samples/cube.b2nd", tmp_path, "b2nd", cippus=cippus))


def test_rows_of_h5py(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "night.h5", "w") as w:
        w["night/image"], w["night/meta/time"] = X, 107.5
        w["night"].attrs["time"] = 107.5
    with cippus.create(tmp_path / "night.asdf") as w:
        w["night/image"], w["night/meta/time"] = X, 107.5
    there = names_of("there", tmp_path / "night.h5", tmp_path, "h5", h5py=h5py)
    compare("h5py", there, names_of("here", tmp_path / "night.asdf", tmp_path, "asdf", cippus=cippus))


def test_rows_of_bcolz(tmp_path):
    here = names_of("here", ROOT / "samples/prices.bcolz", tmp_path, "bcolz", cippus=cippus)
    found = [run(right[0], here) for _, right in rows("bcolz")]
    assert found[1].tolist() == [12.0, 12.25, 12.5, 12.75] and found[2] == ["share", "close"]
    assert found[3] == 40 and len(found[4]) == 1
    assert np.array_equal(found[7], X[:2].reshape(-1))


def blocks(document, kinds):
    return re.findall(rf"^```({'|'.join(kinds)})\n(.*?)^```", (ROOT / document).read_text(), re.S | re.M)


def test_the_readme_does_what_it_says(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "samples", tmp_path / "samples")
    monkeypatch.chdir(tmp_path)
    for name in re.findall(r"(?:> ?| )(\w+\.(?:npy|b2nd))", blocks("README.md", ["console"])[0][1]):
        pathlib.Path(name).touch()  # typed before
    printed, nblock = None, 0
    for kind, text in blocks("README.md", ["python", "text", "c"]):
        if kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, "README.md", "exec"), {})
            printed, nblock = out.getvalue(), nblock + 1
        elif kind == "text" and printed is not None:
            assert printed == text
            printed = None
    assert nblock == 1 and printed is None
    assert cippus.open("cut.b2nd").array.shape == (10, 10)


def test_the_guide_runs(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "samples", tmp_path / "samples")
    monkeypatch.chdir(tmp_path)
    nblock = 0
    for page in sorted((ROOT / "docs/guide").glob("python*.md")):
        names = {}
        for _, text in blocks(page, ["python"]):
            exec(compile(text.replace("/tmp/", f"{tmp_path}/"), page.name, "exec"), names)
            nblock += 1
    assert nblock >= 5
