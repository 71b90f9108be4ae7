# SPDX-License-Identifier: BSD-3-Clause
"""What a file says of an array besides its elements."""
from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

from ._errors import no_key
from ._tree import Map, escape

_DESCRIPTION = ("source", "data", "mask", "datatype", "byteorder", "shape", "offset", "strides")
_HEADER = ("flags", "eltype", "elbyte", "size", "dims")


class Attrs(MutableMapping[str, Any]):
    """What a file says about an array besides its elements, as a mapping. In a file that is open as "r+" attributes can be set
    and deleted; the next commit writes them.

    ASDF: what stands beside the value of a quantity (`unit`), or the keys that were added to the description of the array.
    Blosc2: `vlmeta`. bcolz and BLZ: the attributes of the array, table or column. bloscpack: the metadata. RawArray:
    `metadata`, the text after the data. FITS: the header of the HDU."""

    def __init__(self, array: Any):
        self._array = array

    def _place(self) -> tuple[str, Any, tuple[str, ...]]:
        """The path of the mapping, the mapping, and keys in it that are no attributes."""
        array, file = self._array, self._array.file
        if file.format == "asdf":
            holder = array.parent
            if holder is None or "/quantity-" not in (holder.tag or ""):
                return array.path, array.node or {}, _DESCRIPTION
            above, _, last = array.path.rpartition("/")
            return above if last == "value" else array.path, holder, ("value",)
        path = {"blosc2": "vlmeta", "blz": "attributes", "bloscpack": "", "rawarray": ""}.get(file.format)
        if file.format == "blz" and array.path:
            path = f"column_attributes/{array.path}"
        if file.format == "fits" and array.path.endswith("/data"):
            path = f"{array.path[:-5]}/header"
        found = None if path is None else file._find(path) if path else file.tree
        return path or "", found if isinstance(found, Map) else {}, _HEADER if file.format == "rawarray" else ()

    def __getitem__(self, key: str) -> Any:
        _, found, hidden = self._place()
        if key in hidden or key not in found:
            raise no_key(key, lambda: self)
        return found[escape(key) if isinstance(found, Map) and isinstance(key, str) and "/" in key else key]

    def __iter__(self) -> Iterator[str]:
        _, found, hidden = self._place()
        return (key for key in found if key not in hidden)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _path(self, key: str) -> str:
        path, _, hidden = self._place()
        if key in hidden:
            raise KeyError(key)
        return f"{path}/{escape(key)}" if path else escape(key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._array.file[self._path(key)] = value

    def __delitem__(self, key: str) -> None:
        self[key]
        del self._array.file[self._path(key)]

    def _ipython_key_completions_(self) -> list[str]:
        return [key for key in self if isinstance(key, str)]

    def __repr__(self) -> str:
        return f"<cippus.Attrs {dict(self)!r}>"
