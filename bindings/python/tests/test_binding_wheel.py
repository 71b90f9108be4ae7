# SPDX-License-Identifier: BSD-3-Clause
"""What scripts/wheel.sh makes: a wheel that needs numpy and a system's most basic libraries, sources that can be built."""
import os
import pathlib
import re
import subprocess
import sys
import tarfile

import numpy as np
import pytest

import cippus

ROOT = pathlib.Path(__file__).resolve().parents[3]
SITE = pathlib.Path(cippus.__file__).resolve().parents[1]
CMAKE = ROOT / "build/binding/cmake"
SYSTEM = r"linux-vdso|ld-linux|lib(c|m|z|dl|rt|pthread|stdc\+\+|gcc_s)\.so"  # every manylinux system has these

if not (SITE / "cippus.libs").exists():
    pytest.skip("not installed from the wheel of scripts/wheel.sh", allow_module_level=True)


def test_libraries_come_with_the_wheel():
    lines = subprocess.check_output(["ldd", cippus._cippus.__file__], text=True).splitlines()
    theirs = [line.strip() for line in lines if not re.search(rf"\b({SYSTEM})", line)]
    assert theirs and all(f"=> {SITE}/" in line.replace("/cippus/..", "") for line in theirs), theirs


def test_the_tag_is_what_the_guide_says():
    (wheel,) = (ROOT / "build/binding/wheels").glob("*.whl")
    tag = re.fullmatch(rf"cippus-{re.escape(cippus.__version__)}-cp311-abi3-manylinux_2_(\d+)_\w+\.whl", wheel.name)
    assert tag is not None, wheel.name
    glibc = int(os.confstr("CS_GNU_LIBC_VERSION").split()[1].split(".")[1])
    assert int(tag[1]) <= glibc
    if 'VERSION_ID="12"' in (release := pathlib.Path("/etc/os-release").read_text()) and "ID=debian" in release.splitlines():
        guide = (ROOT / "docs/guide/python.md").read_text()
        assert re.search(r"Debian 12: manylinux_2_(\d+)", guide)[1] == tag[1]


def test_numpy_is_all_that_it_needs(tmp_path):
    for place in (SITE, pathlib.Path(np.__file__).resolve().parents[1]):
        for name in ("cippus", "cippus.libs", "numpy", "numpy.libs"):
            if (place / name).exists():
                (tmp_path / name).symlink_to(place / name)
    code = """
import sys; sys.path.append(sys.argv[1])
import cippus
print(cippus.open(sys.argv[2] + "/roman.asdf")["roman/data"][3, 4], cippus.open(sys.argv[2] + "/cube.b2nd").array[1, 1, 1])
"""
    words = [sys.executable, "-I", "-S", "-c", code, tmp_path, ROOT / "samples"]
    found = subprocess.check_output(words, text=True, cwd=tmp_path)
    data = cippus.open(ROOT / "samples/roman.asdf")["roman/data"]
    assert found.split()[0] == str(data[3, 4])


def built_from():
    """The files of the tree that the wheel was built from, as ninja knows them."""
    build = (CMAKE / "build.ninja").read_text().replace("$\n", " ")
    inputs = next(line for line in build.splitlines() if line.startswith("build build.ninja")).split()
    deps = subprocess.run(["ninja", "-C", CMAKE, "-t", "deps"], stdout=subprocess.PIPE, text=True, check=True).stdout
    for file in {*inputs, *(line.strip() for line in deps.splitlines() if line.startswith("    "))}:
        path = pathlib.Path(os.path.normpath(CMAKE / file))
        if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] not in ("build", ".venv"):
            yield str(path.relative_to(ROOT))


def test_sources_are_complete(tmp_path):
    (sdist,) = (ROOT / "build/binding/wheels").glob("*.tar.gz")
    with tarfile.open(sdist) as tar:
        there = {name.split("/", 1)[1] for name in tar.getnames() if "/" in name}
        needed = set(built_from()) | {"pyproject.toml", "LICENSE", "bindings/python/README.md", "bindings/python/cippus/py.typed"}
        assert len(needed) > 300 and needed <= there, needed - there
        if not os.environ.get("CIP_FULL"):
            return
        tar.extractall(tmp_path, filter="data")
    pip = [ROOT / ".venv/bin/python", "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w", tmp_path]
    subprocess.run([*pip, sdist], check=True)
    assert list(tmp_path.glob("*.whl"))
