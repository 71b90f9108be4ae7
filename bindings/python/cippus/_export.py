# SPDX-License-Identifier: BSD-3-Clause
"""What is in a file as plain Python objects, and tables as those of pandas."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ._array import Array
from ._tree import Map, Seq


def plain(value: Any, read: bool, seen: dict[Any, Any]) -> Any:
    """Dicts for mappings and lists for sequences. `seen`: what was made of nodes and arrays so far, as aliases share them, and
    may close a ring."""
    if isinstance(value, (Map, Seq)):
        key: Any = value._id
        if key in seen:
            return seen[key]
        made: Any = {} if isinstance(value, Map) else []
        seen[key] = made
        if isinstance(value, Map):
            for name, part in value.items():
                made[name] = plain(part, read, seen)
        else:
            for part in value:
                made.append(plain(part, read, seen))
        return made
    if not isinstance(value, Array):
        return value
    key = value.path, value._field_name
    if key not in seen:
        seen[key] = value.read() if read else value
    return seen[key]


def _pandas() -> Any:
    try:
        import pandas  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise ImportError("to_pandas() needs pandas: pip install pandas") from None
    return pandas


def _column(pandas: Any, values: Any) -> Any:
    """One column: what is missing is missing in pandas' own way, and no other value changes."""
    if values.ndim > 1:  # vectors are objects there
        return pandas.Series(list(values), dtype=object)
    if not np.ma.getmaskarray(values).any():
        return np.ma.getdata(values)
    data, mask = np.ma.getdata(values), np.ma.getmaskarray(values)
    if data.dtype.kind in "iu":
        return pandas.arrays.IntegerArray(data, mask)
    if data.dtype.kind == "b":
        return pandas.arrays.BooleanArray(data, mask)
    if data.dtype.kind in "fcmM":
        return values.filled(np.array("NaT", data.dtype) if data.dtype.kind in "mM" else np.nan)
    return pandas.Series(values.astype(object).filled(None), dtype=object)


def _fields(values: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The columns of records; records within records are columns with a path."""
    for name in values.dtype.names:
        if values.dtype[name].names is None:
            yield prefix + name, values[name]
        else:
            yield from _fields(values[name], f"{prefix}{name}/")


def _frame(columns: Any) -> Any:
    pandas, made = _pandas(), {}
    for name, values in columns:
        if name in made:
            raise ValueError(f"two columns would have the name {name!r}")
        made[name] = _column(pandas, values)
    return pandas.DataFrame(made)


def of_array(array: Array) -> Any:
    """See Array.to_pandas()."""
    if array.ndim != 1:
        raise ValueError(f"to_pandas() needs an array with one axis, and this one has {array.ndim}: use a[...]")
    pandas = _pandas()
    values = array.read()
    if values.dtype.names is not None:
        return _frame(_fields(values))
    name = array._field_name or array.path.rpartition("/")[2]
    return pandas.Series(_column(pandas, values), name=name or None)


def table(node: Map) -> Any:
    """See Map.to_pandas()."""
    listed = node._get("columns")
    if listed is not None and isinstance(listed[0], Seq):
        names = node["colnames"] if "colnames" in node else [c["name"] for c in listed[0]]
        columns = [(name, c["data" if "data" in c else "value"]) for name, c in zip(names, listed[0])]
        whole = len(columns) == len(listed[0])
    else:
        columns = [(key, value) for key, value in node.items() if isinstance(value, Array)]
        whole = bool(columns)
    lengths = {len(value) if isinstance(value, Array) and value.ndim else None for _, value in columns}
    if not whole or len(lengths) > 1 or None in lengths:
        raise ValueError("to_pandas() needs a table: arrays that have the same number of rows")
    return _frame((name, value.read()) for name, value in columns)
