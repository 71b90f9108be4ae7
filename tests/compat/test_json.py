# SPDX-License-Identifier: BSD-3-Clause
"""What --json prints is as docs/json/cippus.schema.json says, and the man page names every key of it."""
import json
import re
import shutil

import numpy as np
import pytest
from conftest import ROOT
from jsonschema import Draft202012Validator

SCHEMA = json.loads((ROOT / "docs/json/cippus.schema.json").read_text())
SAMPLES = sorted(p for p in (ROOT / "samples").iterdir() if p.suffix not in (".md", ".sh", ".py"))


def check(name, text):
    """The document, which must be as the definition says."""

    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    document = json.loads(text, parse_constant=refuse)
    Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]}).validate(document)
    return document


def test_the_schema_is_one():
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "name,words",
    [("info", ["info"]), ("info_blocks", ["info", "--blocks"]), ("info_chunks", ["info", "--chunks"]), ("ls", ["ls"]), ("stat", ["stat"])],
)
def test_listings_of_every_sample(cippus, name, words):
    documents = [check(name, cippus.run(*words, "--json", f, status=3 if words == ["stat"] and f.name == "early.asdf" else 0)) for f in SAMPLES]
    assert len(documents) == len(SAMPLES) and any(documents)
    assert len(check(name, cippus.run(*words, "--json", SAMPLES[0], SAMPLES[1]))) >= 2


def test_pictures(cippus):
    image = check("show", cippus.run("show", "--json", ROOT / "samples/night.asdf", "image", "[::2, 5:]"))
    assert (image["kind"], image["across"]["start"], image["down"]["step"]) == ("image", 5, 2)
    line = check("show", cippus.run("show", "--json", ROOT / "samples/night.asdf", "stars/flux"))
    assert (line["kind"], line["down"], line["field"]) == ("line", None, "flux")


def test_searches_give_numbers(cippus):
    for f in SAMPLES:
        if f.suffix not in (".blp", ".npz"):
            check("tree_search", cippus.run("tree", "--json", "--find", ".", f))
    night = ROOT / "samples/night.asdf"
    assert check("tree_search", cippus.run("tree", "--json", "--find", "^gain$", night))[0]["value"] == 1.8
    assert check("tree_search", cippus.run("tree", "--json", "--find", "^cooled$", night))[0]["value"] is True
    check("tree_blocks", cippus.run("tree", "--json", "--blocks", night))
    check("tree_files", cippus.run("tree", "--json", night, ROOT / "samples/roman.asdf"))


def test_findings(cippus, tmp_path):
    bad = tmp_path / "bad.asdf"
    text = bytearray((ROOT / "samples/roman.asdf").read_bytes())
    text[-2000] ^= 1
    bad.write_bytes(text)
    assert check("verify", cippus.run("verify", "--json", "--deep", bad, status=1))
    assert check("verify", cippus.run("verify", "--json", ROOT / "samples/roman.asdf")) == []
    (tmp_path / "x").write_text("none")
    assert check("verify", cippus.run("verify", "--json", tmp_path / "x", status=1))[0]["severity"] == "fatal"


def test_differences(cippus, tmp_path):
    for a in (p for p in SAMPLES if p.name != "early.asdf"):
        assert check("diff", cippus.run("diff", "--json", a, a))["count"] == 0
    early = next(p for p in SAMPLES if p.name == "early.asdf")
    assert check("diff", cippus.run("diff", "--json", early, early, status=1))["differences"][0]["code"] == "unsupported"
    np.save(tmp_path / "a.npy", np.arange(6.0).reshape(2, 3))
    np.save(tmp_path / "b.npy", np.full((2, 3), np.nan))
    found = check("diff", cippus.run("diff", "--json", tmp_path / "a.npy", tmp_path / "b.npy", status=1))["differences"]
    assert found[0]["first"] == [0, 0] and found[0]["max_abs"] == "NaN"


def test_what_has_no_number_is_a_string(cippus, tmp_path):
    np.save(tmp_path / "a.npy", np.array([np.nan, np.inf, -np.inf, 1.5]))
    entry = check("stat", cippus.run("stat", "--json", tmp_path / "a.npy"))[0]
    assert (entry["min"], entry["max"], entry["mean"]) == ("-Infinity", "Infinity", "NaN")


def test_plans_and_losses(cippus, tmp_path):
    night = tmp_path / "night.asdf"
    shutil.copy(ROOT / "samples/night.asdf", night)
    for words in (["set", night, "exposure/time", "5"], ["rm", night, "image"], ["put", night, "counts", "[0]", "3"]):
        assert check("plan", cippus.run(words[0], "--dry-run", "--json", *words[1:]))["plan"]
    assert check("findings", cippus.run("convert", "--json", "--path", "image", night, tmp_path / "a.npy"))["findings"]
    each = check("each", cippus.run("convert", "--each", "--json", "--format", "npy", "--path", "image", night, night.parent / "complex.ra", tmp_path / "each", status=3))
    assert [one["exit_status"] for one in each] == [0, 3] and each[0]["findings"]


PLANS = {
    "set": "night.asdf exposure/time 5",
    "rm": "night.asdf image",
    "mv": "night.asdf stars s",
    "put": "night.asdf counts [0] 3",
    "append": "tide.blp tide.blp",
    "resize": "cube.b2nd 6,24,31",
    "finish": "stream.asdf",
    "edit": "night.asdf",
    "defrag": "night.asdf",
}
OTHERS = {"info", "ls", "tree", "show", "stat", "verify", "convert", "diff", "recover", "repair"}


@pytest.mark.parametrize("verb", PLANS)
def test_plans_of_every_command(cippus, tmp_path, monkeypatch, verb):
    monkeypatch.setenv("VISUAL", "sed -i s/F158/F159/")
    file, *words = PLANS[verb].split()
    shutil.copy(ROOT / "samples" / file, tmp_path / file)
    words = [ROOT / "samples" / w if w == file else w for w in words]
    assert check("defrag" if verb == "defrag" else "plan", cippus.run(verb, "--dry-run", "--json", tmp_path / file, *words))["plan"]


def test_recover_and_repair(cippus, tmp_path):
    check("recover", cippus.run("recover", "--json", ROOT / "samples/night.asdf"))
    (tmp_path / ".cip-new-x").mkdir()
    check("recover_folder", cippus.run("recover", "--json", tmp_path, status=1))
    check("verify", cippus.run("repair", "--json", ROOT / "samples/cube.b2nd", tmp_path / "o.b2nd"))
    shutil.copy(ROOT / "samples/night.asdf", tmp_path)
    check("defrag", cippus.run("defrag", "--json", tmp_path / "night.asdf"))


def test_every_command_with_json_is_tried(cippus):
    verbs = re.findall(r"^  ([a-z-]+) ", cippus.run("--help").decode(), re.M)
    assert {v for v in verbs if "--json" in cippus.run(v, "--help").decode()} == set(PLANS) | OTHERS


def test_the_man_page_names_every_key():
    def keys(schema):
        for value in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
            if isinstance(value, dict):
                yield from value.get("properties", {})
            yield from keys(value)

    page = (ROOT / "docs/man/cippus.1").read_text()
    section = page[page.index(".Sh JSON") : page.index(".Sh EXIT STATUS")]
    words = set(re.findall(r"[a-z_]+", section))
    assert set(keys(SCHEMA["$defs"])) <= words, set(keys(SCHEMA["$defs"])) - words
