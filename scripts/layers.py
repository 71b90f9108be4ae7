#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks who includes whom: the layers of src/, and that what stands outside sees only cippus/.

usage: scripts/layers.py [FOLDER]       FOLDER: the root of the tree (this one)

    tools  bindings  examples  bench    (see only include/cippus)
             picture
              core -------------> format/*.h
                 \\                   |  format/<x>/
                  +----> space <-----+
    array   tree   io   codec
              base

Some folders have rooms of their own (ROOMS): what stands in no room may be included from each of them. A header x_impl.h is
private to its folder. What the tests of a folder src/a/b share stands in tests/support/a/b/x_testing.h, and sees what they see.
"""
import pathlib
import re
import sys

MIDDLE = {"array", "tree", "io", "codec"}
BELOW_SPACE = MIDDLE | {"base"}
ALLOWED = {  # layer of src/: the layers it may include, itself apart
    "base": set(),
    **{m: {"base"} for m in MIDDLE},
    "space": BELOW_SPACE,
    "format": BELOW_SPACE | {"space"},
    "core": BELOW_SPACE | {"space", "format"},
    "picture": BELOW_SPACE | {"space", "format", "core"},
}
ROOMS = {  # folders of a layer: the rooms that each may include, itself apart
    "space": {
        "layout": {"read", "sequential"},
        "read": {"layout", "sequential"},
        "sequential": {"layout", "read"},
        "make": {"layout", "read"},
        "change": {"layout", "read", "make"},
    },
    "core": {"commit": set(), "reading": set(), "comparing": {"reading"}, "writing": {"commit", "reading"}},
    "format/asdf": {
        "chain": set(),
        "file": {"chain"},
        "ndarray": {"chain", "file"},
        "write": {"chain", "file", "ndarray"},
        "update": {"chain", "file", "ndarray", "write"},
    },
}
OUTSIDE = ("tools", "bindings", "examples", "bench")
WITHIN = {"bench/bench_kernels.c"}  # linked with the modules, as a unit test is
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)


def layer_of(path):
    """Of a path below src/: its layer; a format's folder is a layer of its own, format/<x>."""
    parts = pathlib.PurePosixPath(path).parts
    if parts[0] == "format" and len(parts) > 2:
        return f"format/{parts[1]}"
    return parts[0]


def room_of(path, layer):
    """The folder of a layer that has rooms, or None: of the layer itself, or a layer without."""
    inner = path.removeprefix(layer + "/").split("/")
    return inner[0] if len(inner) > 1 and inner[0] in ROOMS.get(layer, {}) else None


def may_enter(layer, room, other):
    return room in (None, other) or other is None or other in ROOMS[layer][room]


def nested_formats(root, name):
    """The other formats whose files nest in ours, as the folder's CMakeLists.txt declares."""
    lists = root / "src/format" / name / "CMakeLists.txt"
    text = lists.read_text() if lists.exists() else ""
    return {f"format/{x}" for x in re.findall(r"\bcip_format_(\w+)", text)}


def allowed_in(root, layer):
    if layer.startswith("format/"):
        return ALLOWED["format"] | {"format"} | nested_formats(root, layer.split("/")[1])
    return ALLOWED.get(layer, set())


def includes(file):
    text = file.read_text(encoding="utf-8")
    for found in INCLUDE.finditer(text):
        yield text.count("\n", 0, found.start(1)) + 1, found.group(1), found.group(2)


def is_test(name):
    """Test programs, fuzz targets, and headers that these share: x_testing.h."""
    file = pathlib.PurePosixPath(name).name
    return file.startswith(("test_", "fuzz_")) or file.endswith("_testing.h")


def is_shared_by_tests(name):
    """Of a path below tests/."""
    return name.startswith("support/") and name.endswith("_testing.h")


def is_private_to_others(name, own):
    path = pathlib.PurePosixPath(name)
    return path.name.endswith("_impl.h") and path.parent != pathlib.PurePosixPath(own).parent


def is_public(name):
    return name.startswith("cippus/")


def check_source(root, file):
    """A file of src/: includes are rooted at src/ and go to the layers allowed."""
    if is_test(file.name) and file.suffix == ".h":
        yield 1, "headers that tests share stand in tests/support/, as x_testing.h"
    yield from check_includes(root, file, file.relative_to(root / "src").as_posix())


def check_support(root, file):
    own = file.relative_to(root / "tests").as_posix()
    if is_shared_by_tests(own):
        yield from check_includes(root, file, own.removeprefix("support/"))


def check_includes(root, file, own):
    layer = layer_of(own)
    testing = is_test(file.name)
    for line, mark, name in includes(file):
        if is_public(name) or mark == "<":
            continue
        if testing and (root / "tests" / name).exists():
            if not is_shared_by_tests(name):
                continue
            name = name.removeprefix("support/")
        elif not (root / "src" / name).exists():
            yield line, f'"{name}" is not a path from src/'
            continue
        if is_private_to_others(name, own):
            yield line, f'"{name}" is private to its folder'
        target = layer_of(name)
        if target != layer and target not in allowed_in(root, layer):
            yield line, f'{layer} may not include "{name}"'
        elif target == layer and not testing and not may_enter(layer, room_of(own, layer), room_of(name, layer)):
            yield line, f'{layer}/{room_of(own, layer)} may not include "{name}"'


def check_public(root, file):
    for line, mark, name in includes(file):
        if mark == '"' and not is_public(name):
            yield line, f'a public header may include only "cippus/...", not "{name}"'
        elif is_public(name) and not (root / "include" / name).exists():
            yield line, f'"{name}" is not a path from include/'


def check_outside(root, file):
    """Tools, examples and the like: cippus/... and headers of their own folder."""
    top = root / file.relative_to(root).parts[0]
    for line, mark, name in includes(file):
        if is_public(name):
            continue
        own = (file.parent / name).exists() or (top / name).exists()
        if not own and (mark == '"' or (root / "src" / name).exists()):
            yield line, f'only "cippus/..." and own headers may be included here, not "{name}"'


def files_below(folder):
    return sorted(f for ext in ("*.c", "*.h", "*.cc", "*.inc") for f in folder.rglob(ext))


def problems(root):
    places = [(root / "src", check_source), (root / "tests/support", check_support), (root / "include", check_public)]
    places += [(root / top, check_outside) for top in OUTSIDE]
    for folder, check in places:
        for file in files_below(folder):
            if str(file.relative_to(root)) in WITHIN:
                continue
            for line, text in check(root, file):
                yield f"{file.relative_to(root)}:{line}: {text}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    found = list(problems(root.resolve()))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
