# SPDX-License-Identifier: BSD-3-Clause
"""The arrays of a file as an xarray Dataset: `xr.open_dataset("night.asdf", engine="cippus")`, lazily, and back by
`cippus.xarray.to_file(dataset, "new.asdf")`."""
from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Optional, Union

import numpy as np

from . import _file, _fs, _index
from ._array import Array
from ._reopen import Given, Lazy, changed
from ._tree import Map, Seq, escape
from ._write import create

try:
    import xarray as xr
    from xarray.backends import BackendArray, BackendEntrypoint
    from xarray.core import indexing
except ImportError as error:
    raise ImportError("cippus.xarray needs xarray: pip install xarray") from error

__all__ = ["Backend", "to_file"]

_DIMS = ("_ARRAY_DIMENSIONS", "dims", "dimensions")  # names of axes, in whatever holds the array
_ENDINGS = (".asdf", ".b2nd", ".b2frame", ".blp", ".blz", ".bcolz", ".ra", ".npy")
_MAGIC = (b"#ASDF", b"blpk", b"\x9e\xa8b2frame", b"\x93NUMPY", b"rawarray", b"yarrawar")

# --- one array --------------------------------------------------------------------------------------------------


class LazyArray(BackendArray):
    """An array that is read when it is asked for, by any number of threads; pickled with the path of its file."""

    def __init__(self, source: Union[Lazy, Given], array: Array, path: str, masked: bool):
        self.source, self.path, self.masked = source, path, masked and array.is_masked
        self.shape = array.shape
        self.stored = array.dtype
        self.dtype = _masked_dtype(self.stored) if self.masked else self.stored

    def _array(self) -> Array:
        file = self.source.file()
        found = file.array if self.path == "" and len(file.arrays) == 1 else file[self.path]
        if not isinstance(found, Array) or found.shape != self.shape or found.dtype != self.stored:
            raise changed(self.source.path or repr(file.path))
        return found

    def __getitem__(self, key: Any) -> Any:
        if self.masked:
            return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._masked)
        if isinstance(key, indexing.VectorizedIndexer):
            read = self._vectorized
        else:
            read = self._outer
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.VECTORIZED, read)

    def _read(self, get: Any) -> Any:
        found = np.asarray(get(self._array()))
        self.source.check()
        return found

    def _outer(self, key: tuple[Any, ...]) -> Any:
        if all(isinstance(k, (int, np.integer, slice)) for k in key):
            return self._read(lambda array: array.read(key, mask=False))
        return self._read(lambda array: _index.orthogonal(array, key))

    def _vectorized(self, key: tuple[Any, ...]) -> Any:
        """As numpy, but axes of the arrays come first."""
        at = [i for i, k in enumerate(key) if not isinstance(k, slice)]
        found = self._read(lambda array: array.read(key, mask=False))
        if at and at[0] > 0 and at[-1] - at[0] + 1 == len(at):
            n = np.broadcast(*(key[i] for i in at)).ndim
            found = np.moveaxis(found, range(at[0], at[0] + n), range(n))
        return found

    def _masked(self, key: tuple[Any, ...]) -> Any:
        found = self._array().read(key, mask=True)
        self.source.check()
        filled = np.ma.getdata(found).astype(self.dtype)
        filled[np.ma.getmaskarray(found)] = np.array("NaT", self.dtype) if self.dtype.kind in "mM" else np.nan
        return filled


def _masked_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """One that has a value for what is missing, and every other value as it is."""
    if dtype.kind in "fcmM":
        return dtype
    if dtype.kind in "iu" and dtype.itemsize <= 4:
        return np.dtype("f4" if dtype.itemsize <= 2 else "f8")
    return np.dtype(object)


# --- a file -----------------------------------------------------------------------------------------------------


def _fields(array: Array, path: str) -> Iterator[tuple[str, Array]]:
    """An array, or the fields of one of records."""
    if not array.fields:
        yield path, array
    else:
        for name in array.fields:
            yield from _fields(array[name], f"{path}/{escape(name)}" if path else escape(name))


def _texts(value: Any, count: int) -> Optional[tuple[str, ...]]:
    """Names of so many axes, if that is what it is."""
    if not isinstance(value, (Seq, list)) or len(value) != count:
        return None
    names = tuple(value)
    return names if all(isinstance(n, str) for n in names) and len(set(names)) == count else None


def _at(tree: Any, path: str) -> Any:
    """What lies at a path of the tree, or None."""
    for step in path.split("/") if path else ():
        try:
            tree = tree[int(step)] if isinstance(tree, Seq) else tree.get(step.replace("~1", "/").replace("~0", "~"))
        except (AttributeError, ValueError, IndexError):
            return None
    return tree


def _simple(value: Any) -> bool:
    return isinstance(value, (bool, int, float, str))


def _attrs(holder: Any) -> dict[str, Any]:
    """Numbers and texts, and lists of them, of a mapping."""
    found: dict[str, Any] = {}
    for key, value in holder.items() if isinstance(holder, Map) else ():
        if not isinstance(key, str):
            continue
        if _simple(value):
            found[key] = str(value) if isinstance(value, str) else value
        elif isinstance(value, Seq) and len(value) and all(map(_simple, value)):
            found[key] = list(value)
    return found


class _Contents:
    """The variables of an open file: (path of the array, its name, names of axes, attributes)."""

    def __init__(self, file: _file.File):
        self.tree = file.tree
        self.paths = {p: f for path, array in self._arrays(file) for p, f in _fields(array, path)}
        self.roots = {p: path for path, array in self._arrays(file) for p, _ in _fields(array, path)}

    @staticmethod
    def _arrays(file: _file.File) -> list[tuple[str, Array]]:
        arrays = dict(file.arrays)
        table = arrays.get("")
        if table is not None and len(arrays) > 1:  # whose columns are there, too
            del arrays[""]
        return list(arrays.items())

    def alone(self) -> bool:
        return list(self.paths) == [""]

    def group_attrs(self, group: str) -> dict[str, Any]:
        """Those of a mapping; of a file that is an array or table, what was said of it."""
        if group == "" and "" in self.roots.values() or isinstance(_at(self.tree, "attributes"), Map):
            own = _at(self.tree, "vlmeta")
            return _attrs(own if own is not None else _at(self.tree, "attributes") or self.tree)
        found = _attrs(_at(self.tree, group))
        return {k: v for k, v in found.items() if k not in _DIMS}

    def dims(self, path: str, ndim: int) -> Optional[tuple[str, ...]]:
        holder, _, name = path.rpartition("/")
        of_all = _at(self.tree, holder) if path else self.tree
        if not isinstance(of_all, Map):
            return None
        for key in _DIMS:
            named = of_all.get(key)
            if named is None and path == "":
                named = _at(of_all, f"vlmeta/{key}") or _at(of_all, f"meta/{key}") or _at(of_all, f"attributes/{key}")
            if isinstance(named, Map):  # {name: [axes]} beside the arrays
                named = named.get(name.replace("~1", "/").replace("~0", "~"))
            found = _texts(named, ndim) if ndim else ()
            if found is not None:
                return found
        return None

    def array_attrs(self, path: str) -> dict[str, Any]:
        holder, _, name = path.rpartition("/")
        of_all = _at(self.tree, f"{holder}/attrs" if holder else "attrs")
        return _attrs(of_all.get(name)) if isinstance(of_all, Map) and path else {}

    def default_dims(self, path: str, ndim: int) -> tuple[str, ...]:
        """Each array's own. Fields of an array share its axes, which nothing else does."""
        root = self.roots[path]
        shared = ndim if root == path else len(self.rows(root))
        names = [f"{root or 'data'}_dim_{i}" for i in range(shared)]
        return tuple(names + [f"{path}_dim_{i}" for i in range(shared, ndim)])

    def rows(self, root: str) -> tuple[int, ...]:
        """The axes that all fields of an array of records have, which come first."""
        shapes = [self.paths[p].shape for p, r in self.roots.items() if r == root]
        return min(shapes, key=len)


def _variable(
    source: Union[Lazy, Given], contents: _Contents, path: str, masked: bool, times: bool, dims: Optional[tuple[str, ...]]
) -> xr.Variable:
    array = contents.paths[path]
    lazy = LazyArray(source, array, path, masked)
    names = dims or contents.dims(path, array.ndim) or contents.default_dims(path, array.ndim)
    encoding: dict[str, Any] = {"codec": array.codec}
    if array.chunks and not array._field_name:
        encoding["chunks"] = array.chunks
        encoding["preferred_chunks"] = dict(zip(names, (max(1, c) for c in array.chunks)))
    made = xr.Variable(names, indexing.LazilyIndexedArray(lazy), contents.array_attrs(path), encoding, fastpath=True)
    return _with_times(path, made) if times else made


def _with_times(name: str, variable: xr.Variable) -> xr.Variable:
    """Decodes what CF writes of times, lazily. Nothing else is taken for one."""
    units, dtype = str(variable.attrs.get("units")), str(variable.attrs.get("dtype"))
    if variable.dtype.kind not in "iuf" or not (" since " in units or dtype.startswith("timedelta64")):
        return variable
    return xr.conventions.decode_cf_variable(name, variable, concat_characters=False, decode_timedelta=" since " not in units)


def _dataset(
    source: Union[Lazy, Given],
    contents: _Contents,
    named: Mapping[str, str],
    group: str,
    masked: bool,
    times: bool,
    dims: Mapping[str, Iterable[str]],
) -> xr.Dataset:
    variables = {}
    for name, path in named.items():
        given = tuple(dims[name]) if name in dims else None
        variables[name] = _variable(source, contents, path, masked, times, given)
    found = xr.Dataset(variables, attrs=contents.group_attrs(group))
    found.set_close(source.release)
    return found


def _open(file: Any, options: dict[str, Any]) -> Union[Lazy, Given]:
    options = {k: v for k, v in options.items() if v is not None}
    if isinstance(file, _file.File):
        return Given(file, False)
    if isinstance(file, (str, os.PathLike)):
        return Lazy(os.fspath(file), options)
    return Given(_file.open(file, **options), True)


def _dropped(drop: Union[None, str, Iterable[str]]) -> set[str]:
    return {drop} if isinstance(drop, str) else set(drop or ())


class Backend(BackendEntrypoint):
    """Files of arrays. Variables have the paths of their arrays, relative to `group` ("" is all of the file); fields of
    records are variables; open_datatree() has a node for each mapping with arrays in it."""

    description = "ASDF, Blosc2, bloscpack, BLZ, bcolz, RawArray and npy files, by cippus"
    open_dataset_parameters = (
        "filename_or_obj", "drop_variables", "mask_and_scale", "decode_times", "group", "dims", "format", "check", "storage_options",
    )  # fmt: skip
    supports_groups = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        name = filename_or_obj
        if isinstance(name, (str, os.PathLike)):
            path = os.fspath(name)
            if _fs.is_url(path) or not os.path.isfile(path):
                return path.partition("?")[0].rstrip("/").endswith(_ENDINGS)
            with open(path, "rb") as file:
                return file.read(16).startswith(_MAGIC)
        if isinstance(name, (bytes, bytearray, memoryview)):
            return bytes(name[:16]).startswith(_MAGIC)
        if hasattr(name, "seek") and hasattr(name, "read"):
            at = name.tell()
            head = name.read(16)
            name.seek(at)
            return isinstance(head, bytes) and head.startswith(_MAGIC)
        return isinstance(name, _file.File)

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: Union[None, str, Iterable[str]] = None,
        mask_and_scale: bool = True,
        decode_times: bool = True,
        group: Optional[str] = None,
        dims: Optional[Mapping[str, Iterable[str]]] = None,
        format: Optional[str] = None,
        check: Optional[bool] = None,
        storage_options: Optional[dict[str, Any]] = None,
    ) -> xr.Dataset:
        source = _open(filename_or_obj, {"format": format, "check": check, "storage_options": storage_options})
        contents = _Contents(source.file())
        group = (group or "").strip("/")
        named = {p[len(group) + 1 :] if group else p: p for p in contents.paths if not group or p.startswith(group + "/")}
        if group and not named and not isinstance(_at(contents.tree, group), Map):
            raise KeyError(f"{filename_or_obj}: no group {group!r}")
        if contents.alone():
            named = {"data": ""}
        named = {name: path for name, path in named.items() if name not in _dropped(drop_variables)}
        return _dataset(source, contents, named, group, bool(mask_and_scale), bool(decode_times), dims or {})

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: Union[None, str, Iterable[str]] = None,
        mask_and_scale: bool = True,
        decode_times: bool = True,
        dims: Optional[Mapping[str, Iterable[str]]] = None,
        format: Optional[str] = None,
        check: Optional[bool] = None,
        storage_options: Optional[dict[str, Any]] = None,
    ) -> dict[str, xr.Dataset]:
        source = _open(filename_or_obj, {"format": format, "check": check, "storage_options": storage_options})
        contents = _Contents(source.file())
        groups: dict[str, dict[str, str]] = {"": {}}
        for path in contents.paths:
            group, _, name = path.rpartition("/")
            groups.setdefault(group, {})[name or "data"] = path
        drop, masked, times = _dropped(drop_variables), bool(mask_and_scale), bool(decode_times)
        return {
            f"/{group}": _dataset(
                source, contents, {n: p for n, p in named.items() if n not in drop}, group, masked, times,
                {n: dims[p] for n, p in named.items() if dims and p in dims},
            )
            for group, named in groups.items()
        }  # fmt: skip

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> xr.DataTree:
        groups = self.open_groups_as_dict(filename_or_obj, **options)
        tree = xr.DataTree.from_dict(groups)
        for name, dataset in groups.items():
            tree[name].set_close(dataset._close)
        return tree


# --- writing ----------------------------------------------------------------------------------------------------


def to_file(dataset: xr.Dataset, path: Any, *, codec: Optional[str] = None, **options: Any) -> None:
    """Writes a dataset into a new ASDF file (other formats have no place for it): its variables and, beside them, `dims` and `attrs`,
    mappings of a variable's name to the names of its axes and its attributes; the dataset's own attributes stand by
    themselves; times are numbers with CF's units. open_dataset() has all of it again. Keywords are those of cippus.create()."""
    taken = {*map(str, dataset.variables), "dims", "attrs"}
    clash = sorted(taken & set(map(str, dataset.attrs))) + sorted({"dims", "attrs"} & set(map(str, dataset.variables)))
    if clash:
        raise ValueError(f"variables and attributes share a name, or have one of the convention's: {', '.join(clash)}")
    variables = {name: _encoded(variable) for name, variable in dataset.variables.items()}
    with create(path, codec=codec, **options) as file:
        for name, variable in variables.items():
            file[escape(str(name))] = np.ascontiguousarray(variable.values).reshape(variable.shape)
        for name, value in dataset.attrs.items():
            file[escape(str(name))] = _plain(value)
        file["dims"] = {str(name): [str(d) for d in v.dims] for name, v in variables.items() if v.dims}
        attrs = {str(n): {str(k): _plain(x) for k, x in v.attrs.items()} for n, v in variables.items() if v.attrs}
        if attrs:
            file["attrs"] = attrs


def _encoded(variable: xr.Variable) -> xr.Variable:
    if variable.dtype.kind in "mM":
        return xr.conventions.encode_cf_variable(variable)
    if variable.dtype.kind == "O" and all(isinstance(x, str) for x in variable.values.flat):
        return variable.astype(str)
    return variable


def _plain(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value
