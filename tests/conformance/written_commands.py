# SPDX-License-Identifier: BSD-3-Clause
"""The cases of written.py that go through the command: a name, and the command lines.

"@i4le-6x5" is the npy file of written_cases.py, "+table.csv" a file of TEXTS; "<X" gives one of these on standard input.
Standard output of a step with the word "-" is a file of the case, "stdout".
"""
import itertools

from written_cases import CHAINS, CODECS, PLAIN_CODECS, STANDARDS

TEXTS = {
    "table.csv": b"id,ra,name,ok\n1,10.5,first,true\n2,-0.25,\"second, quoted\",false\n3,1e300,th\\u00e9,true\n",
    "plain.csv": b"1,2,3\n4,5,6\n7,8,9\n",
    "floats.csv": b"1.5,nan\n-inf,0.1\n",
    "rows.raw": bytes(range(120)),
    "odd.raw": bytes(7),
}
BASES = {
    "raw": [], "zlib": ["--codec", "zlib"], "lz4": ["--codec", "lz4"], "inline": ["--inline"], "early": ["--standard", "0.1.0"],
    "early-tile-zlib": ["--encode", CHAINS["tile-zlib"]], "tight": ["--tree-slack", "0"], "legacy": ["--md5", "legacy"],
}
CONVERTS = {
    **{f"codec-{c}": ["--codec", c] for c in CODECS}, **{f"standard-{s}": ["--standard", s] for s in STANDARDS},
    **{f"encode-{n}": ["--encode", c, "--accept-loss"] for n, c in CHAINS.items()}, **{f"md5-{m}": ["--md5", m] for m in ("current", "legacy", "none")},
    **{f"order-{o}": ["--byteorder", o] for o in ("little", "big")}, **{f"dtype-{d}": ["--dtype", d, "--accept-loss"] for d in ("f8", "i2", "c16", "S4", "bool")},
    "inline": ["--inline"], "slack-0": ["--tree-slack", "0"], "slack": ["--tree-slack", "5k"], "align-1": ["--align", "1"], "align": ["--align", "512"],
    "dtype-exact": ["--dtype", "u1"], "path": ["--path", "data"], "encode-strict-zlib": ["--encode", "[quantize, zlib]"], "standard-bad": ["--standard", "9.9.9"],
}


def base(name, data="@f4le-6x5"):
    return ["convert", data, "a.asdf", *BASES[name]]


UPDATES = {
    "set": [["set", "a.asdf", "k", "1"]], "set-map": [["set", "a.asdf", "m/n", "{a: [1, .5, 1e-3], b: yes}"]],
    "set-string": [["set", "--string", "a.asdf", "k", "12: {"]], "set-long": [["set", "--string", "a.asdf", "k", "word " * 1500]],
    "set-slack": [["set", "--tree-slack", "50", "--string", "a.asdf", "k", "word " * 1500]], "set-dry": [["set", "--dry-run", "a.asdf", "k", "1"]],
    "set-history": [["set", "--history", "why", "a.asdf", "k", "1"], ["set", "--history", "again", "a.asdf", "k", "2"]],
    "set-array": [["set", "--force", "a.asdf", "data", "1"]], "rm": [["set", "a.asdf", "k", "1"], ["rm", "a.asdf", "k"]], "rm-array": [["rm", "a.asdf", "data"]],
    "rm-defrag": [["rm", "a.asdf", "data"], ["defrag", "a.asdf"]], "defrag": [["defrag", "a.asdf"]], "freeze": [["finish", "a.asdf"]],
    "put": [["put", "a.asdf", "data", "@f4le-6x5"]], "put-slice": [["put", "a.asdf", "data", "[1:3, ::2]", "@f4le-2x3"]],
    "put-cast": [["put", "a.asdf", "data", "[0]", "@i2be-5"]], "put-inexact": [["put", "a.asdf", "data", "[:4, :3]", "@f8le-4x3"]],
    "put-loss": [["put", "--accept-loss", "a.asdf", "data", "[:4, :3]", "@f8le-4x3"]], "put-raw": [["put", "a.asdf", "data", "+rows.raw"]],
    "put-csv": [["put", "a.asdf", "data", "[:3, :3]", "+plain.csv"]], "put-nosum": [["put", "--md5", "none", "a.asdf", "data", "[0]", "@f4le-5"]],
    "put-chain-zlib": [["put", "--encode", CHAINS["tile-zlib"], "a.asdf", "data", "[0]", "@f4le-5"]],
    "put-pipe": [["put", "a.asdf", "data", "-", "<+rows.raw"]], "put-history": [["put", "--history", "x", "a.asdf", "data", "[0]", "@f4le-5"]],
    "append": [["append", "a.asdf", "data", "@f4le-2x5"]], "append-raw": [["append", "a.asdf", "+rows.raw"]], "append-odd": [["append", "a.asdf", "+odd.raw"]],
    "append-pipe": [["append", "--from", "raw", "a.asdf", "-", "<+rows.raw"]], "append-csv": [["append", "a.asdf", "data", "--dtype", "f4", "+plain.csv"]],
    "append-defrag": [["append", "a.asdf", "@f4le-2x5"], ["append", "a.asdf", "@f4le-6x5"], ["defrag", "--tree-slack", "10", "a.asdf"]],
    **{f"resize-{s.replace(',', 'x')}": [["resize", "a.asdf", "data", s]] for s in ("8,5", "2,5", "6,7", "6,3", "7,7", "0,5", "30")},
    "edit": [["set", "a.asdf", "k", "old"], ["edit", "a.asdf"]], "links": [["link", "a.asdf", "b.asdf"], ["set", "a.asdf", "k", "1"]],
    "break-links": [["link", "a.asdf", "b.asdf"], ["set", "--break-links", "--string", "a.asdf", "k", "w " * 5000]],
    "explode": [["explode", "a.asdf", "x.asdf"], ["implode", "x.asdf", "y.asdf"]], "explode-bare": [["explode", "--bare", "a.asdf", "x.asdf"]],
    "explode-path": [["explode", "--path", "data", "--align", "1", "a.asdf", "x.asdf"], ["implode", "--tree-slack", "0", "x.asdf", "y.asdf"]],
    "refs": [["set", "a.asdf", "r", "{$ref: '#/data'}"], ["convert", "a.asdf", "b.asdf"], ["convert", "--resolve-refs", "a.asdf", "c.asdf"]],
    "refs-away": [["set", "a.asdf", "r", "{$ref: 'other.asdf#/data'}"], ["convert", "--format", "asdf", "a.asdf", "-"],
                  ["convert", "--accept-loss", "--format", "asdf", "a.asdf", "-"]],
    "alias": [["set", "a.asdf", "m", "{x: &p [1, 2], y: *p}"], ["convert", "--byteorder", "big", "a.asdf", "b.asdf"]],
    "overwrite": [["convert", "@u1le-5", "a.asdf"], ["convert", "--overwrite", "@u1le-5", "a.asdf"]],
    "same": [["convert", "--overwrite", "a.asdf", "a.asdf"]],
}


def commands():
    for (name, options), (kind, data) in itertools.product(CONVERTS.items(), {"f4": "@f4be-6x5", "rec": "@rec-5", "u1": "@u1le-40x30"}.items()):
        yield f"command/convert/{kind}/{name}", [["convert", *options, data, "a.asdf"]]
    for name, format in itertools.product(["i4be-6x5", "rec", "U3le", "c16le", "b1le"], ["asdf", "rawarray", "npy"]):
        data = f"@{name}" if "-" in name else f"@{name}-6x5"
        yield f"command/pipe/{name}/{format}", [["convert", "--accept-loss", "--format", format, data, "-"]]
        yield f"command/from-pipe/{name}/{format}", [["convert", "--accept-loss", "--format", format, "-", "a.out", f"<{data}"]]
    for codec, extra in itertools.product(PLAIN_CODECS, [[], ["--tree-slack", "0"], ["--inline"], ["--standard", "0.1.0"]]):
        yield (f"command/pipe/{codec}/{'-'.join(extra).strip('-') or 'plain'}",
               [["convert", "--format", "asdf", "--codec", codec, *extra, "@i4le-40x30", "-"], ["convert", "--codec", codec, *extra, "@i4le-40x30", "a.yaml"]])
    for out, (name, options) in itertools.product(["a.asdf", "a.npy", "a.ra", "a.yaml"], {
            "table": ["+table.csv"], "unescape": ["--unescape", "+table.csv"], "header": ["--header", "+plain.csv"], "plain": ["+plain.csv"],
            "no-header": ["--no-header", "+table.csv"], "dtype": ["--dtype", "f4", "+plain.csv"], "floats": ["+floats.csv"]}.items()):
        yield f"command/csv/{name}/{out}", [["convert", "--accept-loss", *options, out]]
    for out, (dtype, shape) in itertools.product(["a.asdf", "a.npy", "a.ra"], [("i2", "*,5"), (">f4", "2,15"), ("u1", "120"), ("f8", "15"), ("S6", "*"),
                                                                              ("{x: float32, y: int16}", "*"), ("c8", "3,*"), ("f8", "16"), ("u8", "*,7")]):
        yield f"command/raw/{dtype}/{shape}/{out}", [["convert", "--from", "raw", "--dtype", dtype, "--shape", shape, "--accept-loss", "+rows.raw", out]]
    for name, (what, steps) in itertools.product(BASES, UPDATES.items()):
        if name in ("raw", "zlib", "inline", "early-tile-zlib") or what.split("-")[0] in ("put", "append", "defrag", "explode", "refs"):
            yield f"command/update/{name}/{what}", [base(name), *steps]
    for what, steps in UPDATES.items():
        if what.split("-")[0] in ("put", "append", "resize", "set", "rm", "defrag", "freeze", "edit"):
            ra = [[w.replace("a.asdf", "a.ra") for w in step if w != "data"] for step in steps]
            yield f"command/rawarray/{what}", [["convert", "@f4le-6x5", "a.ra"], *ra]
            yield f"command/rawarray-lz4/{what}", [["convert", "--codec", "lz4", "--byteorder", "big", "@f4le-6x5", "a.ra"], *ra]
