# SPDX-License-Identifier: BSD-3-Clause
"""The tree of a file: mappings and sequences that look into it when they are asked."""
from __future__ import annotations

import base64
import binascii
import datetime
import re
import sys
from collections.abc import ItemsView, Iterator, Mapping, Sequence, ValuesView
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from . import _cippus
from ._errors import Error, no_key

_CORE = "tag:yaml.org,2002:"
_COMPLEX = "tag:stsci.edu:asdf/core/complex-1."
_INT, _BIGINT, _FLOAT, _TIMESTAMP, _BINARY = 3, 4, 5, 7, 8  # cip_node_type
_FINER = re.compile(r"\.\d{6}\d*[1-9]")  # than microseconds
_LONGEST = 1 << 14  # words of a core/integer that becomes an int


class TaggedStr(str):
    """A str with a tag, or a scalar that Python has no type for, as it is written."""

    tag: str
    """The tag, such as "tag:stsci.edu:asdf/unit/unit-1.0.0"."""

    def __new__(cls, text: str, tag: str) -> TaggedStr:
        made = super().__new__(cls, text)
        made.tag = tag
        return made

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return str(self), self.tag


def _iso(text: str) -> str:
    """A timestamp as Python 3.10 reads it: with all digits, and `+00:00` for `Z`."""
    text = re.sub(r"\.(\d{1,6})\d*", lambda found: "." + found[1].ljust(6, "0"), text)
    return re.sub(r"([+-]\d\d)$", r"\1:00", text.replace("Z", "+00:00")) if ":" in text else text


def _timestamp(text: str) -> Any:
    try:
        if len(text) == 10:
            return datetime.date.fromisoformat(text)
        if _FINER.search(text):  # than Python's: it would be cut
            return TaggedStr(text, _CORE + "timestamp")
        return datetime.datetime.fromisoformat(_iso(text) if sys.version_info < (3, 11) else text)
    except ValueError:  # a form of YAML's that Python does not read
        return TaggedStr(text, _CORE + "timestamp")


def _binary(text: str) -> Any:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return TaggedStr(text, _CORE + "binary")


def _complex(text: str, tag: str) -> Any:
    """ASDF writes the imaginary unit as i, I, j or J."""
    try:
        return complex(text.lower().replace("inf", "\0").replace("i", "j").replace("\0", "inf"))
    except ValueError:
        return TaggedStr(text, tag)


def _words(words: Any) -> Optional[list[Any]]:
    """The items of a list or an array; None where they are more than a number in a tree should have."""
    if isinstance(words, _cippus.Array):
        if len(words.shape) != 1 or words.dtype.kind not in "ui" or words.shape[0] > _LONGEST:
            return None
        return np.asarray(words).tolist()  # type: ignore[no-any-return]
    return list(words) if isinstance(words, Seq) and len(words) <= _LONGEST else None


def _integer(node: Map) -> Any:
    """The number that `words` (32 bits each, the least significant first) and `sign` say, and `string`
    does not deny; else the mapping."""
    try:
        words, sign, text = _words(node.get("words")), node.get("sign"), node.get("string")
        if words is None or sign not in ("+", "-") or any(type(w) is not int for w in words):
            return node
        number = int.from_bytes(b"".join(w.to_bytes(4, "little") for w in words), "little")
        number = -number if sign == "-" else number
        return number if text is None or int(text) == number else node
    except (Error, TypeError, ValueError, OverflowError):
        return node


def scalar(kind: int, text: Union[str, Map], tag: Optional[str]) -> Any:
    """Called by the extension for scalars that are not plain (tagged ones, dates, long integers) and
    for ASDF's mappings that are an integer."""
    if isinstance(text, Map):
        return _integer(text)
    if tag is not None and tag.startswith(_COMPLEX):
        return _complex(text, tag)
    if tag is not None and not tag.startswith(_CORE):
        return TaggedStr(text, tag)
    if kind == _TIMESTAMP:
        return _timestamp(text)
    if kind == _BINARY:
        return _binary(text)
    if kind in (_BIGINT, _INT) and len(text) < 4000:  # Python's own limit for such texts
        try:
            return int(text.replace("_", ""), 0)
        except ValueError:
            pass
    return TaggedStr(text, tag or _CORE + "str")


def escape(key: str) -> str:
    """A key as one step of a path."""
    return f'"{key}"' if key in ("", ".") else escape_field(key)


def escape_field(name: str) -> str:
    """A field's name as one step of a path, which no quotes are taken from."""
    return name.replace("~", "~0").replace("/", "~1")


def beside(root: Any, path: Any) -> Iterator[str]:
    """The paths of all that stands in the deepest mapping, or records, on the way of a path that leads nowhere."""
    above = path if isinstance(path, str) else ""
    while above:
        above = above.rpartition("/")[0]
        holder = root if not above else root._get(above) if isinstance(root, Map) else None
        holder = holder[0] if isinstance(holder, tuple) else holder
        keys = holder if isinstance(holder, Map) else getattr(holder, "fields", None)
        if keys is not None:
            return (f"{above}/{escape(key)}" if above else key for key in keys if isinstance(key, str))
    return iter(())


class _Values(ValuesView[Any]):
    _mapping: Map

    def __iter__(self) -> Iterator[Any]:
        node = self._mapping
        return (node._at(i) for i in range(len(node)))


class _Items(ItemsView[Any, Any]):
    _mapping: Map

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        node = self._mapping
        return ((_hashable(node._key(i), i), node._at(i)) for i in range(len(node)))


def _hashable(key: Any, i: int) -> Any:
    """A key that is a collection is named as in paths."""
    return f"?{i}" if isinstance(key, _cippus.Node) else key


def _refuse_change(node: _cippus.Node, key: Any, value: Any = None) -> None:
    raise TypeError(f"a {type(node).__name__} of the tree cannot be changed; in a file that is open as 'r+', use its path: f['a/b'] = value")


class Map(_cippus.Node, Mapping[Any, Any]):
    """A mapping in the metadata tree, which reads a value when it is asked for. Keys are names or paths: `m["a/b/0"]`; where
    a key "a/b" exists, it is taken first."""

    __slots__ = ()

    if not TYPE_CHECKING:  # type checkers know that there is none
        __setitem__ = __delitem__ = _refuse_change

    def __getitem__(self, key: Any) -> Any:
        found = self._get(key)
        if found is None:
            raise no_key(key, lambda: beside(self, key))
        return found[0]

    def _get(self, key: Any) -> Optional[tuple[Any]]:
        if not isinstance(key, str):
            for i in range(len(self)):
                k = self._key(i)
                if type(k) is type(key) and k == key:
                    return (self._at(i),)
            if key is None or isinstance(key, (bool, int, float)):
                return None
            hash(key)  # the exception of a dict
            return None
        found = self._find(key)
        if found is None and key:
            found = self._step(key)
            if found is None and key[0] == "?" and key[1:].isdecimal() and int(key[1:]) < len(self):
                i = int(key[1:])
                found = (self._at(i),) if isinstance(self._key(i), _cippus.Node) else None
        return found

    def __contains__(self, key: object) -> bool:
        return self._get(key) is not None

    def __iter__(self) -> Iterator[Any]:
        return (_hashable(self._key(i), i) for i in range(len(self)))

    def values(self) -> ValuesView[Any]:
        """The values, in the order of the file."""
        return _Values(self)

    def items(self) -> ItemsView[Any, Any]:
        """The keys with their values, in the order of the file."""
        return _Items(self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Map) and other._id == self._id:
            return True
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return self._text(4, False).rstrip("\n")

    def to_yaml(self) -> str:
        """All of it as YAML; an array is one line."""
        return self._text(0, False)

    def to_json(self) -> str:
        """All of it as JSON; an array is one line."""
        return self._text(0, True)

    def to_dict(self, *, read: bool = True) -> dict[Any, Any]:
        """All of it as plain dicts and lists, without tags. Arrays are read into memory; with `read=False` they stay arrays of
        the file. A value that occurs several times in the tree is one object in the result, too."""
        from ._export import plain

        return plain(self, read, {})  # type: ignore[no-any-return]

    def to_pandas(self) -> Any:
        """A table as a pandas DataFrame: a mapping of columns, or one with a list of `columns` that have a `name` and `data`
        (as astropy writes tables). Missing values are missing there, too."""
        from ._export import table

        return table(self)

    def _ipython_key_completions_(self) -> list[str]:
        return [key for key in self if isinstance(key, str)]

    def __reduce__(self) -> Any:
        raise TypeError("parts of a file's tree cannot be pickled; str() or to_json() can")


class Seq(_cippus.Node, Sequence[Any]):
    """A list in the metadata tree, which reads an item when it is asked for. An index may be a path: `s["0/name"]`."""

    __slots__ = ()

    if not TYPE_CHECKING:
        __setitem__ = __delitem__ = _refuse_change

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._at(i) for i in range(*index.indices(len(self)))]
        if isinstance(index, str):
            found = self._step(index)
            if found is None:
                raise no_key(index, lambda: ())
            return found[0]
        return self._at(index)

    def __iter__(self) -> Iterator[Any]:
        return (self._at(i) for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Seq) and other._id == self._id:
            return True
        if isinstance(other, (Seq, list, tuple)):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return self._text(4, False).rstrip("\n")

    def to_list(self, *, read: bool = True) -> list[Any]:
        """All of it as plain lists and dicts: see Map.to_dict()."""
        from ._export import plain

        return plain(self, read, {})  # type: ignore[no-any-return]

    to_yaml = Map.to_yaml
    to_json = Map.to_json
    __reduce__ = Map.__reduce__
