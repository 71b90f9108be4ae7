# SPDX-License-Identifier: BSD-3-Clause
"""Python's values as YAML in flow style, as the library takes values of the tree."""
from __future__ import annotations

import base64
import datetime
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._tree import Map, Seq, TaggedStr

_CORE = "tag:yaml.org,2002:"
_VERBATIM = (_CORE + "timestamp", _CORE + "int", _CORE + "float", _CORE + "bool", _CORE + "null")


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


def _tagged(tag: Any, text: str) -> str:
    return text if not tag or tag.startswith(_CORE) else f"!<{tag}> {text}"


def _string(text: str) -> str:
    if not isinstance(text, TaggedStr):
        return quoted(text)
    return str(text) if text.tag in _VERBATIM else f"!<{text.tag}> {quoted(text)}"


def flow(value: Any) -> str:
    """TypeError for what is no value of a tree; arrays are none."""
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
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return f'!!binary "{base64.b64encode(value).decode()}"'
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{flow(k)}: {flow(v)}" for k, v in value.items())
        return _tagged(value.tag if isinstance(value, Map) else None, "{" + pairs + "}")
    if isinstance(value, (list, tuple, Seq)):
        tag = value.tag if isinstance(value, Seq) else None
        return _tagged(tag, "[" + ", ".join(map(flow, value)) + "]")
    raise TypeError(f"a {type(value).__name__} is no value of a tree")
