# SPDX-License-Identifier: BSD-3-Clause
"""Python's values as YAML in flow style, as the library takes values of the tree."""
from __future__ import annotations

import base64
import datetime
import math
from collections.abc import Mapping
from typing import Any, Optional

import numpy as np

from ._tree import Map, Seq, TaggedStr

_CORE = "tag:yaml.org,2002:"
_VERBATIM = (_CORE + "timestamp", _CORE + "int", _CORE + "float", _CORE + "bool", _CORE + "null")


class Tagged(dict[Any, Any]):
    """A mapping with a tag."""

    def __init__(self, pairs: Any, tag: Optional[str]):
        super().__init__(pairs)
        self.tag = tag


class TaggedList(list[Any]):
    """A sequence with a tag."""

    def __init__(self, items: Any, tag: Optional[str]):
        super().__init__(items)
        self.tag = tag


def tag_of(value: Any) -> Optional[str]:
    """Of a collection: one of a tree, or with a tag of its own."""
    return value.tag if isinstance(value, (Map, Seq, Tagged, TaggedList)) else None


def quoted(text: str) -> str:
    def escaped(c: str) -> str:
        if c in '"\\':
            return "\\" + c
        if c.isprintable() and c != "\ufeff":
            return c
        n = ord(c)
        return f"\\x{n:02x}" if n < 256 else f"\\u{n:04x}" if n < 65536 else f"\\U{n:08x}"

    return '"' + "".join(map(escaped, text)) + '"'


def _real(x: float) -> str:
    if math.isnan(x):
        return ".nan"
    if math.isinf(x):
        return ".inf" if x > 0 else "-.inf"
    text = repr(float(x))
    mantissa, e, exponent = text.partition("e")
    return text if not e or "." in mantissa else f"{mantissa}.0e{exponent}"


def tagged(tag: Any, text: str) -> str:
    return text if not tag or tag.startswith(_CORE) else f"!<{tag}> {text}"


def _string(text: str) -> str:
    if not isinstance(text, TaggedStr):
        return quoted(text)
    return str(text) if text.tag in _VERBATIM else f"!<{text.tag}> {quoted(text)}"


def _instant(value: Any) -> str:
    """A date, or a time of microseconds: what a timestamp of a tree says, and Python reads."""
    if isinstance(value, np.datetime64):
        found = value.astype("M8[us]").item() if np.datetime_data(value.dtype)[0] != "D" else value.item()
        exact = found is not None and not isinstance(found, int) and np.datetime64(found) == value
    else:
        found = value
        exact = value == value and not getattr(value, "nanosecond", 0)
    if not exact:
        raise TypeError(f"{value!r} is no value of a tree, which has times of microseconds in the years 1 to 9999: give a str, None or an array")
    return str(found.isoformat())


def flow(value: Any) -> str:
    """TypeError for what is no value of a tree; arrays are none."""
    if isinstance(value, (np.datetime64, datetime.date)):
        return _instant(value)
    if isinstance(value, (np.timedelta64, np.void)):
        raise TypeError(f"a {type(value).__name__} is no value of a tree")
    if isinstance(value, np.generic):
        value = value.item()
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _real(value)
    if isinstance(value, complex):
        return f"!core/complex-1.0.0 {value.real!r}{value.imag:+}j"
    if isinstance(value, (bytes, bytearray)):
        return f'!!binary "{base64.b64encode(value).decode()}"'
    if isinstance(value, Mapping):
        items = ((value._key(i), value._at(i)) for i in range(len(value))) if isinstance(value, Map) else value.items()
        pairs = ", ".join(f"{flow(k)}: {flow(v)}" for k, v in items)
        return tagged(tag_of(value), "{" + pairs + "}")
    if isinstance(value, (list, tuple, Seq)):
        return tagged(tag_of(value), "[" + ", ".join(map(flow, value)) + "]")
    raise TypeError(f"a {type(value).__name__} is no value of a tree")
