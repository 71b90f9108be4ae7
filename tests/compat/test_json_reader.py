# SPDX-License-Identifier: BSD-3-Clause
"""JSON that Python writes, as attributes of a bcolz array, is read as Python reads it."""
import json
import math
import random

import pytest

LETTERS = ['"', "\\", "/", "\b", "\n", "\t", "\x7f", "é", "𝔘", " ", "a", "Z", "{", ":", ","]
NUMBERS = [0, -1, 2**63 - 1, -(2**63), 2**64 - 1, 2**64, -(10**40), 10**300, 0.1, -0.0, 5e-324, 1.7976931348623157e308, 1e22, math.inf, -math.inf, math.nan]


def text(rng):
    return "".join(rng.choice(LETTERS) for _ in range(rng.randrange(6)))


def value(rng, depth=0):
    kind = rng.randrange(7 if depth < 5 else 5)
    if kind == 5:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind == 6:
        return {text(rng) + rng.choice(["", "\0", "x"]) or "k": value(rng, depth + 1) for _ in range(rng.randrange(4))}
    return [None, True, False, rng.choice([*NUMBERS, rng.uniform(-1, 1), rng.getrandbits(rng.randrange(1, 200))]), text(rng)][kind]


def printed(x):
    """`--json` prints what JSON has no number for as texts."""
    if isinstance(x, float) and not math.isfinite(x):
        return "NaN" if math.isnan(x) else "Infinity" if x > 0 else "-Infinity"
    if isinstance(x, list):
        return [printed(item) for item in x]
    return {k: printed(v) for k, v in x.items()} if isinstance(x, dict) else x


def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b and str(a) == str(b)  # -0.0


@pytest.mark.parametrize("ascii_only", [True, False])
def test_attributes_are_read_as_python_reads_them(cippus, tmp_path, ascii_only):
    rng = random.Random(7)
    (tmp_path / "a.csv").write_text("1\n2\n")
    cippus.run("convert", tmp_path / "a.csv", tmp_path / "a.bcolz")
    for _ in range(60):
        document = {f"k{i}": value(rng) for i in range(20)}
        written = json.dumps(document, ensure_ascii=ascii_only, indent=rng.choice([None, 1]))
        (tmp_path / "a.bcolz" / "__attrs__").write_text(written)
        got = json.loads(cippus.run("tree", tmp_path / "a.bcolz", "attributes", "--json"))
        assert same(got, printed(json.loads(written)))


@pytest.mark.parametrize(
    "wrong", ["{", '{"a": 1,}', '{"a" 1}', "{'a': 1}", '{"a": 01}', '{"a": 1.}', '{"a": +1}', '{"a": .5}', '{"a": nan}', '{"a": "\\x"}', '{"a": 1} 2', '{"a": [1 2]}', "[1]x"]
)
def test_what_python_refuses_is_refused(cippus, tmp_path, wrong):
    with pytest.raises(ValueError):
        json.loads(wrong)
    (tmp_path / "a.csv").write_text("1\n2\n")
    cippus.run("convert", tmp_path / "a.csv", tmp_path / "a.bcolz")
    (tmp_path / "a.bcolz" / "__attrs__").write_text(wrong)
    cippus.run("tree", tmp_path / "a.bcolz", status=3)  # nothing of them is shown
    assert list(cippus.array(tmp_path / "a.bcolz")) == [1, 2]
    cippus.run("verify", tmp_path / "a.bcolz", status=1)
