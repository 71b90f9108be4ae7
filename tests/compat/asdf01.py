# SPDX-License-Identifier: BSD-3-Clause
"""A reader of ASDF 0.1 of its own: all five block layouts and encoding chains, by struct, zlib, bz2, yaml and numpy alone.

It follows "Low-level file layout" of the 0.1.0 document, and shares nothing with the library. `encode` is the other way, plainly.
"""
import bz2
import math
import pathlib
import re
import struct
import zlib

import numpy as np
import yaml

MAGIC = b"\xd3BLK"
# header_size: its fields behind flags, with their struct codes
FORMS = {36: ("alloc used memory checksum", ">IQQQ8s"), 40: ("code alloc used memory checksum", ">I4sQQQ8s"),
         44: ("alloc used checksum encoding", ">IQQ8s16s"), 48: ("code alloc used memory checksum", ">I4sQQQ16s")}
KINDS = {"int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8", "uint8": "u1", "uint16": "u2", "uint32": "u4", "uint64": "u8",
         "float32": "f4", "float64": "f8", "complex64": "c8", "complex128": "c16", "bool8": "?"}
END = re.compile(rb"\r?\n\.\.\.\r?\n")


class Tagged(dict):
    tag = ""


class Loader(yaml.SafeLoader):
    pass


def _any(loader, suffix, node):
    if isinstance(node, yaml.MappingNode):
        value = Tagged(loader.construct_mapping(node, deep=True))
        value.tag = suffix
        return value
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    text = loader.construct_scalar(node)
    return complex(text.replace("i", "j").replace("I", "j")) if "complex" in suffix else text


Loader.add_multi_constructor("", _any)


def parse_blocks(data, at):
    """The fields and payload of each block from `at` on. An exact header_size tells the layout, else what makes sense."""
    size, = struct.unpack_from(">H", data, at + 4)
    for form in [size] if size in FORMS else [48, 40, 36, 44]:
        try:
            return parse_as(form, data, at)
        except AssertionError:
            pass
    raise AssertionError("no layout makes sense")


def parse_as(form, data, at):
    (names, code), blocks = FORMS[form], []
    while data[at:at + 4] == MAGIC:
        size, = struct.unpack_from(">H", data, at + 4)
        b = dict(zip(["flags", *names.split()], struct.unpack_from(code, data, at + 6)), layout=form)
        start, streamed = at + 6 + size, b["flags"] & 1
        b["payload"] = data[start:] if streamed else data[start:start + b["used"]]
        assert streamed or len(b["payload"]) == b["used"] <= b["alloc"]
        blocks.append(b)
        at = len(data) if streamed else start + b["alloc"]
    return blocks


def untile(raw, args):
    shape, whole, item = args["shape"], args["original_shape"], args["item_size"]
    out = np.zeros(whole, f"V{item}")
    grid = [-(-n // t) for n, t in zip(whole, shape)]
    tiles = np.frombuffer(raw, f"V{item}").reshape([math.prod(grid), *shape])
    for i, at in enumerate(np.ndindex(*grid)):
        box = tuple(slice(g * t, min((g + 1) * t, n)) for g, t, n in zip(at, shape, whole))
        out[box] = tiles[(i, *(slice(0, s.stop - s.start) for s in box))]
    return out.tobytes()


def tile(raw, args):
    shape, whole, item = args["shape"], args["original_shape"], args["item_size"]
    array, out = np.frombuffer(raw, f"V{item}").reshape(whole), []
    for at in np.ndindex(*[-(-n // t) for n, t in zip(whole, shape)]):
        one = np.zeros(shape, f"V{item}")
        part = array[tuple(slice(g * t, (g + 1) * t) for g, t in zip(at, shape))]
        one[tuple(slice(0, n) for n in part.shape)] = part
        out.append(one.tobytes())
    return b"".join(out)


def unquantize(raw, args, big):
    out, at = [], 0
    while at + 25 <= len(raw):
        bits, offset, scale, n = struct.unpack_from(">BddQ", raw, at)
        at += 25
        size = (bits * n + 7) // 8
        assert at + size <= len(raw)
        packed = np.unpackbits(np.frombuffer(raw, "u1", size, at), count=bits * n).reshape(n, bits)
        values = np.zeros(n, "i8")
        for k in range(bits):  # two's complement: the first bit is the sign
            values = (values << 1) | packed[:, k] if k else -packed[:, 0].astype("i8")
        out.append(values.astype("f8") * scale + offset)
        at += size
    return np.concatenate(out or [np.zeros(0)]).astype((">" if big else "<") + ("f8" if args["dtype"] == 64 else "f4")).tobytes()


def quantize(raw, args, big, chunk=1000):
    """Plainly: chunks of `chunk` values, 16 bits each, from the smallest value on."""
    values, out = np.frombuffer(raw, (">" if big else "<") + ("f8" if args["dtype"] == 64 else "f4")).astype("f8"), []
    for i in range(0, len(values), chunk):
        x = values[i:i + chunk]
        scale = (x.max() - x.min()) / 65535 or 1.0
        q = np.clip(np.rint((x - x.min()) / scale), 0, 65535).astype("i8") - 32768
        out.append(struct.pack(">BddQ", 16, x.min() + 32768 * scale, scale, len(x)) + q.astype(">i2").tobytes())
    return b"".join(out)


def chain_of(payload):
    """The stages [(name, args)] in front of a payload, and how long their text is."""
    end = END.search(payload).end()
    stages = yaml.load(payload[:end], Loader)
    stages = [stages] if isinstance(stages, str) else stages
    return [(s, {}) if isinstance(s, str) else (s[0], (s[1:] or [{}])[0]) for s in stages], end


def decode_chain(payload, big=False, nbytes=None):
    pairs, end = chain_of(payload)
    raw = payload[end:]
    for name, args in reversed(pairs):
        if name == "zlib":
            raw = zlib.decompress(raw)
        elif name == "quantize":
            raw = unquantize(raw, args, big)
        elif name == "tile":
            raw = untile(raw[:math.prod(-(-n // t) * t for n, t in zip(args["original_shape"], args["shape"])) * args["item_size"]],
                         args)
        else:
            raise ValueError(f"unknown encoding {name}")
    return raw[:nbytes]


def encode(raw, pairs, text, big=False):
    """An encoded payload: `text` (bytes of YAML, end marker included), then raw through the stages."""
    for name, args in pairs:
        raw = zlib.compress(raw) if name == "zlib" else tile(raw, args) if name == "tile" else quantize(raw, args, big)
    return text + raw


def dtype_of(spec, order):
    prefix = ">" if order == "big" else "<"
    if isinstance(spec, str):
        return np.dtype(prefix + KINDS[spec])
    if isinstance(spec, list) and spec and spec[0] in ("ascii", "ucs4"):
        return np.dtype(f"S{spec[1]}" if spec[0] == "ascii" else f"{prefix}U{spec[1]}")
    fields = []
    for i, f in enumerate(spec):
        f = f if isinstance(f, dict) else {"datatype": f}
        kind = dtype_of(f.get("datatype", f.get("dtype")), f.get("byteorder", order))
        fields.append((f.get("name", f"f{i}"), kind, tuple(f.get("shape", ()))))
    return np.dtype(fields)


class File:
    def __init__(self, path):
        self.path, self.data = pathlib.Path(path), pathlib.Path(path).read_bytes()
        assert re.match(rb"#ASDF (0\.1|1\.0)\.0\r?\n", self.data), self.data[:20]
        marker = re.search(rb"\n\.\.\.\r?(\n|$)", self.data)
        start = self.data.find(b"%YAML")
        self.tree = yaml.load(self.data[start:marker.end()], Loader) if 0 <= start else {}
        first = self.data.find(MAGIC, marker.end() if marker and start >= 0 else 0)
        self.blocks = parse_blocks(self.data, first) if first >= 0 else []

    def bytes_of(self, source, big):
        if isinstance(source, str):
            return File(self.path.parent / source).bytes_of(0, big)
        b = self.blocks[source]
        code = b.get("code", b"").strip(b"\0") or b.get("encoding", b"").strip(b"\0")
        if b["layout"] == 36 and b["flags"] & 2:
            return decode_chain(b["payload"], big, b["memory"])
        return {b"": lambda p: p, b"zlib": zlib.decompress, b"bzp2": bz2.decompress}[code](b["payload"])

    def array(self, path):
        node = self.tree
        for step in path.strip("/").split("/"):
            node = node[int(step)] if isinstance(node, list) else node[step.replace("~1", "/").replace("~0", "~")]
        return self.of(node)

    def of(self, node):
        if isinstance(node, list) or "data" in node:
            values = node if isinstance(node, list) else node["data"]
            spec = None if isinstance(node, list) else node.get("datatype", node.get("dtype"))
            return np.array(values, spec and dtype_of(spec, node.get("byteorder", "little")))
        order = node.get("byteorder", "little")
        kind = dtype_of(node.get("datatype", node.get("dtype")), order)
        raw, shape, offset = self.bytes_of(node["source"], order == "big"), list(node["shape"]), node.get("offset", 0)
        if shape and shape[0] == "*":
            shape[0] = (len(raw) - offset) // (kind.itemsize * math.prod(shape[1:]))
        return np.ndarray(shape, kind, raw, offset, node.get("strides"))
