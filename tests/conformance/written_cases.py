# SPDX-License-Identifier: BSD-3-Clause
"""The cases of written.py that go through the API: a name, and what write_script is to do.

Each case writes into a folder of its own; inputs are npy files that are named by what they hold ("i4le-6x5").
"""
import itertools
import random
import struct

NUMBERS = "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()
RECORDS = {
    "rec": [("x", "<f4"), ("n", ">i2"), ("ok", "|b1")],
    "recsub": [("pos", "<f8", (2, 2)), ("name", "|S4"), ("label", "<U2")],
    "recname": [("it's", "<i2"), ("a\"b'c", "|u1"), ("é\n\t", "<f4"), ("日本", ">u2")],
    "recnest": [("id", "<u4"), ("at", [("ra", "<f8"), ("dec", ">f8")]), ("flag", "|u1")],
}
TEXTS = {"S5": "|S5", "U3le": "<U3", "U3be": ">U3"}
OTHERS = {"time": "<M8[ns]", "delta": "<m8[s]", "void": "|V6"}
DTYPES = {**{n + "le": "<" + n for n in NUMBERS}, **{n + "be": ">" + n for n in NUMBERS if n[1:] != "1"}, **TEXTS, **RECORDS, **OTHERS}
CODECS = ["none", "zlib", "zlib:1", "zlib:9", "bzp2", "bzp2:1", "lz4", "lz4f", "lz4f:9", "zstd", "zstd:1", "zstd:19", "blsc", "blsc:lz4:5", "bls2", "bls2:lz4"]
PLAIN_CODECS = [c for c in CODECS if ":" not in c]
STANDARDS = ["0.1.0", *(f"1.{i}.0" for i in range(7))]
STORAGES = ["internal", "inline", "external", "streamed"]
CHAINS = {"zlib": "[zlib]", "zlib2": "[zlib, zlib]", "tile": "[[tile, {shape: [2, 3]}]]", "tile-zlib": "[[tile, {shape: [4, 2]}], zlib]",
          "quantize-zlib": "[[quantize, {quality: 4}], zlib]", "tile-quantize-zlib": "[[tile, {shape: [3, 3]}], [quantize, {bits: 9}], zlib]"}
BIG = {"soft": "u2soft-512x5120", "noise": "u2noise-512x5120", "wide": "f4soft-512x2560"}


# --- inputs --------------------------------------------------------------------------------------

def element(descr, i):
    """The bytes of the i-th element; they come again, so that codecs make something of them."""
    i %= 29
    if isinstance(descr, list):
        out = b""
        for k, (_, kind, *shape) in enumerate(descr):
            n = 1
            for length in shape[0] if shape else ():
                n *= length
            out += b"".join(element(kind, i * n + j + 3 * k) for j in range(n))
        return out
    order, kind, size = ">" if descr[0] == ">" else "<", descr[1], int(descr[2:].split("[")[0])
    if kind == "b":
        return bytes([i % 3 == 0])
    if kind in "iumM":
        value = (i * 2654435761 + 17) % (1 << 8 * size) >> (0 if i % 2 else 4 * size)
        return value.to_bytes(size, "little" if order == "<" else "big")
    if kind == "f":
        odd = {5: float("nan"), 8: -0.0, 9: float("-inf")} if order == ">" else {}  # `quantize` refuses these
        return struct.pack(order + {2: "e", 4: "f", 8: "d"}[size], odd.get(i, (i * i - 50) / 8))
    if kind == "c":
        return struct.pack(order + {8: "2f", 16: "2d"}[size], i / 4, -3.5 * i)
    if kind == "S":
        return f"t{i * 7}"[:size].encode().ljust(size, b"\0")
    if kind == "U":
        return ("é%d" % i)[:size].ljust(size, "\0").encode("utf-32-le" if order == "<" else "utf-32-be")
    return bytes((i + j) % 256 for j in range(size))


def soft(nbytes, mask):
    """Bytes that look random in the bits of `mask` (15: codecs make about half of it)."""
    block = bytes(b & mask for b in random.Random(5).randbytes(1 << 16))
    return b"".join(block[k:] + block[:k] for k in range(-(-nbytes // len(block))))[:nbytes]


def npy(name):
    """The file that an input's name stands for."""
    kind, _, lengths = name.partition("-")
    shape = () if lengths == "scalar" else tuple(int(n) for n in lengths.split("x"))
    n = 1
    for length in shape:
        n *= length
    if kind in ("u2soft", "u2noise", "f4soft"):
        descr = "<" + kind[:2]
        data = soft(n * int(kind[1]), 255 if kind == "u2noise" else 63 if kind == "f4soft" else 15)
    else:
        descr = DTYPES[kind]
        data = b"".join(element(descr, i) for i in range(n))
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
    return b"\x93NUMPY\x03\0" + struct.pack("<I", len(text.encode())) + text.encode() + data


def at(name):
    return f"../in/{name}.npy"


# --- ASDF: new files -----------------------------------------------------------------------------

def created(create, *lines):
    return [["create", "a.asdf", *create], *lines, ["commit"]]


def put(path, name, *options):
    """Big-endian elements can only be handed over by their file."""
    return ["put_array" if name.split("-")[0].endswith("be") else "put", path, at(name), *options]


def asdf_types():
    for dtype, storage, standard in itertools.product(DTYPES, STORAGES, STANDARDS):
        if standard not in (STANDARDS if storage == "internal" else ["0.1.0", "1.0.0", "1.6.0"]) or dtype in OTHERS and standard != "1.6.0":
            continue
        yield (f"asdf/type/{dtype}/{storage}/{standard}",
               created([f"standard={standard}"], put("data", f"{dtype}-3x4", f"storage={storage}")))
    for dtype, storage, shape in itertools.product(DTYPES, STORAGES, ["scalar", "0x4", "4x0x2", "7", "2x3x2"]):
        if dtype not in OTHERS and (storage != "external" or dtype in RECORDS):
            yield f"asdf/shape/{dtype}/{storage}/{shape}", created([], put("data", f"{dtype}-{shape}", f"storage={storage}"))
    for dtype, order in itertools.product(DTYPES, ["little", "big"]):
        for storage in ("internal", "streamed"):
            yield (f"asdf/order/{dtype}/{storage}/{order}",
                   created([f"byteorder={order}"], ["put_array", "deep/er/0/data", at(f"{dtype}-3x4"), f"storage={storage}"]))


def asdf_codecs():
    for dtype, codec in itertools.product(DTYPES, CODECS[1:]):
        if ":" not in codec or dtype in ("i4le", "f8be", "rec"):
            yield f"asdf/codec/{dtype}/{codec}", created([f"codec={codec}"], put("data", f"{dtype}-40x30"))
    for codec, standard in itertools.product(CODECS, STANDARDS):
        yield (f"asdf/codec/standard/{codec}/{standard}",
               created([f"standard={standard}"], put("a", "i4le-40x30", f"codec={codec}"), put("b", "f8le-3x4")))
    for codec, storage, md5 in itertools.product(PLAIN_CODECS, STORAGES, ["md5", "legacy", "none"]):
        yield (f"asdf/sum/{codec}/{storage}/{md5}",
               created([f"md5={md5}"], put("a", "i2le-40x30", f"codec={codec}"), put("b", "u1le-12x12", f"codec={codec}", f"storage={storage}")))
    for codec, dtype in itertools.product(["zlib:0", "zlib:12", "zlib:13", "bzp2:0", "lz4f:12", "zstd:22", "zstd:23", "zlib:x", "gzip", ""], ["i4le"]):
        yield f"asdf/level/{codec or 'empty'}", created([], put("a", f"{dtype}-40x30", f"codec={codec}"))


def asdf_layout():
    for slack, align, codec in itertools.product([-1, 0, 1, 200, 70000], [0, 1, 8, 512, 32768, 65536], ["none", "lz4"]):
        yield (f"asdf/layout/slack{slack}/align{align}/{codec}",
               created([f"slack={slack}", f"align={align}", f"codec={codec}"], put("a", "i2le-40x30"), ["string", "t", "x" * 300],
                       put("b", "u1le-5"), put("c", "u1le-9", "storage=inline")))
    for storage, codec, dtype in itertools.product(STORAGES, ["none", "zlib", "lz4"], ["b1le", "u1le", "i4le", "f8be", "c16le", "S5", "U3le", "rec"]):
        yield f"asdf/mask/{dtype}/{storage}/{codec}", created([f"codec={codec}"], put("a", f"{dtype}-6x5", f"storage={storage}", "mask=1"))
    for storage, codec, skip, mask in itertools.product(STORAGES, PLAIN_CODECS, [0, 3], [[], ["mask=1"]]):
        yield (f"asdf/slab/{storage}/{codec}/skip{skip}{'/mask' if mask else ''}",
               created([f"codec={codec}"], put("before", "u1le-5"), ["slab", "a", at("i4le-40x30"), f"storage={storage}", f"skip={skip}", *mask],
                       put("b", "f8le-3x4")))
    for dtype in DTYPES:
        for codec in ("none", "zlib"):
            yield f"asdf/slab/type/{dtype}/{codec}", created([f"codec={codec}"], ["slab", "a", at(f"{dtype}-6x5"), "skip=4"])
    views = ["[1:3]", "[:, 2]", "[::2, 1::2]", "[::-1]", "[..., -1]", "[1, 1]", "[0:0]", "[None, 2]", "[9]", "."]
    for i, (selection, storage) in enumerate(itertools.product(views, STORAGES)):
        for standard in ("1.6.0", "0.1.0"):
            yield (f"asdf/view/{i}/{storage}/{standard}",
                   created([f"standard={standard}"], put("a", "i4le-6x5", f"storage={storage}"), ["view", "v", "a", selection],
                           ["view", "w", "v", "[0:1]"]))


TREE = [["string", "s", "plain"], ["string", "t/0", "12"], ["string", "t/1", "é: - # '"], ["string", "l", "long words " * 30],
        ["int", "i", "-5"], ["uint", "u", "18446744073709551615"], ["double", "d/e", "0.1"], ["double", "d/f", "1e300"], ["double", "n", "nan"],
        ["bool", "b", "true"], ["null", "z"], ["yaml", "y", "{a: [1, 2, {b: c}], d: !core/complex-1.0.0 1+2j, e: ~}"],
        ["yaml", "x", "!x/y-1.0.0 &anchor [1, 2]"], ["yaml", "q", "[unclosed"], ["string", "t/0/deeper", "no"], ["string", "s", "again"],
        ["uint", "large", "9223372036854775808"], ["yaml", "binary", "!!binary aGVsbG8="]]


def asdf_trees():
    for line, standard in itertools.product(TREE, STANDARDS):
        yield (f"asdf/tree/{line[0]}-{line[1].replace('/', '.')}-{TREE.index(line)}/{standard}",
               created([f"standard={standard}"], ["string", "s", "old"], ["string", "t/0", "zero"], line, put("data", "u1le-5")))
    for standard, lossy in itertools.product(STANDARDS, [0, 1]):
        good = [x for x in TREE if x[1] not in ("q", "t/0/deeper")]
        yield (f"asdf/tree/all/{standard}/lossy{lossy}",
               created([f"standard={standard}", f"lossy={lossy}"], *good) +
               [["create", "b.asdf"], ["node", "copy", "a.asdf", "y"], ["node", ".", "a.asdf", "."], ["commit"]])
    for name in ("a.yaml", "a.asdf", "a.ra", "a.npy", "a.b2nd", "a.unknown", "a"):
        for format in ("asdf", "rawarray", "npy", None):
            yield (f"name/{name}/{format}", [["create", name, *([f"format={format}"] if format else [])], put("data", "i4le-3x4"), ["commit"]])


def asdf_chains():
    for (name, chain), dtype in itertools.product(CHAINS.items(), [*(d for d in DTYPES if d not in OTHERS)]):
        for lossy in (0, 1) if "quantize" in name and dtype[0] == "f" else (0,):
            yield (f"asdf/chain/{name}/{dtype}/lossy{lossy}",
                   created([f"encode={chain}", f"lossy={lossy}"], put("data", f"{dtype}-7x5"),
                           *([] if "quantize" in name else [put("u", "u1le-3x4")])))
    for (name, chain), storage in itertools.product(CHAINS.items(), STORAGES):
        for more in ([], ["mask=1"]):
            yield (f"asdf/chain/{name}/{storage}{'/mask' if more else ''}",
                   created(["standard=0.1.0", "lossy=1"], put("a", "f4le-7x5", f"encode={chain}", f"storage={storage}", *more), put("b", "i2le-0x4"),
                           ["slab", "c", at("f8le-6x5"), f"encode={chain}", "skip=2"]))
    odd = ["[]", "zlib", "[gzip]", "[zlib, [tile, {shape: [2]}]]", "[[tile, {shape: [2, 2, 2]}]]", "[[tile, {shape: [100]}], zlib]", "[[tile, {}]]",
           "[[quantize, {bits: 70}]]", "[[quantize, {bits: 53}]]", "[[quantize, {quality: 0.5}]]", "[[tile, {shape: [3], colour: red}]]"]
    for i, (chain, codec) in enumerate(itertools.product(odd, ["none", "zlib:9"])):
        yield f"asdf/chain/odd/{i}/{codec}/zlib", created([f"encode={chain}", f"codec={codec}", "lossy=1"], put("a", "f4le-7x5"))


# --- ASDF: updates -------------------------------------------------------------------------------

BASES = {
    **{codec: ([f"codec={codec}"], []) for codec in PLAIN_CODECS},
    **{storage: ([], [f"storage={storage}"]) for storage in STORAGES[1:]},
    **{"chain-" + name: ([f"encode={chain}", "lossy=1"], []) for name, chain in CHAINS.items()},
    "0.1.0": (["standard=0.1.0"], []), "1.0.0": (["standard=1.0.0"], []), "big": (["byteorder=big"], []),
    "legacy-zlib": (["md5=legacy", "codec=zlib"], []), "nosums": (["md5=none"], []), "tight-lz4": (["slack=-1", "codec=lz4"], []),
    "align": (["align=4096"], []), "mask": ([], ["mask=1"]), "mask-inline": ([], ["mask=1", "storage=inline"]),
}


def base(create, of):
    chained = any("encode" in word for word in create)
    lines = [["string", "meta/title", "a file of some arrays"], ["int", "meta/n", "3"], put("c", "f8le-7x5" if chained else "rec-5"),
             put("b", "f8le-40x30"), put("a", "f4le-6x5", *of)]
    return created(create, *lines, *([] if chained or of else [["view", "v", "b", "[:, 3]"]]))


def edited(*lines, options=()):
    return [["edit", "a.asdf", *options], *lines, ["commit"]]


WRITE = ["write", "a", "[1:3]", at("f4le-2x5")]
UPDATES = {
    "set": edited(["string", "meta/title", "b"], ["int", "meta/new/0", "7"]),
    "set-long": edited(["string", "meta/title", "long " * 2000]),
    "set-kinds": edited(["double", "d", "2.5"], ["bool", "e", "true"], ["yaml", "f", "[1, {a: b}]"], ["typed", "g", "1e-3"], ["typed", "h", "012"]),
    "set-bad": edited(["yaml", "f", "[1"]),
    "set-array": edited(["yaml", "a", "1"]),
    "history": edited(["int", "meta/n", "4"], options=["history=what was done"]),
    "remove": edited(["remove", "meta/title"], ["remove", "b"]),
    "move": edited(["move", "meta/title", "meta/name"], ["move", "a", "x/y"]),
    "move-replace": edited(["move", "meta", "b", "replace=1"]),
    "move-array-there": edited(["move", "a", "b"]),
    "put-new": edited(put("new", "f8le-7x5")),
    "put-new-there": edited(put("a", "f8le-7x5")),
    "put-new-zlib": edited(put("x/new", "f8le-40x30", "codec=zlib:4")),
    "put-new-inline": edited(put("x/new", "f4le-6x5", "storage=inline")),
    "put-new-streamed": edited(put("new", "f4le-6x5", "storage=streamed")),
    "put-new-mask": edited(put("new", "f8le-7x5", "mask=1"), ["append", "b", at("f8le-9x30")], options=["lossy=1"]),
    "put-new-nosum": edited(put("new", "f8le-7x5"), options=["md5=none", "lossy=1"]),
    "put-new-several": edited(put("y", "rec-5", "codec=lz4"), ["slab", "z", at("f8le-7x5"), "skip=3"], ["put_array", "w", at("f8le-40x30"), "of=[::2, 3:5]"], WRITE),
    "remove-none": edited(["remove", "nothing"]),
    "remove-defrag": edited(["remove", "b"]) + edited(["defrag"]),
    "write": edited(["write", "a", ".", at("f4le-6x5")]),
    "write-rows": edited(WRITE),
    "write-steps": edited(["write", "a", "[::2, 1::2]", at("f4le-3x2")], ["write", "b", "[::-7, -1]", at("f8le-6")]),
    "write-point": edited(["write", "a", "[2, 2]", at("f4le-scalar")], ["write", "c", "[1:2]", at("rec-1")]),
    "write-wrong": edited(["write", "a", "[1:3]", at("f4le-3x5")]),
    "write-cast": edited(["write_array", "a", "[1:3]", at("i2be-2x5")], ["write_array", "b", "[:2, :5]", at("f4be-2x5")]),
    "write-inexact": edited(["write_array", "c", ".", at("f8le-7x5")], options=["lossy=1"]),
    "write-view": edited(["write", "v", "[3:6]", at("f8le-3")]),
    "write-legacy": edited(WRITE, ["write", "b", "[0]", at("f8le-30")], options=["md5=legacy", "lossy=1"]),
    "write-nosum": edited(WRITE, options=["md5=none", "lossy=1"]),
    "write-zstd": edited(WRITE, options=["codec=zstd:3", "lossy=1"]),
    "write-lz4": edited(WRITE, options=["codec=lz4"]),
    "write-chain-zlib": edited(WRITE, options=["encode=[[tile, {shape: [4]}], zlib]", "lossy=1"]),
    "write-lossy": edited(WRITE, ["write", "b", "[3]", at("f8le-30")], options=["lossy=1"]),
    "append": edited(["append", "a", at("f4le-2x5")], options=["lossy=1"]),
    "append-all": edited(["append", "a", at("f4le-1x5")], ["append", "b", at("f8le-9x30")], ["append", "c", at("rec-2")], options=["lossy=1"]),
    "append-cast": edited(["append_array", "b", at("i2be-2x30")], ["append_array", "c", at("rec-3")]),
    "append-twice": edited(["append", "b", at("f8le-40x30")], options=["lossy=1"]) + edited(["append", "b", at("f8le-2x30")], options=["lossy=1"]),
    "append-defrag": edited(["append", "b", at("f8le-40x30")], options=["lossy=1"]) + edited(["defrag"]),
    "append-wrong": edited(["append", "a", at("f4le-2x4")]),
    "append-none": edited(["append", "a", at("f4le-0x5")]),
    "append-write-set": edited(["append", "a", at("f4le-2x5")], ["write", "a", "[-1]", at("f4le-5")], ["int", "n", "1"], options=["lossy=1"]),
    "rows": [["rows", "a.asdf", "a", at("f4le-2x5")]],
    "rows-freeze": [["rows", "a.asdf", "a", at("f4le-2x5")], *edited(["freeze"])],
    "freeze": edited(["freeze"]),
    "freeze-nosum": edited(["freeze"], options=["md5=none", "slack=-1"]),
    "defrag": edited(["defrag"]),
    "defrag-slack": edited(["defrag"], options=["slack=100"]),
    **{f"resize-{shape.replace(',', 'x')}": edited(["resize", "a", shape], options=["lossy=1"])
       for shape in ("9,5", "2,5", "6,7", "6,2", "8,3", "3,8", "0,5", "6,0", "30", "6,5")},
    "resize-all": edited(["resize", "b", "60,20"], ["resize", "a", "7,7"], ["resize", "c", "8"], options=["lossy=1"]),
    "resize-view": edited(["resize", "v", "50"]),
    "resize-write": edited(["resize", "a", "8,8"], ["write", "a", "[6:, 5:]", at("f4le-2x3")], options=["lossy=1"]) + edited(["defrag"]),
}


SOME = ("none", "zlib", "inline", "streamed", "chain-tile-zlib")
# What is refused in nearly every file is tried in some.
FAULTS = {"freeze": ("streamed", "none"), "freeze-nosum": ("streamed",), "rows-freeze": ("streamed", "none"),
          **dict.fromkeys(("set-bad", "remove-none", "resize-30", "write-wrong", "append-wrong", "write-inexact"), SOME)}


def asdf_updates():
    for (name, (create, of)), (what, lines) in itertools.product(BASES.items(), UPDATES.items()):
        if what not in FAULTS or name in FAULTS[what]:
            yield f"update/asdf/{name}/{what}", base(create, of) + lines


# Blocks that nothing names, with and without a node that may; and what lies behind a file.
UNNAMED = edited(["remove", "b"])
FOREIGN = edited(["remove", "b"], ["yaml", "other", "!<tag:example.org:other/thing-1.0.0> {block: 1}"])
BEHIND = {"junk": ["behind", "a.asdf", "left here by another program"], "zeros": ["behind", "a.asdf", ".", "zeros=300"],
          "torn": ["behind", "a.asdf", "abc"]}


def leftovers():
    for name in ("none", "zlib", "inline", "streamed", "chain-tile-zlib", "0.1.0", "legacy-zlib", "external"):
        create, of = BASES[name]
        of = of or ["storage=internal"]  # no view, so that `b` can go
        for (what, options), (left, lines) in itertools.product(CONVERTS.items(), {"unnamed": UNNAMED, "foreign": FOREIGN}.items()):
            yield f"leftover/{left}/{name}/{what}", base(create, of) + lines + [["convert", "a.asdf", "b.asdf", *options]]
        for left, lines in {"unnamed": UNNAMED, "foreign": FOREIGN}.items():
            for lossy in (0, 1):
                yield f"leftover/{left}/{name}/defrag/{lossy}", base(create, of) + lines + edited(["defrag"], options=[f"lossy={lossy}"])
                yield (f"leftover/{left}/{name}/explode/{lossy}", base(create, of) + lines +
                       [["explode", "a.asdf", "x.asdf", f"lossy={lossy}"], ["implode", "x.asdf", "y.asdf", f"lossy={lossy}"]])
        for (left, line), what in itertools.product(BEHIND.items(), ["set", "set-long", "write", "append", "resize-9x5", "rows", "freeze", "defrag"]):
            yield f"leftover/{left}/{name}/{what}", base(create, of) + [line, *UPDATES[what]]


# --- from file to file ---------------------------------------------------------------------------

CONVERTS = {
    "plain": [], "lossy": ["lossy=1"], **{f"standard-{s}": [f"standard={s}", "lossy=1"] for s in STANDARDS},
    **{f"order-{o}": [f"byteorder={o}", "lossy=1"] for o in ("little", "big")}, **{f"storage-{s}": [f"storage={s}", "lossy=1"] for s in STORAGES[:3]},
    **{f"codec-{c}": [f"codec={c}"] for c in [*PLAIN_CODECS, "zlib:9", "zstd:19"]}, **{f"md5-{m}": [f"md5={m}"] for m in ("md5", "legacy", "none")},
    "slack-none": ["slack=-1"], "slack": ["slack=9000"], "align-1": ["align=1"], "align-lz4": ["align=4096", "codec=lz4"],
    "path-a": ["path=a", "lossy=1"], "path-v": ["path=v"], "path-none": ["path=nothing"], "resolve": ["resolve=1", "lossy=1"],
    "chain-zlib": ["encode=[[tile, {shape: [3]}], zlib]", "lossy=1"], "chain-quantize": ["encode=[quantize]", "path=a", "lossy=1"],
}


def converts():
    for (name, (create, of)), (what, options) in itertools.product(BASES.items(), CONVERTS.items()):
        if what not in ("path-none", *(f"standard-1.{i}.0" for i in (1, 2, 3, 4))) or name in SOME:
            yield f"convert/asdf/{name}/{what}", base(create, of) + [["convert", "a.asdf", "b.asdf", *options]]
    for name, (create, of) in BASES.items():
        for out, path, more in itertools.product(["b.ra", "b.npy", "b.yaml"], ["a", "c"], [[], ["byteorder=big"]]):
            yield (f"convert/asdf/{name}/{out}/{path}{'/big' if more else ''}",
                   base(create, of) + [["convert", "a.asdf", out, f"path={path}", "lossy=1", *more]])
        for what, options in {"plain": [], "a": ["path=a"], "bare": ["bare=1"], "lossy": ["lossy=1"], "slack": ["slack=-1", "align=1"]}.items():
            yield f"explode/{name}/{what}", base(create, of) + [["explode", "a.asdf", "x.asdf", *options], ["implode", "x.asdf", "y.asdf"]]
        yield (f"explode/{name}/edited", base(create, of) + [["explode", "a.asdf", "x.asdf"], ["edit", "x.asdf"], ["int", "meta/n", "4"], ["commit"],
                                                            ["rows", "x.asdf", "a", at("f4le-2x5")], ["implode", "x.asdf", "y.asdf", "lossy=1"]])


# --- RawArray and npy ----------------------------------------------------------------------------

def single(format, suffix, dtype, shape, *options, verb="put_array"):
    return [["create", f"a.{suffix}", "lossy=1", *options], [verb, "data", at(f"{dtype}-{shape}")], ["commit"]]


def with_text(options):
    """A RawArray with metadata behind its data: those come from another file."""
    return created([], ["string", "metadata", "some text behind the data"], put("data", "i4le-40x30")) + [["convert", "a.asdf", "a.ra", *options]]


ONE_ARRAY_UPDATES = {
    "write": [["write", ".", ".", at("i4le-40x30")]], "rows": [["write", ".", "[1:3]", at("i4le-2x30")]],
    "steps": [["write", ".", "[::10, 1::2]", at("i4le-4x15")]], "append": [["append", ".", at("i4le-2x30")]],
    "cast": [["write_array", ".", "[0]", at("i2be-30")]], "resize-up": [["resize", ".", "50,30"]], "resize-down": [["resize", ".", "3,30"]],
    "resize-wide": [["resize", ".", "40,33"]], "resize-both": [["resize", ".", "20,20"]], "resize-zero": [["resize", ".", "0,30"]],
    "set": [["string", "metadata", "new text"]], "set-none": [["remove", "metadata"]], "set-other": [["string", "flags", "no"]],
    "all": [["append", ".", at("i4le-2x30")], ["write", ".", "[-1]", at("i4le-30")]],
    "wrong": [["append", ".", at("i4le-2x29")]], "defrag": [["defrag"]], "freeze": [["freeze"]],
}


def rawarray():
    for dtype, order, shape in itertools.product(DTYPES, [None, "little", "big"], ["scalar", "7", "3x4", "0x4", "2x3x2"]):
        for codec in ("none", "lz4") if shape == "3x4" else ("none",):
            options = [f"codec={codec}", *([f"byteorder={order}"] if order else [])]
            yield f"rawarray/{dtype}/{order}/{shape}/{codec}", single("rawarray", "ra", dtype, shape, *options)
    for dtype in DTYPES:
        yield f"rawarray/put/{dtype}/lz4", single("rawarray", "ra", dtype, "40x30", "codec=lz4", verb="put")
        yield f"rawarray/slab/{dtype}", single("rawarray", "ra", dtype, "6x5", verb="slab")
        yield f"rawarray/strict/{dtype}", [["create", "a.ra"], ["put_array", "data", at(f"{dtype}-3x4")], ["commit"]]
    forms = {"raw": [], "big": ["byteorder=big"], "lz4": ["codec=lz4"], "lz4-big": ["codec=lz4", "byteorder=big"]}
    for (form, options), meta, (what, lines) in itertools.product(forms.items(), [0, 1], ONE_ARRAY_UPDATES.items()):
        made = with_text(options) if meta else single("rawarray", "ra", "i4le", "40x30", *options)
        yield f"rawarray/update/{form}/meta{meta}/{what}", [*made, ["edit", "a.ra"], *lines, ["commit"]]
    for (form, options), out in itertools.product(forms.items(), ["b.ra", "b.asdf", "b.npy", "b.yaml"]):
        yield f"rawarray/convert/{form}/{out}", [*with_text(options), ["convert", "a.ra", out, "lossy=1"]]


def npys():
    for dtype, order, shape in itertools.product(DTYPES, [None, "little", "big"], ["scalar", "7", "3x4", "0x4", "2x3x2"]):
        yield f"npy/{dtype}/{order}/{shape}", single("npy", "npy", dtype, shape, *([f"byteorder={order}"] if order else []))
    for dtype in DTYPES:
        yield f"npy/put/{dtype}", single("npy", "npy", dtype, "40x30", verb="put")
        yield f"npy/slab/{dtype}", single("npy", "npy", dtype, "6x5", verb="slab")
    for order, (what, lines) in itertools.product(["little", "big"], ONE_ARRAY_UPDATES.items()):
        yield (f"npy/update/{order}/{what}",
               [*single("npy", "npy", "i4le", "40x30", f"byteorder={order}"), ["edit", "a.npy"], *lines, ["commit"]])
    for options in (["codec=lz4"], ["encode=[zlib]"], ["standard=2.0"], ["md5=md5"], ["align=128"], ["slack=3"]):
        yield f"npy/option/{options[0].replace('=', '-').replace('[zlib]', 'zlib')}", single("npy", "npy", "i4le", "3x4", *options)
    for dtype in [*RECORDS, "U3be", "S5", "f2be", "time"]:
        yield f"npy/convert/{dtype}", [["convert", at(f"{dtype}-6x5"), "b.npy"], ["convert", at(f"{dtype}-6x5"), "b.ra", "lossy=1"],
                                       ["convert", at(f"{dtype}-6x5"), "b.asdf"]]


def fitses():
    for dtype, shape in itertools.product(DTYPES, ["7", "3x4", "0x4", "2x3x2"]):
        yield f"fits/{dtype}/{shape}", single("fits", "fits", dtype, shape)
    for dtype, sums, (what, lines) in itertools.product(["i4le", "u4le"], ["none", "datasum"], ONE_ARRAY_UPDATES.items()):
        lines = [[w.replace("/i4le-", f"/{dtype}-") for w in x] for x in lines]
        yield (f"fits/update/{dtype}/{sums}/{what}",
               [*single("fits", "fits", dtype, "40x30", f"md5={sums}"), ["edit", "a.fits"], *lines, ["commit"], ["verify", "a.fits"]])
    for dtype in RECORDS:
        yield f"fits/table/{dtype}", [["convert", at(f"{dtype}-7"), "b.fits"], ["convert", "b.fits", "c.fits"], ["convert", "b.fits", "d.asdf"]]
    tree = [["string", "SCI/header/TEXT", "it's"], ["string", "SCI/header/LONG", "many words " * 20], ["string", "empty/header/A", "b"]]
    arrays = [put("SCI/data", "u2le-3x4"), put("events", "f8le-5")]
    yield "fits/headers", created([], *tree, *arrays) + [["convert", "a.asdf", "a.fits"], ["convert", "a.fits", "b.fits"]]


def npzs():
    for dtype, shape in itertools.product(DTYPES, ["scalar", "7", "3x4", "0x4", "2x3x2"]):
        yield f"npz/{dtype}/{shape}", single("npz", "npz", dtype, shape)
    for dtype, verb in itertools.product(DTYPES, ["put", "slab"]):
        yield f"npz/{verb}/{dtype}", single("npz", "npz", dtype, "6x5", verb=verb)
    several = [put("a", "i4le-40x30"), put("b/c", "f8be-3x4"), put("d", "U3be-7")]
    for codec, order in itertools.product(["none", "zlib", "zlib:1"], ["little", "big"]):
        made = [["create", "a.npz", f"codec={codec}", f"byteorder={order}"], *several, ["commit"]]
        yield f"npz/several/{codec}/{order}", made
        for what, lines in ONE_ARRAY_UPDATES.items():
            lines = [[x[0], "a", *x[2:]] if x[1:2] == ["."] else x for x in lines]
            yield f"npz/update/{codec}/{order}/{what}", [*made, ["edit", "a.npz"], *lines, ["commit"]]


def zarrs():
    """Folders of both versions, without a codec that is a library's."""
    for kind, dtype, shape in itertools.product(["zarr", "zarr2"], DTYPES, ["scalar", "7", "3x4", "0x4", "2x3x2"]):
        yield f"zarr/{kind}/{dtype}/{shape}", single(kind, "zarr", dtype, shape, f"format={kind}", "codec=none")
    for kind, dtype, codec in itertools.product(["zarr", "zarr2"], DTYPES, ["none", "blosclz"]):
        yield f"zarr/{kind}/{dtype}/{codec}", single(kind, "zarr", dtype, "40x30", f"format={kind}", f"codec={codec}", "chunks=7,9")
        yield f"zarr/{kind}.zip/{dtype}/{codec}", single(kind, "zarr.zip", dtype, "40x30", f"format={kind}", f"codec={codec}", "chunks=7,9")
    forms = {"chunks": ["chunks=7,9"], "shards": ["chunks=7,9", "shards=14,18"], "v2": ["chunks=7,9"], "big": ["chunks=40,30", "byteorder=big"]}
    for (form, options), (what, lines) in itertools.product(forms.items(), ONE_ARRAY_UPDATES.items()):
        made = single("zarr", "zarr", "i4le", "40x30", f"format={'zarr2' if form == 'v2' else 'zarr'}", "codec=none", *options)
        lines = [[x[0], "data", *x[2:]] if x[1:2] == ["."] else x for x in lines]
        yield f"zarr/update/{form}/{what}", [*made, ["edit", "a.zarr"], *lines, ["commit"]]
        made = [[x[0], "a.zip", *x[2:]] if x[0] == "create" else x for x in made]
        yield f"zarr/update/{form}.zip/{what}", [*made, ["edit", "a.zip"], *lines, ["commit"]]


def bloscpacks():
    """With codecs that are ours, whose bytes no library's version changes."""
    for dtype, order, shape in itertools.product(DTYPES, [None, "little", "big"], ["scalar", "7", "3x4", "0x4", "2x3x2"]):
        yield f"bloscpack/{dtype}/{order}/{shape}", single("bloscpack", "blp", dtype, shape, *([f"byteorder={order}"] if order else []))
    for dtype, codec in itertools.product(DTYPES, ["none", "blosclz", "blosclz:1", "blosclz:9"]):
        yield f"bloscpack/{dtype}/{codec}", single("bloscpack", "blp", dtype, "40x30", f"codec={codec}")
    for dtype in DTYPES:
        yield f"bloscpack/put/{dtype}", single("bloscpack", "blp", dtype, "40x30", verb="put")
        yield f"bloscpack/slab/{dtype}", single("bloscpack", "blp", dtype, "6x5", verb="slab")
    for kind in "none adler32 crc32 md5 sha1 sha224 sha256 sha384 sha512 xxh3".split():
        yield f"bloscpack/sum/{kind}", single("bloscpack", "blp", "i4le", "40x30", f"md5={kind}")
    updates = {
        "write": [["write", ".", ".", at("i4le-40x30")]], "rows": [["write", ".", "[1:3]", at("i4le-2x30")]],
        "steps": [["write", ".", "[::10, 1::2]", at("i4le-4x15")]], "append": [["append", ".", at("i4le-2x30")]],
        "cast": [["write_array", ".", "[0]", at("i2be-30")]], "resize-up": [["resize", ".", "50,30"]], "resize-down": [["resize", ".", "3,30"]],
        "resize-wide": [["resize", ".", "40,33"]], "resize-both": [["resize", ".", "20,20"]], "resize-zero": [["resize", ".", "0,30"]],
        "set": [["string", "metadata", "new text"]], "all": [["append", ".", at("i4le-2x30")], ["write", ".", "[-1]", at("i4le-30")]],
        "wrong": [["append", ".", at("i4le-2x29")]], "defrag": [["defrag"]], "freeze": [["freeze"]],
    }
    forms = {"coded": [], "big": ["byteorder=big"], "stored": ["codec=none", "md5=none"]}
    for (form, options), (what, lines) in itertools.product(forms.items(), updates.items()):
        made = single("bloscpack", "blp", "i4le", "40x30", *options)
        yield f"bloscpack/update/{form}/{what}", [*made, ["edit", "a.blp"], *lines, ["commit"]]
    for out in ("b.ra", "b.asdf", "b.npy", "b.blp"):
        yield f"bloscpack/convert/{out}", [*single("bloscpack", "blp", "rec", "6x5"), ["convert", "a.blp", out, "lossy=1"]]


def blosc2s():
    """With codecs that are ours, as above."""
    def frame(dtype, shape, *options, kind="b2nd", verb=None):
        return single("blosc2", kind, dtype, shape, "codec=blosclz", *options, **({"verb": verb} if verb else {}))
    for dtype, order, shape in itertools.product(DTYPES, [None, "little", "big"], ["scalar", "7", "3x4", "0x4", "2x3x2"]):
        yield f"blosc2/{dtype}/{order}/{shape}", frame(dtype, shape, *([f"byteorder={order}"] if order else []))
    for dtype, grid in itertools.product(DTYPES, ["chunks=7,9", "chunks=50,8 blocks=3,8", "blocks=16,30"]):
        yield f"blosc2/grid/{dtype}/{grid.replace(' ', '/')}", frame(dtype, "40x30", *grid.split())
    for filters, split in itertools.product(["none", "shuffle", "bitshuffle", "delta", "shuffle+bytedelta", "delta+bitshuffle", "ndcell:4", "int_trunc:20"], ["auto", "always", "never"]):
        yield f"blosc2/filter/{filters.replace(':', '-')}/{split}", frame("i4le", "40x30", f"filter={filters}", f"split={split}", "lossy=1")
    for verb in ("put", "slab"):
        yield f"blosc2/{verb}", frame("f8le", "40x30", verb=verb)
    for dtype, chunks in itertools.product(["u1le", "f8be", "rec"], ["chunks=40,30", "chunks=13,11"]):
        yield f"blosc2/sparse/{dtype}/{chunks}", frame(dtype, "40x30", "sparse=yes", chunks)
    yield "blosc2/list", frame("u1le", "700", "chunks=300", kind="b2frame")
    for kind, dtype in itertools.product(("b2chunk", "blosc"), ("u1le", "f4le")):
        yield f"blosc2/chunk/{kind}/{dtype}", frame(dtype, "700", "lossy=1", kind=kind)
    yield "blosc2/list/lossy", frame("i4le", "7", "lossy=1", kind="b2frame")


def blzs():
    """Folders in the three forms, with a codec that is ours."""
    kinds = {"blz": "a.blz", "bcolz": "a.bcolz", "blz-dir": "a.out"}
    for (kind, name), dtype, shape in itertools.product(kinds.items(), DTYPES, ["7", "30x4", "0x4", "20x3x2"]):
        options = ["format=" + kind, "codec=blosclz", "chunklen=8", *(["superchunk=2", "spare=3"] if kind == "blz" else [])]
        yield f"blz/{kind}/{dtype}/{shape}", [["create", name, "lossy=1", *options], put("data", f"{dtype}-{shape}"), ["commit"]]
    for (kind, name), order in itertools.product(kinds.items(), ["little", "big"]):
        yield (f"blz/columns/{kind}/{order}", [["create", name, "format=" + kind, "codec=blosclz:9", f"byteorder={order}"], put("a", "i4le-40x30"),
                                               put("b", "f8be-40x30"), put("c", "U3be-40x30"), ["string", "attributes/k", "v"], ["commit"]])
    for kind in ("bcolz", "blz-dir"):
        yield (f"blz/table/{kind}", [["create", kinds[kind], "format=" + kind, "codec=blosclz", "chunklen=3", "table=yes"], put("a", "recsub-40"), ["commit"]])
    for kind in "none adler32 sha512 xxh3".split():
        yield f"blz/sum/{kind}", [["create", "a.blz", f"md5={kind}"], put("a", "recnest-40x30"), ["commit"]]


# --- from each format to each other one, and back ------------------------------------------------

# How each is written with bytes that no library's version changes: extension, options.
WRITTEN = {
    "asdf": ("asdf", []), "rawarray": ("ra", []), "npy": ("npy", []), "npz": ("npz", []), "fits": ("fits", []),
    "zarr": ("zarr", ["codec=none"]), "zarr2": ("zarr", ["format=zarr2", "codec=none"]), "blosc2": ("b2nd", ["codec=blosclz"]),
    "bloscpack": ("blp", ["codec=blosclz"]), "blz": ("blz", ["codec=blosclz"]), "bcolz": ("bcolz", ["codec=blosclz"]), "hdf5": ("h5", []),
}


def matrix():
    """Both copies have the elements that the first file got, or the type is refused. Beside that a RawArray has but the bytes of some
    types ("same:wrong type"), FITS and HDF5 have no text that is not ASCII ("same:corrupt", a loss that is accepted), and a table of bcolz
    becomes its columns ("same:not found")."""
    for (one, (a, of_one)), (other, (b, of_other)) in itertools.permutations(WRITTEN.items(), 2):
        for dtype in DTYPES:
            name = at(f"{dtype}-7" if dtype in RECORDS else f"{dtype}-6x5")
            yield (f"matrix/{one}-{other}/{dtype}",
                   [["create", f"a.{a}", "lossy=1", *of_one], ["put_array", "data", name], ["commit"], ["same", f"a.{a}", name],
                    ["convert", f"a.{a}", f"b.{b}", "lossy=1", *of_other], ["same", f"b.{b}", name],
                    ["convert", f"b.{b}", f"c.{a}", "lossy=1", *of_one], ["same", f"c.{a}", name]])


# --- data of several pieces ----------------------------------------------------------------------

def big():
    """With `threads=N` still to be added to options of "create", "edit" and "convert"."""
    for codec in ("none", "zlib", "zlib:1", "bzp2", "lz4", "lz4f", "zstd", "zstd:1", "blsc", "blsc:zlib", "bls2", "bls2:lz4:9"):
        yield f"big/put/{codec}", created([f"codec={codec}"], put("a", BIG["soft"]), put("b", "u1le-5"))
        if codec in ("none", "zlib", "lz4"):
            yield f"big/noise/{codec}", created([f"codec={codec}"], ["put_array", "a", at(BIG["noise"])])
        if codec in ("none", "lz4", "zstd"):
            yield (f"big/update/{codec}", created([f"codec={codec}", "md5=legacy"], ["put_array", "a", at(BIG["wide"])]) +
                   edited(["write", "a", "[100:400:3, ::5]", at("f4le-100x512")], ["append", "a", at("f4le-2x2560")]))
    for codec in ("none", "lz4"):
        yield f"big/slab/{codec}", created([f"codec={codec}", "byteorder=big"], ["slab", "a", at(BIG["soft"]), "skip=5"])
        yield f"big/resize/{codec}", created([f"codec={codec}"], put("a", BIG["soft"])) + edited(["resize", "a", "500,2100"])
        yield f"big/shrink/{codec}", created([f"codec={codec}"], put("a", BIG["soft"])) + edited(["resize", "a", "40,2000"])
        yield f"big/convert-zstd/{codec}", created([], put("a", BIG["soft"])) + [["convert", "a.asdf", "b.asdf", f"codec={codec}", "byteorder=big"],
                                                                           ["convert", "b.asdf", "c.asdf", "codec=zstd:2"]]
    for storage in ("streamed", "external"):
        yield (f"big/{storage}", created([], put("a", BIG["soft"], f"storage={storage}")) + [["rows", "a.asdf", "a", at("u2le-1x5120")], *edited(["freeze"])])
    for name, chain in {**CHAINS, "tile-zlib": "[[tile, {shape: [100, 1000]}], zlib]", "quantize-zlib": "[[tile, {shape: [100, 1000]}], quantize, zlib]"}.items():
        if name not in ("tile", "tile-quantize-zlib"):
            yield f"big/chain/{name}", created([f"encode={chain}", "lossy=1"], ["slab", "a", at(BIG["wide"])] if name == "zlib2" else put("a", BIG["wide"]))
    for codec in ("none", "lz4"):
        yield (f"big/bloscpack/{'stored' if codec == 'none' else 'coded'}",
               [["create", "a.blp", *(["codec=none"] if codec == "none" else [])], put("a", BIG["soft"]), ["commit"],
                ["edit", "a.blp"], ["write", ".", "[100:400:3, ::5]", at("u2le-100x1024")], ["append", ".", at("u2le-2x5120")], ["commit"]])
        yield f"big/blz/{'stored' if codec == 'none' else 'coded'}", [["create", "a.blz", *(["codec=none"] if codec == "none" else [])], put("a", BIG["soft"]), ["commit"]]
        yield f"big/rawarray/{codec}", [["create", "a.ra", f"codec={codec}", "byteorder=big"], put("a", BIG["soft"]), ["commit"]]


def cases():
    """(name, lines, whether it has to be the same with 4 threads)"""
    for part in (asdf_types, asdf_codecs, asdf_layout, asdf_trees, asdf_chains, asdf_updates, leftovers, converts, rawarray, npys, npzs, fitses, zarrs, bloscpacks, blosc2s, blzs, matrix):
        for i, (name, lines) in enumerate(part()):
            yield name, lines, i % 16 == 5
    for name, lines in big():
        yield name, lines, True
