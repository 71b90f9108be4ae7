# SPDX-License-Identifier: BSD-3-Clause
"""What is made of a value before it is written: arrays with their masks, quantities, collections that have arrays in them.

What numpy's types say less of than the value does (a unit, a mask, a kind of key) is kept, or the value is refused.
"""
from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any, Optional

import numpy as np

from ._array import Array
from ._mask import flags
from ._tree import Map, Seq, TaggedStr, escape
from ._yaml import Tagged, TaggedList, flow, tag_of, tagged

_UNIT = "tag:stsci.edu:asdf/unit/unit-1.0.0"


def is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, Array))


def has_arrays(value: Any) -> bool:
    if is_array(value):
        return True
    if isinstance(value, Mapping):
        return any(map(has_arrays, value.values()))
    return isinstance(value, (list, tuple, Seq)) and any(map(has_arrays, value))


def packed(dtype: Any) -> Any:
    """The same in the machine's byte order, without room between fields."""
    if dtype.hasobject:
        raise TypeError("arrays of objects cannot be written")
    if dtype.subdtype is not None:
        return np.dtype((packed(dtype.subdtype[0]), dtype.subdtype[1]))
    if dtype.names is None:
        return dtype.newbyteorder("=")
    return np.dtype([(name, packed(dtype.fields[name][0])) for name in dtype.names])


def data_of(value: Any) -> tuple[Any, Any]:
    """The elements packed in C order, and the mask of a masked array."""
    if isinstance(value, Array):
        value = value.read()
    kind = type(value)
    if isinstance(value, np.ndarray) and kind.__module__.partition(".")[0] != "numpy":
        raise TypeError(f"a {kind.__name__} may say more than its elements: give np.asarray() of it, and the rest by itself")
    if not isinstance(value, np.ma.MaskedArray):
        value = np.asarray(value)
        return np.asarray(value, packed(value.dtype), order="C"), None
    mask = flags(value)
    data = np.asarray(value.data)
    return np.asarray(data, packed(data.dtype), order="C"), np.asarray(mask, order="C").view("u1")


def chunks_of(chunks: Any, ndim: int) -> Optional[tuple[int, ...]]:
    if chunks is None:
        return None
    found = tuple(int(n) for n in (chunks if isinstance(chunks, (tuple, list)) else (chunks,)))
    if len(found) > ndim or (ndim and not found) or any(n < 1 for n in found):
        raise ValueError(f"chunks {found}: expected a length of at least 1 for each of the array's {ndim} axes")
    return found


def as_quantity(value: Any, version: str) -> Any:
    """An astropy quantity as ASDF writes one, which a mapping with a tag is, and so is one of a file; any other value as it is."""
    if isinstance(value, Array) and value._field_name is None:
        holder = value.parent
        is_one = isinstance(holder, Map) and "/quantity-" in (holder.tag or "")
        return holder if is_one and value.file._find(f"{value.path}/value") is not None else value
    units = sys.modules.get("astropy.units")
    if units is None or not isinstance(value, units.Quantity):
        return value
    if hasattr(value, "mask") or value.dtype.names is not None:
        raise TypeError(f"a {type(value).__name__} with a mask or with fields cannot be written as a quantity")
    try:
        unit = value.unit.to_string("vounit")
    except ValueError as error:
        raise ValueError(f"ASDF has no words for the unit {value.unit}: {error}") from error
    tag = "tag:stsci.edu:asdf/unit/quantity-" + ("1.1.0" if version < "1.6" else "1.2.0")
    number = np.asarray(value.value)
    return Tagged({"unit": TaggedStr(unit, _UNIT), "value": number if number.ndim else number.item()}, tag)


def taken(value: Any, file: Any) -> Any:
    """A collection as it is now, whatever becomes of `file`: parts of trees and arrays of that file are copied."""
    if isinstance(value, Array) and value.file is file:
        value = as_quantity(value, str(file.version))
    if isinstance(value, Array):
        return value.read() if value.file is file else value
    if isinstance(value, Mapping):
        expect_keys(value)
        return Tagged({key: taken(part, file) for key, part in value.items()}, tag_of(value))
    if isinstance(value, (list, tuple, Seq)):
        return TaggedList((taken(part, file) for part in value), tag_of(value))
    return value


def expect_keys(value: Any) -> None:
    """That paths can name what a mapping holds: no key of it is a collection."""
    if isinstance(value, Map) and any(isinstance(value._key(i), (Map, Seq)) for i in range(len(value))):
        raise TypeError("a mapping with arrays has a key that is a collection, which no path names")


def parts(value: Any) -> tuple[str, Iterator[tuple[str, Any]]]:
    """A collection with arrays in it: what is set first, with its tag, and then each part with its step of a path. Values under keys
    that no path names (numbers, None) are set first."""
    if not isinstance(value, Mapping):
        return tagged(tag_of(value), "[]"), ((str(i), part) for i, part in enumerate(value))
    expect_keys(value)
    first = {key: part for key, part in value.items() if not isinstance(key, str)}
    for key, part in first.items():
        if has_arrays(part):
            raise TypeError(f"the key {key!r} stands above an array, and paths name no {type(key).__name__}: expected a str")
        if flow(key) in value:
            raise ValueError(f"the keys {key!r} and {flow(key)!r} of one mapping with arrays have the same path")
    return flow(Tagged(first, tag_of(value))), ((escape(key), part) for key, part in value.items() if isinstance(key, str))
