# SPDX-License-Identifier: BSD-3-Clause
"""What a user reads and waits for: docstrings of all public things, no C names, and an import that brings numpy alone."""
import ast
import importlib.metadata
import inspect
import pathlib
import re
import subprocess
import sys

import pytest

import cippus

PACKAGE = pathlib.Path(cippus.__file__).parent
SOURCES = sorted(PACKAGE.glob("*.py"))
PUBLIC = {name for name in vars(cippus) if name in cippus.__all__}


def defined(node, name=""):
    """(name, its node, the statement after it) of what a module or class defines, and of its classes' members."""
    for i, part in enumerate(node.body):
        after = node.body[i + 1] if i + 1 < len(node.body) else None
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield name + part.name, part, after
        elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            yield name + part.target.id, part, after
        if isinstance(part, ast.ClassDef):
            yield from defined(part, f"{name}{part.name}.")


def doc_of(part, after):
    if not isinstance(part, ast.AnnAssign):
        return ast.get_docstring(part)
    text = getattr(after, "value", None)
    return text.value if isinstance(after, ast.Expr) and isinstance(text, ast.Constant) and isinstance(text.value, str) else None


def is_overload(part):
    return "overload" in [getattr(d, "id", None) for d in getattr(part, "decorator_list", ())]


def public(path):
    """Of one file: what users find, as private modules show only what the package names."""
    for name, part, after in defined(ast.parse(path.read_text())):
        first, _, rest = name.partition(".")
        hidden = any(step.startswith("_") for step in name.removeprefix("_Target.").split("."))  # Writer's methods
        of_package = path.name == "__init__.py" or not path.name.startswith("_")
        if isinstance(part, ast.AnnAssign) and not rest:
            continue  # constants
        if not hidden and (of_package or first in PUBLIC or first in ("ZarrStore", "Attrs", "Arrays", "OrthogonalIndex", "Bar", "_Target")):
            yield name, part, after


def test_all_formats_are_named():
    pytest.importorskip("xarray")
    import cippus.xarray

    texts = [cippus.__doc__, importlib.metadata.metadata("cippus")["Summary"], cippus.xarray.Backend.description]
    titles = [title.removeprefix("NumPy .") for title, caps in cippus.formats().values() if "read" in caps]
    assert len(titles) > 9 and not [(title, text) for title in titles for text in texts if title not in text]


# Methods of other packages' interfaces, which tell what they do.
THEIRS = {"ZarrStore", "LazyArray"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.name)
def test_all_that_is_public_has_a_docstring(path):
    found = list(public(path))
    bare = [n for n, part, after in found if not is_overload(part) and not doc_of(part, after)]
    assert not [n for n in bare if n.partition(".")[0] not in THEIRS]


def test_the_check_of_docstrings_finds_the_public_things():
    names = {n for path in SOURCES for n, _, _ in public(path)}
    assert {"open", "Chunk.nelem", "Error.offset", "File.to_dict", "EditableFile.put", "Array.read", "Attrs", "Difference.first", "BloscCodec.cname"} <= names
    assert len(names) > 150 and PUBLIC <= names | {"__version__"}
    for name in PUBLIC:
        assert inspect.getdoc(getattr(cippus, name)), name
    assert all(m.__doc__ for m in (cippus._cippus.File.close, cippus._cippus.File.refresh, cippus._cippus.Array.view))


BANNED = r"\b(behind|anew|amid|midst|as ever|goes with|passed over|is told|are told)\b"


def test_docstrings_are_plain_words_without_c_names():
    for path in SOURCES:
        tree = ast.parse(path.read_text())
        docs = [ast.get_docstring(tree) if not path.name.startswith("_") else "", *(doc_of(part, after) or "" for _, part, after in public(path))]
        for doc in docs:
            assert not re.search(r"\bcip_|\bCIP_|(?<![\w.])\.(accept_loss|format|path|fill|overwrite)\b", doc), doc
            assert not re.search(BANNED, doc), doc
            for sentence in re.split(r"(?<=[.:;])\s+|\n\n|\n {4,}", doc):
                assert len(sentence.split()) <= 30, sentence


def test_texts_of_errors_have_no_c_names():
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise) and node.exc is not None:
                texts = [n.value for n in ast.walk(node.exc) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
                assert not [t for t in texts if re.search(r"\bcip_|\bCIP_|(?<!\S)\.[a-z_]{4,}\b", t)], (path.name, texts)


def test_numpy_is_the_only_heavy_import():
    code = "import sys, numpy; before = set(sys.modules); import cippus; print(*set(sys.modules) - before)"
    found = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    others = {name.partition(".")[0] for name in found} - {"cippus"}
    assert others <= {"__future__", "base64", "binascii", "threading"} | {"_cippus"}, others


def test_sources_are_those_of_python_3_10():
    for path in SOURCES:
        compile(ast.parse(path.read_text(), feature_version=(3, 10)), str(path), "exec")


def test_errors_have_the_words_of_the_command():
    guide = (pathlib.Path(__file__).resolve().parents[3] / "docs/guide/errors.md").read_text()
    rows = re.findall(r"^\| \[([a-z/ -]+)\]\(.*?\) \| \d \| `(\w+)` \|", guide, re.MULTILINE)
    assert len(rows) > 14 and ("input/output error", "ReadError") in rows and ("checksum error", "ChecksumError") in rows
    for words, name in rows:
        assert getattr(cippus, name).status == words
    assert cippus.PathMissingError.status == cippus.FileMissingError.status == "not found" and cippus.Error.status == "error"
