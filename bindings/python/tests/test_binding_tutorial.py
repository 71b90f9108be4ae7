# SPDX-License-Identifier: BSD-3-Clause
"""docs/guide/tutorial.ipynb runs and gives what is stored in it. CIP_NOTEBOOK=update stores what it gives now."""
import json
import os
import pathlib
import re
import shutil

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
NOTEBOOK = ROOT / "docs/guide/tutorial.ipynb"


def words(cell):
    """What a cell shows, in any form; no colours of tracebacks, no numbers of executions. Of pictures that there is one: how their
    bytes are compressed depends on zlib's version."""
    shown = [output.get("text") or output.get("data") for output in cell.get("outputs", [])]
    return json.loads(re.sub(r"image/png;base64,[^\\]+", "image/png", json.dumps(shown)))


def test_tutorial_gives_what_it_shows(tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    shutil.copytree(ROOT / "samples", tmp_path / "samples")
    shown = nbformat.read(NOTEBOOK, 4)
    run = nbformat.from_dict(json.loads(json.dumps(shown)))
    client = nbclient.NotebookClient(run, timeout=120, resources={"metadata": {"path": str(tmp_path)}}, record_timing=False)
    client.execute()
    if os.environ.get("CIP_NOTEBOOK") == "update":
        run.metadata = shown.metadata
        nbformat.write(run, NOTEBOOK)
        return
    for want, found in zip(shown.cells, run.cells):
        assert words(found) == words(want), want.source


def test_tutorial_names_no_machine():
    text = NOTEBOOK.read_text()
    assert len(text) < 60_000 and "/tmp" not in text and "/home" not in text and str(ROOT) not in text
