# SPDX-License-Identifier: BSD-3-Clause
"""Pictures that `cippus serve` makes: those of `cippus show`, of bounded cost, in which no single element is lost."""
import json
import pathlib
import sys
import urllib.parse

import numpy as np
import pytest
from conftest import ROOT
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from served import SAMPLES, served, server  # noqa: F401

sys.path.insert(0, str(ROOT / "tests" / "support"))
from png_pixels import pixels  # noqa: E402


def picture(server, form, **query):
    """Facts, and the body as bytes."""
    answer = server.ask("/api/v1/picture?" + urllib.parse.urlencode({**query, "as": form}))
    assert answer.status == 200, answer.body
    return json.loads(answer.headers["X-Cippus-Picture"]), answer.body


def rgba(png):
    """Red, green, blue, alpha of a PNG."""
    found = pixels(png)
    return found if found.shape[2] == 4 else np.dstack([found, np.full(found.shape[:2], 255, "u1")])


@pytest.mark.parametrize("options", [{}, {"width": 40, "height": 30, "scale": "asinh", "map": "magma_r"}, {"width": 50, "reduce": "mean", "bad": "none"},
                                     {"zoom": 1, "limits": "0,100", "reduce": "sample"}, {"percentile": "10,90", "height": 20}])
def test_the_pictures_are_those_of_show(server, cippus, tmp_path, options):
    seen = set()
    for sample, path in (("night.asdf", "image"), ("night.asdf", "masked"), ("night.asdf", "spectrum"), ("night.asdf", "stars/flux"), ("cube.b2nd", "."),
                         ("complex.ra", "."), ("sky.fits", "SCI/data"), ("weather.h5", "temperature"), ("model.zarr", "wind")):
        words = [w for k, v in options.items() for w in (f"--{k}", str(v))]
        cippus.run("show", SAMPLES / sample, path, *words, "--no-axes", "-o", tmp_path / "x.png", "--overwrite")
        told = json.loads(cippus.run("show", SAMPLES / sample, path, *words, "--json"))
        query = {"file": f"samples/{sample}", "path": "" if path == "." else path, **options}
        facts, body = picture(server, "pixels", **query)
        own = np.frombuffer(body, "u1").reshape(facts["height"], facts["width"], 4)
        assert np.array_equal(own, rgba((tmp_path / "x.png").read_bytes()))
        assert picture(server, "png", **query)[1] == (tmp_path / "x.png").read_bytes()
        assert {k: facts[k] for k in told if k in facts} == {k: v for k, v in told.items() if k not in ("file", "path", "field")}
        seen.add(facts["kind"])
    assert seen == {"image", "line"}


def test_values_are_those_of_the_array(server, cippus):
    a = cippus.array(SAMPLES / "night.asdf", "image")
    facts, body = picture(server, "values", file="samples/night.asdf", path="image")
    assert np.array_equal(np.frombuffer(body, "<f8").reshape(128, 160), a) and facts["range"] == [a.min(), a.max()]
    facts, body = picture(server, "values", file="samples/night.asdf", path="image", width=40)
    boxes = a.reshape(32, 4, 40, 4).astype("f8").transpose(0, 2, 1, 3).reshape(32, 40, 16)
    middle = np.sort(boxes[:, :, 0].ravel())[(32 * 40 - 1) // 2]
    low, high = boxes.min(axis=2), boxes.max(axis=2)
    assert np.array_equal(np.frombuffer(body, "<f8").reshape(32, 40), np.where(middle - low > high - middle, low, high))
    line, body = picture(server, "values", file="samples/night.asdf", path="spectrum", width=64)
    each = cippus.array(SAMPLES / "night.asdf", "spectrum").reshape(64, 8)
    assert np.array_equal(np.frombuffer(body, "<f8").reshape(64, 4), np.stack([each[:, 0], each[:, -1], each.min(axis=1), each.max(axis=1)], axis=1))
    assert line["across"]["step"] == 8 and line["down"] is None


def test_facts_are_as_the_schema_says(server):
    schema, other = (json.loads((ROOT / "docs/json" / f).read_text()) for f in ("serve.schema.json", "cippus.schema.json"))
    registry = Registry().with_resources([("cippus.schema.json", Resource.from_contents(other)), ("serve.schema.json", Resource.from_contents(schema))])
    check = Draft202012Validator({"$ref": "serve.schema.json#/$defs/picture"}, registry=registry)
    for path in ("image", "masked", "spectrum", "stars/flux", "counts"):
        document = server.api("picture", file="samples/night.asdf", path=path, **{"as": "json"})
        check.validate(document)
        assert document["colours"][0] == "#440154" and document["colours"][-1] == "#fde724" and len(document["colours"]) == 16


def test_what_is_refused(server):
    for status, text, query in [(400, "as: expected", {"as": "gif"}), (400, "scale: expected", {"scale": "x"}), (400, "reduce: expected", {"reduce": ""}),
                                (400, "limits: expected", {"limits": "1"}), (400, "limits", {"limits": "2,1"}), (400, "width", {"width": "-1"}),
                                (400, "width", {"width": "4294967296"}), (400, "16384", {"height": "16385"}), (400, "max_nbytes", {"max_nbytes": "1e3"}),
                                (400, "bad: expected", {"bad": "red"}), (400, "viridis", {"map": "jet"}), (400, "zoom", {"zoom": "5000"}),
                                (400, "percentile", {"limits": "1,2", "percentile": "1,2"}), (400, "no parameter 'mask'", {"mask": "1"}),
                                (413, "more than 1000", {"reduce": "mean", "max_nbytes": "1000"}), (400, "name a field", {"path": "stars"}),
                                (404, "no node", {"path": "x"}), (400, "out of range", {"select": "[500]"}), (400, "single element", {"select": "[0, 0]"})]:
        got = server.api("picture", status, **{"file": "samples/night.asdf", "path": "image", **query})["error"]
        assert text in got["text"] or text == got["code"], got


def test_one_element_is_seen_at_every_zoom(cippus, tmp_path):
    a = np.zeros((10000, 10000), "i1")
    a[1234, 5677] = 100
    a[9999, 3] = -100
    np.save(tmp_path / "spikes.npy", a)
    np.save(tmp_path / "line.npy", a[1234])
    with served(cippus, tmp_path) as s:
        file = f"{tmp_path.name}/spikes.npy"
        for n in (10000, 3000, 700, 30):
            for row, column, end, value in ((1234, 5677, 255, 100), (9999, 3, 0, -100)):
                top, left = min(max(0, row - n // 2), 10000 - n), min(max(0, column - n // 2), 10000 - n)
                facts, body = picture(s, "pixels", file=file, path="", select=f"[{top}:{top + n}, {left}:{left + n}]", map="gray", width=600, height=600)
                image = np.frombuffer(body, "u1").reshape(facts["height"], facts["width"], 4)[:, :, 0]
                across, down = facts["across"], facts["down"]
                y, x = (row - down["start"]) // down["step"] * down["zoom"], (column - across["start"]) // across["step"] * across["zoom"]
                assert image[y, x] == end and np.median(image) != end and value in facts["range"] and facts["whole"]
        facts, _ = picture(s, "values", file=f"{tmp_path.name}/line.npy", path="", width=300)
        assert facts["range"] == [0, 100]


def test_a_vast_array_costs_bounded_bytes(cippus, tmp_path):
    for name, shape in (("image", (1 << 20, 1 << 20)), ("line", (1 << 40,))):
        np.lib.format.open_memmap(tmp_path / f"{name}.npy", "w+", "u1", shape)  # no bytes are written
    with served(cippus, tmp_path) as s:
        def count():
            return int(pathlib.Path(f"/proc/{s.process.pid}/io").read_text().split()[1])

        for name in ("image", "line"):
            for budget in (1 << 20, 1 << 26):
                before = count()
                facts, _ = picture(s, "pixels", file=f"{tmp_path.name}/{name}.npy", path="", max_nbytes=budget, width=400, height=400)
                assert not facts["whole"] and facts["nbytes"] <= budget and count() - before < 8 * budget + (1 << 20)
