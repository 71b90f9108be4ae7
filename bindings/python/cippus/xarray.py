# SPDX-License-Identifier: BSD-3-Clause
"""The arrays of a file as an xarray Dataset: `xr.open_dataset("night.asdf", engine="cippus")`, lazily, and back by
`cippus.xarray.to_file(dataset, "new.asdf")`."""
from __future__ import annotations

import base64
import os
import struct
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from . import _file, _fs, _index, _opening
from ._array import Array
from ._reopen import Given, Lazy, changed
from ._tree import Map, Seq, escape, escape_field
from ._write import create
from ._yaml import flow

try:
    import xarray as xr
    from xarray.backends import BackendArray, BackendEntrypoint
    from xarray.core import indexing
except ImportError as error:
    raise ImportError("cippus.xarray needs xarray: pip install xarray") from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import DatasetOptions

__all__ = ["Backend", "to_file"]

_DIMS = ("_ARRAY_DIMENSIONS", "dims", "dimensions")  # names of axes, in whatever holds the array
_OURS = ("dims", "attrs", "coords", "groups", "history", "asdf_library")  # what stands beside the variables of a group
# Of HDF5, what says how netCDF-4 is stored in it; and the name of an axis that has no coordinates.
_HIDDEN = {
    "CLASS", "NAME", "DIMENSION_LIST", "DIMENSION_LABELS", "REFERENCE_LIST", "_Netcdf4Dimid", "_Netcdf4Coordinates", "_nc3_strict",
    "_NCProperties",
}  # fmt: skip
_BARE_AXIS = "This is a netCDF dimension but not a netCDF variable."
_APPLIED = ("scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned", "coordinates")  # attributes that change what is read
# What xarray would take for files of its own engines, and other files are theirs first.
_ENDINGS = (".asdf", ".b2nd", ".b2frame", ".blp", ".blz", ".bcolz", ".ra", ".npy", ".fits")
_MAGIC = (b"#ASDF", b"blpk", b"\x9e\xa8b2frame", b"\x93NUMPY", b"rawarray", b"yarrawar", b"SIMPLE  =")

# --- one array --------------------------------------------------------------------------------------------------


class LazyArray(BackendArray):
    """An array that is read when it is asked for, by any number of threads; pickled with the path of its file."""

    source: Union[Lazy, Given]
    path: str
    masked: bool
    shape: tuple[int, ...]
    stored: Any
    dtype: Any

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
            yield from _fields(array[name], f"{path}/{escape_field(name)}" if path else escape_field(name))


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
            tree = tree[int(step)] if isinstance(tree, Seq) else tree.get(_name(step))
        except (AttributeError, ValueError, IndexError):
            return None
    return tree


def _name(step: str) -> str:
    """The key that a step of a path is."""
    return step.strip('"') if step in ('""', '"."') else step.replace("~1", "/").replace("~0", "~")


def _simple(value: Any) -> bool:
    return isinstance(value, (bool, int, float, str))


def _deep(value: Any) -> Any:
    """A value of a tree as Python's own, for as long as the file is closed."""
    if isinstance(value, Map):
        return {k: _deep(v) for k, v in value.items()}
    if isinstance(value, Seq):
        return [_deep(v) for v in value]
    return str(value) if isinstance(value, str) else value


def _has_array(value: Any) -> bool:
    parts = value.values() if isinstance(value, Map) else value if isinstance(value, Seq) else ()
    return isinstance(value, Array) or any(map(_has_array, parts))


def _all_attrs(holder: Any) -> dict[str, Any]:
    """Of a mapping that has nothing else, but for arrays."""
    items = holder.items() if isinstance(holder, Map) else ()
    return {k: _deep(v) for k, v in items if isinstance(k, str) and not _has_array(v)}


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


def _single(attrs: dict[str, Any]) -> dict[str, Any]:
    """Numbers that data are scaled by, in single precision where they can only have been that: their type is the result's."""
    found = {k: attrs[k] for k in ("scale_factor", "add_offset") if isinstance(attrs.get(k), float)}
    same = all(float(np.float32(v)) == v for v in found.values())
    if same and any(float(str(np.float32(v))) != v for v in found.values()):
        attrs.update({k: np.float32(v) for k, v in found.items()})
    return attrs


def _zarr_fill(value: Any, dtype: np.dtype[Any]) -> Any:
    """A `_FillValue` in Zarr's attributes, where xarray writes numbers as base64."""
    try:
        if dtype.kind == "f" and isinstance(value, str):
            return struct.unpack("<d", base64.standard_b64decode(value))[0]
        if dtype.kind == "c" and isinstance(value, list) and len(value) == 2:
            return complex(*(struct.unpack("<d", base64.standard_b64decode(v))[0] for v in value))
        return base64.standard_b64decode(value) if dtype.kind == "S" and isinstance(value, str) else value
    except (ValueError, TypeError, struct.error):
        return value


class _Contents:
    """The variables of an open file: (path of the array, its name, names of axes, attributes)."""

    def __init__(self, file: _file.File):
        self.tree = file.tree
        self.format = file.format
        self.paths = {p: f for path, array in self._arrays(file) for p, f in _fields(array, path)}
        if self.format == "hdf5":
            self.paths = {p: f for p, f in self.paths.items() if not str(self._stored_attrs(p).get("NAME")).startswith(_BARE_AXIS)}
        self.roots = {p: path for path, array in self._arrays(file) for p, _ in _fields(array, path)}

    @staticmethod
    def _arrays(file: _file.File) -> list[tuple[str, Array]]:
        arrays = dict(file.arrays)
        table = arrays.get("")
        if table is not None and len(arrays) > 1:  # whose columns are there, too
            del arrays[""]
        return list(arrays.items())

    def key(self, path: str) -> str:
        """An array's key in the mapping that holds it; of a field of records the last step, as it is in paths."""
        step = path.rpartition("/")[2]
        return _name(step) if self.roots[path] == path else step

    def alone(self) -> bool:
        return list(self.paths) == [""]

    def group_attrs(self, group: str) -> dict[str, Any]:
        """Those of a mapping; of a file that is an array or table, what was said of it."""
        if group == "" and "" in self.roots.values() or isinstance(_at(self.tree, "attributes"), Map):
            own = _at(self.tree, "vlmeta")
            return _attrs(own if own is not None else _at(self.tree, "attributes") or self.tree)
        found = _attrs(_at(self.tree, group))
        hidden = {*_DIMS, *(("coords",) if self.coords(group) else ()), *(("groups",) if self.groups() and not group else ())}
        return self._netcdf({**{k: v for k, v in found.items() if k not in hidden}, **_all_attrs(self._attrs_in(group, ""))})

    def _attrs_in(self, group: str, name: str) -> Any:
        """What stands under `attrs` of a group for a variable, or ("") for the group itself."""
        of_all = _at(self.tree, f"{group}/attrs" if group else "attrs")
        return of_all[name] if isinstance(of_all, Map) and name in of_all.keys() else None

    def coords(self, group: str) -> list[str]:
        """Names of variables that are coordinates though no index: a list of them beside."""
        found = _at(self.tree, f"{group}/coords" if group else "coords")
        names = list(found) if isinstance(found, Seq) else []
        steps = {escape(n) if isinstance(n, str) else None for n in names}
        return names if all(s is not None and (f"{group}/{s}" if group else s) in self.paths for s in steps) else []

    def groups(self) -> list[str]:
        """Paths of all groups, as to_file() lists them."""
        found = _at(self.tree, "groups")
        names = list(found) if isinstance(found, Seq) else []
        return names if all(isinstance(n, str) and n[:1] == "/" and isinstance(_at(self.tree, n[1:]), Map) for n in names) else []

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
                named = named.get(_name(name))
            found = _texts(named, ndim) if ndim else ()
            if found is not None:
                return found
        return None

    def array_attrs(self, path: str) -> dict[str, Any]:
        holder, _, name = path.rpartition("/")
        if self.format == "fits" and name == "data":  # a header beside each array
            return _attrs(_at(self.tree, f"{holder}/header"))
        found = self._netcdf(self._stored_attrs(path))
        if self.format == "zarr" and "_FillValue" in found:
            found["_FillValue"] = _zarr_fill(found["_FillValue"], self.paths[path].dtype)
        return found

    def _stored_attrs(self, path: str) -> dict[str, Any]:
        holder, _, name = path.rpartition("/")
        return _all_attrs(self._attrs_in(holder, _name(name))) if path else {}

    def _netcdf(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """As netCDF-4 means those of HDF5, where most are lists of one; what a file of another format has from there, too."""
        own = self.format == "hdf5"
        single = {k for k, v in attrs.items() if isinstance(v, list) and len(v) == 1 and (own or k in _APPLIED)}
        found = {k: v[0] if k in single else v for k, v in attrs.items() if not own or k not in _HIDDEN}
        return _single(found) if own else found

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


def _variable(source: Union[Lazy, Given], contents: _Contents, path: str, masked: bool, dims: Optional[tuple[str, ...]]) -> xr.Variable:
    array = contents.paths[path]
    lazy = LazyArray(source, array, path, masked)
    names = dims or contents.dims(path, array.ndim) or contents.default_dims(path, array.ndim)
    encoding: dict[str, Any] = {"codec": array.codec}
    if array.chunks and not array._field_name:
        encoding["chunks"] = array.chunks
        encoding["preferred_chunks"] = dict(zip(names, (max(1, c) for c in array.chunks)))
    return xr.Variable(names, indexing.LazilyIndexedArray(lazy), contents.array_attrs(path), encoding, fastpath=True)


def _option(given: Any, name: str) -> Any:
    """Of one variable, where xarray takes a mapping of their names."""
    return given.get(name, True) if isinstance(given, Mapping) else given


def _decoded(contents: _Contents, variables: dict[str, xr.Variable], attrs: dict[str, Any], cf: dict[str, Any]) -> Any:
    """Variables, attributes and names of coordinates, with the conventions CF applied as xarray's own engines do it."""
    times, deltas = cf["decode_times"], cf["decode_timedelta"]
    cf = {k: v for k, v in cf.items() if k != "use_cftime" or v is not None}
    if cf["concat_characters"] is None:  # other formats have texts
        cf["concat_characters"] = contents.format in ("hdf5", "zarr")
    if times is not False:
        cf["decode_times"] = {n: _option(times, n) if v.dtype.kind in "iuf" else False for n, v in variables.items()}
    if deltas is None:
        coded = {n: str(v.attrs.get("dtype")).startswith("timedelta64") for n, v in variables.items()}
        cf["decode_timedelta"] = {n: bool(_option(times, n)) and is_coded for n, is_coded in coded.items()}
    return xr.conventions.decode_cf_variables(variables, attrs, **cf)


def _is_coded(variable: xr.Variable) -> bool:
    """Whether numbers are taken for times."""
    units, dtype = str(variable.attrs.get("units")), str(variable.attrs.get("dtype"))
    return variable.dtype.kind in "iuf" and (" since " in units or dtype.startswith("timedelta64"))


def _with_times(name: str, variable: xr.Variable) -> xr.Variable:
    """Decodes what CF writes of times, lazily. Nothing else is taken for one."""
    if not _is_coded(variable):
        return variable
    units = str(variable.attrs.get("units"))
    return xr.conventions.decode_cf_variable(name, variable, concat_characters=False, decode_timedelta=" since " not in units)


def _dataset(
    source: Union[Lazy, Given],
    contents: _Contents,
    named: Mapping[str, str],
    group: str,
    cf: dict[str, Any],
    dims: Mapping[str, Iterable[str]],
) -> xr.Dataset:
    stored = {}
    for name, path in named.items():
        given = tuple(dims[name]) if name in dims else None
        stored[name] = _variable(source, contents, path, bool(_option(cf["mask_and_scale"], name)), given)
    variables, attrs, coords = _decoded(contents, stored, contents.group_attrs(group), cf)
    found: xr.Dataset = xr.Dataset(variables, attrs=attrs)
    found = found.set_coords([n for n in variables if n in coords or n in contents.coords(group)])
    found.set_close(source.release)
    return found


def _open(file: Any, options: dict[str, Any]) -> Union[Lazy, Given]:
    options = {k: v for k, v in options.items() if v is not None}
    if isinstance(file, _file.File):
        return Given(file, False)
    if isinstance(file, (str, os.PathLike)):
        return Lazy(os.fspath(file), options)
    return Given(_opening.open(file, **options), True)


def _dropped(drop: Union[None, str, Iterable[str]]) -> set[str]:
    return {drop} if isinstance(drop, str) else set(drop or ())


class Backend(BackendEntrypoint):
    """The engine "cippus" of xarray. Variables have the paths of their arrays, relative to `group` ("" is the whole file). Fields of
    records are variables. open_datatree() has a node for each mapping with arrays in it."""

    description = "ASDF, Blosc2, bloscpack, BLZ, bcolz, Zarr, HDF5, FITS, RawArray, npy and npz files, by cippus"
    open_dataset_parameters = (
        "filename_or_obj", "drop_variables", "mask_and_scale", "decode_times", "concat_characters", "decode_coords", "use_cftime",
        "decode_timedelta", "group", "dims", "format", "check", "storage_options",
    )  # fmt: skip
    supports_groups = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Whether it looks like a file of one of the formats, by its first bytes or its name."""
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
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = None,
        decode_coords: Any = True,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: Optional[str] = None,
        dims: Optional[Mapping[str, Iterable[str]]] = None,
        format: Optional[str] = None,
        check: Optional[bool] = None,
        storage_options: Optional[dict[str, Any]] = None,
    ) -> xr.Dataset:
        """Called by xarray.open_dataset(). `group`: the mapping in the tree whose arrays become variables. `dims`: names of
        axes by the paths of arrays. `mask_and_scale`: missing values become NaN, packed ones are scaled. The other `decode_` options are
        xarray's. `format`, `check`, `storage_options`: see cippus.open()."""
        source = _open(filename_or_obj, {"format": format, "check": check, "storage_options": storage_options})
        contents = _Contents(source.file())
        group = (group or "").strip("/")
        named = {p[len(group) + 1 :] if group else p: p for p in contents.paths if not group or p.startswith(group + "/")}
        if group and not named and not isinstance(_at(contents.tree, group), Map):
            raise KeyError(f"{filename_or_obj}: no group {group!r}")
        if contents.alone():
            named = {"data": ""}
        else:  # a key is a name, unless another variable's path is the same
            named = {contents.key(p) if "/" not in n and contents.key(p) not in named else n: p for n, p in named.items()}
        named = {name: path for name, path in named.items() if name not in _dropped(drop_variables)}
        cf = {"mask_and_scale": mask_and_scale, "decode_times": decode_times, "concat_characters": concat_characters,
              "decode_coords": decode_coords, "use_cftime": use_cftime, "decode_timedelta": decode_timedelta}  # fmt: skip
        return _dataset(source, contents, named, group, cf, dims or {})

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: Union[None, str, Iterable[str]] = None,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = None,
        decode_coords: Any = True,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        dims: Optional[Mapping[str, Iterable[str]]] = None,
        format: Optional[str] = None,
        check: Optional[bool] = None,
        storage_options: Optional[dict[str, Any]] = None,
    ) -> dict[str, xr.Dataset]:
        """Called by xarray.open_groups(): a dataset for each mapping with arrays in it. Options: see open_dataset()."""
        source = _open(filename_or_obj, {"format": format, "check": check, "storage_options": storage_options})
        contents = _Contents(source.file())
        groups: dict[str, dict[str, str]] = {"": {}, **{name[1:]: {} for name in contents.groups()}}
        for path in contents.paths:
            group, _, name = path.rpartition("/")
            plain = contents.key(path)
            groups.setdefault(group, {})[(name if "/" in plain else plain) or "data"] = path
        drop = _dropped(drop_variables)
        cf = {"mask_and_scale": mask_and_scale, "decode_times": decode_times, "concat_characters": concat_characters,
              "decode_coords": decode_coords, "use_cftime": use_cftime, "decode_timedelta": decode_timedelta}  # fmt: skip
        return {
            "/" + group.replace("~0", "~"): _dataset(
                source, contents, {n: p for n, p in named.items() if n not in drop}, group, cf,
                {n: dims[p] for n, p in named.items() if dims and p in dims},
            )
            for group, named in groups.items()
        }  # fmt: skip

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> xr.DataTree:
        """Called by xarray.open_datatree(): a node for each mapping with arrays in it. Options: see open_dataset()."""
        groups = self.open_groups_as_dict(filename_or_obj, **options)
        tree: xr.DataTree = xr.DataTree.from_dict(groups)
        for name, dataset in groups.items():
            tree[name].set_close(dataset._close)
        return tree


# --- writing ----------------------------------------------------------------------------------------------------


def to_file(dataset: Union[xr.Dataset, xr.DataTree], path: Any, *, codec: Optional[str] = None, **options: Unpack[DatasetOptions]) -> None:
    """Write a Dataset or a DataTree as a new ASDF file, which xarray.open_dataset() or open_datatree() reads again. Anything that they
    would not read again is refused.

    Beside the variables of a group stand `dims` and `attrs` (the names of axes and the attributes, by the names of variables) and
    `coords` (the coordinates that are no indexes). Attributes of the dataset stand beside them, too. Times are numbers with the units
    of CF. Values are stored as they are, whatever an `encoding` says. The groups of a tree are mappings, listed in `groups`.
    `codec` and `options`: see cippus.create()."""
    if isinstance(dataset, xr.DataTree):
        nodes = {node.path.removeprefix(dataset.path).strip("/"): node for node in dataset.subtree}
        groups = [_Group(path, node.to_dataset(inherit=False), set(node.children)) for path, node in nodes.items()]
    elif isinstance(dataset, xr.Dataset):
        groups = [_Group("", dataset, set())]
    else:
        raise TypeError(f"expected a Dataset or a DataTree, not {type(dataset).__name__}: an array's to_dataset() makes one")
    with create(path, codec=codec, **options) as file:
        if len(groups) > 1:
            file["groups"] = [f"/{group.path}" for group in groups[1:]]
        for group in groups:
            group.write(file)


class _Group:
    """A dataset on its way into a file: all is looked at before anything is written."""

    def __init__(self, path: str, dataset: xr.Dataset, children: set[str]):
        self.path = "/".join(map(escape, path.split("/"))) if path else ""
        for what, attrs in (("the dataset", dataset.attrs), *((f"variable {n!r}", v.attrs) for n, v in dataset.variables.items())):
            for key in attrs:
                if key in _APPLIED or key == "dtype" and isinstance(attrs[key], str) and attrs[key] == "bool":
                    raise ValueError(f"{what}, attribute {key!r}: reading would apply it; xarray.decode_cf() applies it now")
        self.variables = {_checked(name, "variable"): _encoded(str(name), v) for name, v in dataset.variables.items()}
        bad = sorted((set(self.variables) | children) & set(_OURS) | set(self.variables) & children)
        if bad:
            raise ValueError(f"variables and groups cannot have the names {', '.join(map(repr, bad))}, which the file has for other things")
        self.dims = {name: [_checked(d, "axis") for d in v.dims] for name, v in self.variables.items() if v.dims}
        self.coords = [str(name) for name in dataset.coords if dataset[name].dims != (name,)]
        self.attrs = {name: _plain_attrs(v.attrs, f"variable {name!r}") for name, v in self.variables.items() if v.attrs}
        own = _plain_attrs(dataset.attrs, f"group {path!r}" if path else "the dataset")
        taken = {*self.variables, *children, *_OURS, *_DIMS}
        self.own = {k: v for k, v in own.items() if k not in taken and _stands_alone(v)}
        if len(self.own) < len(own):
            self.attrs[""] = {k: v for k, v in own.items() if k not in self.own}

    def write(self, file: Any) -> None:
        begin = f"{self.path}/" if self.path else ""
        if begin:
            file.put(self.path, {})
        for name, variable in self.variables.items():
            file[begin + escape(name)] = np.ascontiguousarray(variable.values).reshape(variable.shape)
        for name, value in self.own.items():
            file[begin + escape(name)] = value
        for key, found in (("dims", self.dims), ("coords", self.coords), ("attrs", self.attrs)):
            if found:
                file[begin + key] = found


def _checked(name: Any, what: str) -> str:
    if not isinstance(name, str) or not name:
        raise TypeError(f"{what} {name!r}: expected a str as its name")
    return str(name)


def _encoded(name: str, variable: xr.Variable) -> xr.Variable:
    """As numbers and texts, which are the same when they are read."""
    dtype = variable.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "mM":
        return _encoded_times(name, variable)
    if isinstance(dtype, np.dtype) and dtype.kind in "OT" and all(isinstance(x, str) and x[-1:] != "\0" for x in variable.values.flat):
        texts: xr.Variable = variable.astype(str)
        return texts
    if not isinstance(dtype, np.dtype) or dtype.hasobject:
        raise TypeError(f"variable {name!r}: values of type {dtype} cannot be written (objects, indexes of several levels, categories)")
    if _is_coded(variable):
        raise ValueError(f"variable {name!r}: numbers with the units of a time would be read as times: xarray.decode_cf() makes them so")
    packed = {k: v for k, v in variable.encoding.items() if k in ("scale_factor", "add_offset") or k == "dtype" and v != dtype}
    if packed:
        warnings.warn(f"variable {name!r} is written as it is, not by its encoding {packed}", UserWarning, stacklevel=4)
    return variable


def _encoded_times(name: str, variable: xr.Variable) -> xr.Variable:
    """In the units of the encoding, if these say all of it."""
    known = {k: v for k, v in variable.encoding.items() if k in ("units", "calendar")}
    why: Any = "they are not the same when they are read"
    for encoding in (known, {}):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                coded = xr.conventions.encode_cf_variable(xr.Variable(variable.dims, variable.values, variable.attrs, encoding))
                back = _with_times(name, coded).values
        except (ValueError, TypeError, OverflowError) as error:
            why = error
            continue
        if back.dtype.kind == variable.dtype.kind and np.array_equal(back, variable.values, equal_nan=True):
            if encoding != known or "units" in known and coded.attrs.get("units") != known["units"]:
                warnings.warn(f"variable {name!r}: its times are not written in {known}, which does not hold them", UserWarning, stacklevel=4)
            return coded
    raise ValueError(f"variable {name!r}: times cannot be written: {why}")


def _stands_alone(value: Any) -> bool:
    """Whether open_dataset() takes it for an attribute wherever it stands."""
    return _simple(value) or isinstance(value, list) and len(value) > 0 and all(map(_simple, value))


def _plain_attrs(attrs: Mapping[Any, Any], what: str) -> dict[str, Any]:
    found = {}
    for key, value in attrs.items():
        if not isinstance(key, str):
            raise TypeError(f"{what}: expected a str as an attribute's name, found {key!r}")
        try:
            found[str(key)] = _plain(value)
            flow(found[key])
        except TypeError as error:
            raise TypeError(f"{what}, attribute {key!r}: {error}") from error
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype.names is not None or np.ma.isMaskedArray(value):
            raise TypeError("arrays of records, and masked ones, are no attributes")
        return _plain(list(value)) if value.ndim else _plain(value[()])
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value.item() if isinstance(value, np.generic) and value.dtype.kind not in "mMV" else value
