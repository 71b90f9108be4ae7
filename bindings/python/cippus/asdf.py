# SPDX-License-Identifier: BSD-3-Clause
"""For the asdf package: cippus decodes and encodes its compressed blocks, and trees that it writes may hold cippus arrays.
With `Windows`, parts of arrays are read without decoding all of them::

    asdf.get_config().add_extension(cippus.asdf.Compression("lz4"))     # in place of asdf's own
    with asdf.config_context() as config:
        config.add_extension(cippus.asdf.Windows())
        asdf.open("night.asdf")["image"][20:30, 40:50]
"""
from __future__ import annotations

import bz2
import importlib.util
import struct
import weakref
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np

from . import _cippus, _errors, _opening
from ._array import Array
from ._reopen import opened, state_of
from ._value import as_quantity
from ._write import create

try:
    from asdf.extension import Compressor, Converter, Extension, TagDefinition  # type: ignore[import-untyped, unused-ignore]
    from asdf.tagged import TaggedDict, TaggedString  # type: ignore[import-untyped, unused-ignore]
except ImportError as error:
    raise ImportError("cippus.asdf needs asdf: pip install asdf") from error

__all__ = ["Compression", "LABELS", "Windows", "get_extensions"]

# What files say that they need: of compressors that asdf has itself, nothing but the standard.
_CORE = "asdf://asdf-format.org/core/extensions/core-1.6.0"
_SHARED = "asdf://asdf-format.org/compression/extensions/{}-1.0.0"
#: The compressions by asdf's names, and the URI of the extension for each.
LABELS = {
    "lz4": _CORE, "zlib": _CORE, "bzp2": _CORE, "bls2": "asdf://cippus/compression/extensions/bls2-1.0.0",
    "lz4f": _SHARED.format("lz4f"), "zstd": _SHARED.format("zstd"), "blsc": _SHARED.format("blsc"),
}  # fmt: skip
_SHARED_LABELS = ("blsc", "zstd", "lz4f")  # asdf-compression's
_descriptions: weakref.WeakKeyDictionary[Any, dict[str, list[Array]]] = weakref.WeakKeyDictionary()
_MAGIC, _HEADER = b"\xd3BLK", struct.Struct(">I4sQQQ16s")

# --- blocks -----------------------------------------------------------------------------------------------------


def _decode(label: bytes, stored: bytes, out: np.ndarray[Any, Any], threads: int) -> None:
    """By way of a file that has this block alone."""
    tree = (
        "#ASDF 1.0.0\n#ASDF_STANDARD 1.5.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n"
        f"a: !core/ndarray-1.0.0 {{source: 0, datatype: uint8, byteorder: little, shape: [{out.size}]}}\n...\n"
    )
    header = _HEADER.pack(0, label.ljust(4, b"\0"), len(stored), len(stored), out.size, bytes(16))
    data = b"".join((tree.encode(), _MAGIC, struct.pack(">H", _HEADER.size), header, stored))
    with _opening.open(data, format="asdf", threads=threads) as file:
        file["a"].read(out=out)


def _encode(label: str, data: np.ndarray[Any, Any], codec: str, threads: int, options: dict[str, str]) -> bytes:
    with create(format="asdf", threads=threads) as file:
        file.put("a", data, codec=codec, options=options or None)
    made = file.getvalue()
    assert made is not None
    at = made.index(_MAGIC, made.index(b"\n...\n")) + 4
    (length,) = struct.unpack_from(">H", made, at)
    _, written, _, used, _, _ = _HEADER.unpack_from(made, at + 2)
    stored = made[at + 2 + length : at + 2 + length + used]
    return stored if written.rstrip(b"\0").decode() == label else _raw(label, stored)


def _raw(label: str, data: bytes) -> bytes:
    """What does not become smaller, which a file of cippus has as it is: in the form that the label stands for."""
    pieces = [data[i : i + (4 << 20)] for i in range(0, len(data), 4 << 20)]
    if label == "zlib":
        return zlib.compress(data, 0)
    if label == "bzp2":
        return bz2.compress(data)
    if label == "lz4":
        return b"".join(map(_raw_lz4, pieces))
    if label == "lz4f":
        head = bytes.fromhex("04224d18607073")  # independent blocks of 4 MiB
        return head + b"".join(struct.pack("<I", 1 << 31 | len(p)) + p for p in pieces) + bytes(4)
    if label == "zstd":
        blocks = [data[i : i + (128 << 10)] for i in range(0, len(data), 128 << 10)] or [b""]
        heads = [((len(b) << 3) | (i + 1 == len(blocks))).to_bytes(3, "little") for i, b in enumerate(blocks)]
        return b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", len(data)) + b"".join(h + b for h, b in zip(heads, blocks))
    if label == "blsc":
        return _cippus.blosc_encode(data, "blosclz", 0, 1, "none", 0, True)
    with create(format="blosc2") as file:  # bls2
        file.put("", np.frombuffer(data, np.uint8))
    made = file.getvalue()
    assert made is not None
    return made


def _raw_lz4(piece: bytes) -> bytes:
    """Literals alone, in asdf's piece: its length, then the length of what is in it."""
    n = len(piece)
    token = bytes([n << 4]) if n < 15 else b"\xf0" + b"\xff" * ((n - 15) // 255) + bytes([(n - 15) % 255])
    return struct.pack(">I", 4 + len(token) + n) + struct.pack("<I", n) + token + piece


class _Compressor(Compressor):  # type: ignore[misc]
    """One label. Keywords of compression: `level` (also clevel), `threads`, and of Blosc `typesize`, `cname` and `filter`."""

    label = b""

    def __init__(self, label: str):
        self.label = label.encode()

    def compress(self, data: Any, **kwargs: Any) -> Iterator[bytes]:
        label, is_blosc = self.label.decode(), self.label in (b"blsc", b"bls2")
        level = kwargs.pop("level", kwargs.pop("clevel", None))
        threads, cname = kwargs.pop("threads", 0), kwargs.pop("cname", None) if is_blosc else None
        flat = np.frombuffer(data, np.uint8)
        size = kwargs.pop("typesize", max(data.itemsize, 8)) if is_blosc else 1
        filter = kwargs.pop("filter", None) if is_blosc else None
        if kwargs:
            raise TypeError(f"{label} has no option {next(iter(kwargs))!r}")
        if size > 1 and flat.size % size == 0 and flat.size:
            flat = flat.view(f"V{size}" if size not in (2, 4, 8) else f"u{size}")
        if is_blosc and level is not None and cname is None:
            cname = "blosclz" if label == "blsc" else "zstd"
        codec = ":".join(str(x) for x in (label, cname, level) if x is not None)
        yield _encode(label, flat, codec, threads, {"filter": filter} if filter else {}) if flat.size else b""

    def decompress(self, data: Iterable[bytes], out: Any, **kwargs: Any) -> int:
        threads = kwargs.pop("threads", 0)
        if kwargs:
            raise TypeError(f"{self.label.decode()} has no option {next(iter(kwargs))!r}")
        into = np.frombuffer(out, np.uint8)
        stored = b"".join(data)  # to its end in any case: asdf looks for the next block there
        if into.size:
            _decode(self.label, stored, into, threads)
        return int(into.size)


class Compression(Extension):  # type: ignore[misc]
    """The compressor of one label of LABELS, for asdf's add_extension(); the extension that is added last is used."""

    extension_uri = ""
    compressors: list[Any] = []
    """As asdf asks for them."""

    def __init__(self, label: str):
        if label not in LABELS:
            raise ValueError(f"{label!r} is none of {', '.join(LABELS)}")
        self.extension_uri = LABELS[label]
        self.compressors = [_Compressor(label)]


# --- trees ------------------------------------------------------------------------------------------------------


class _ArrayConverter(Converter):  # type: ignore[misc]
    """Writes an array of a cippus file as asdf writes numpy's."""

    tags: list[str] = []
    types = ["cippus._array.Array"]

    def select_tag(self, obj: Any, tags: Any, ctx: Any) -> None:
        return None

    def to_yaml_tree(self, obj: Any, tag: Any, ctx: Any) -> Any:
        quantity = as_quantity(obj, "")
        if quantity is obj:
            return obj.read()
        unit = quantity["unit"]
        tagged = TaggedString(str(unit))
        tagged._tag = getattr(unit, "tag", None)
        parts = {k: v for k, v in quantity.items() if k not in ("unit", "value")}
        return TaggedDict({"unit": tagged if tagged._tag else str(unit), "value": quantity["value"].read(), **parts}, quantity.tag)

    def from_yaml_tree(self, node: Any, tag: Any, ctx: Any) -> Any:
        raise NotImplementedError


class Arrays(Extension):  # type: ignore[misc]
    """cippus.Array in trees that asdf writes."""

    extension_uri = _CORE
    converters = [_ArrayConverter()]


class _WindowConverter(Converter):  # type: ignore[misc]
    tags = ["tag:stsci.edu:asdf/core/ndarray-*"]
    types: list[str] = []

    def select_tag(self, obj: Any, tags: Any, ctx: Any) -> None:
        return None

    def to_yaml_tree(self, obj: Any, tag: Any, ctx: Any) -> Any:
        raise NotImplementedError

    def from_yaml_tree(self, node: Any, tag: Any, ctx: Any) -> Any:
        parts = urlsplit(ctx.url or "")
        if parts.scheme != "file":
            raise _refused("windows are read from files that have a path", ctx.url)
        path = unquote(parts.path)
        file = opened(path, state_of(path), ())
        found = _by_description(file).get(_description(node), ())
        if not found and isinstance(node, Mapping) and node.get("datatype") == "bool8":
            return node  # a mask, which comes with its array
        if len(found) != 1:
            raise _refused(f"expected one array like this, found {len(found)}: {node}", path)
        return found[0].read(mask=True) if found[0].is_masked else found[0]


def _refused(text: str, path: Any) -> _errors.Error:
    return _errors._again(_errors.UnsupportedError, text, "", None, path)


def _description(node: Any) -> str:
    """The same for the same node of asdf's tree and of cippus's: asdf does not say where in the tree it stands."""
    if isinstance(node, Mapping):
        rest = sorted((str(key), _description(value)) for key, value in node.items() if key != "mask")
        return repr((rest, "mask" in node))
    if isinstance(node, Sequence) and not isinstance(node, str):
        return repr([_description(value) for value in node])
    return str(node) if isinstance(node, str) else repr(node)


def _by_description(file: Any) -> dict[str, list[Array]]:
    found = _descriptions.get(file)
    if found is None:
        found = {}
        for array in file.arrays.values():
            same = found.setdefault(_description(array.node), [])
            if not same or array.is_masked:  # arrays of the same elements are one, but masks may differ
                same.append(array)
        _descriptions[file] = found
    return found


class Windows(Extension):  # type: ignore[misc]
    """For asdf's add_extension(): arrays of files that asdf opens become cippus.Array objects. Indexing them decodes only what it
    needs, also if they are compressed. It works after asdf's file is closed. Masked arrays are read at once. The file must have a path."""

    extension_uri = _CORE
    tags = [
        TagDefinition(f"tag:stsci.edu:asdf/core/ndarray-{v}", schema_uris=[f"http://stsci.edu/schemas/asdf/core/ndarray-{v}"])
        for v in ("1.0.0", "1.1.0")
    ]
    converters = [_WindowConverter()]


def get_extensions() -> list[Any]:
    """Called by asdf: the compressors that neither it nor the package asdf-compression registers, as asdf warns of two compressors
    with one label, and the extension that writes a cippus.Array."""
    theirs = importlib.util.find_spec("asdf_compression") is not None
    return [Compression(label) for label in ("bls2", *(() if theirs else _SHARED_LABELS))] + [Arrays()]
