# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx: the guides, the manual page, the package's and the library's reference. `make docs`; warnings are errors."""
import importlib
import pathlib
import sys

from sphinx.ext import autodoc
from sphinx.util import logging

import cippus

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))
import mdoc
PARTS = sorted(p.stem for p in pathlib.Path(cippus.__file__).parent.glob("[!_]*.py"))

project, author, copyright = "cippus", "the cippus authors", "the cippus authors"
version = release = cippus.__version__
extensions = ["sphinx.ext.autodoc", "myst_parser"]
html_theme = "alabaster"
html_theme_options = {"page_width": "1100px", "sidebar_width": "240px", "fixed_sidebar": True, "description": "Files of n-dimensional arrays"}
html_show_sphinx = html_show_copyright = False
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]  # links to files of the tree that are no pages
exclude_patterns = ["requirements.txt", "man", "json"]
highlight_language = "none"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
# what only parts of the package need
autodoc_mock_imports = ["asdf", "dask", "fsspec", "numcodecs", "xarray", "zarr"]


def public(module):
    """The names that a module offers."""
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    return getattr(module, "__all__", None) or [name for name in own if not name.startswith("_")]


def add_sections(app, page, source):
    """The manual page, and a section for each part of the package and for each header, at the end of their pages."""
    if page == "reference/command":
        source[0] += "\n" + mdoc.markdown((ROOT / "docs/man/cippus.1").read_text(encoding="utf-8"))
    if page == "reference/python":
        parts = [f"cippus.{part}\n{'-' * 20}\n.. automodule:: cippus.{part}\n   :members:\n   :undoc-members:\n" for part in PARTS]
        source[0] += "\n```{eval-rst}\n" + "\n".join(parts) + "```\n"
    if page == "reference/c":
        for header in sorted((ROOT / "include").rglob("*.h*")):
            name = header.relative_to(ROOT / "include")
            source[0] += f"\n## {name}\n```{{literalinclude}} ../../include/{name}\n:language: c++\n```\n"


def check_complete(app, env):
    """Warns of public names that have no words, or that the reference lacks."""
    there = env.domaindata["py"]["objects"]
    with autodoc.mock(autodoc_mock_imports):
        modules = [importlib.import_module(name) for name in ["cippus", *(f"cippus.{part}" for part in PARTS)]]
    for module in modules:
        for name in public(module):
            value = getattr(module, name)
            if f"{module.__name__}.{name}" not in there or callable(value) and not value.__doc__:
                logging.getLogger(__name__).warning("the reference has no words for %s.%s", module.__name__, name)


def setup(app):
    app.connect("source-read", add_sections)
    app.connect("env-check-consistency", check_complete)
