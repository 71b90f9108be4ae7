# SPDX-License-Identifier: BSD-3-Clause
"""Run on the installed package: `make test STEPS=binding`, or by hand `pip install .` and pytest in this folder."""
import pathlib

import pytest

import cippus

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture
def sample():
    """Opens one of the samples of the tree; closed in the end."""
    opened = []

    def get(name, mode="r", **options):
        opened.append(cippus.open(ROOT / "samples" / name, mode, **options))
        return opened[-1]

    yield get
    for file in opened:
        file.close()


@pytest.fixture
def made():
    """A file in memory, from arrays and values at paths."""

    def make(tree, format="asdf", **options):
        with cippus.create(format=format, **options) as w:
            for path, value in tree.items():
                w[path] = value
        return w.getvalue()

    return make
