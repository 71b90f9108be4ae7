# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of files as dask arrays, and dask arrays into files, from many processes too.

    x = cippus.dask.from_file("night.b2nd")
    cippus.dask.to_file(x.mean(axis=0), "mean.asdf")
"""
from __future__ import annotations

import math
import os
import shutil
import socket
import time
import uuid
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from . import _cippus, _errors, _opening
from ._array import Array
from ._reopen import opened, state_of
from ._value import packed
from ._write import create

try:
    import dask
    import dask.array as da
    from dask.base import tokenize
    from dask.delayed import delayed
    from dask.utils import parse_bytes
except ImportError as error:
    raise ImportError("cippus.dask needs dask: pip install 'dask[array]'") from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import OpenOptions, WriteOptions

__all__ = ["from_file", "to_file"]

# --- reading ----------------------------------------------------------------------------------------------------


class Source:
    """An array of a file that is opened where it is read: it can be pickled. Reading one of a file that has changed since it was made
    is an error, as dask would put states together that never were one."""

    def __init__(self, path: str, name: str, mask: Optional[bool], options: Mapping[str, Any]):
        self.path, self.name, self.mask = path, name, mask
        self.options = tuple(sorted(options.items()))
        self.state = state_of(path)
        array = self._array()
        self.shape, self.dtype, self.ndim = array.shape, array.dtype, array.ndim
        self.mask = array.is_masked and mask is not False

    def _array(self) -> Array:
        self._check()
        file = opened(self.path, self.state, self.options)
        array = file.array if self.name == "" else file[self.name]
        if not isinstance(array, Array):
            raise TypeError(f"{self.path}: {self.name!r} is no array but a {type(array).__name__}")
        return array

    def _check(self) -> None:
        if state_of(self.path) != self.state:
            text = "the file has changed since its dask array was made; call from_file() again"
            raise _errors._again(_errors.BusyError, text, "", None, self.path)

    def __getitem__(self, key: Any) -> Any:
        array = self._array()
        found = array.read(key, mask=self.mask)
        self._check()
        return found

    def __dask_tokenize__(self) -> Any:
        return (type(self).__name__, self.path, self.name, self.mask, self.options, self.state)


def from_file(
    path: Any,
    name: str = "",
    *,
    chunks: Any = "auto",
    mask: Optional[bool] = None,
    inline_array: bool = False,
    **options: Unpack[OpenOptions],
) -> Any:
    """An array of a file as a dask array.

    `path`: a path that all workers can open. `name`: the path of the array in the file ("" for the only array). `chunks`: "auto"
    takes whole stored chunks, as many as dask's `array.chunk-size` allows. `mask`: where elements may be missing, blocks are masked
    arrays; False gives the values under the mask. `inline_array`: as in dask.array.from_array(). `options`: see cippus.open()."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"expected a path, which workers can open, not {type(path).__name__}")
    source = Source(os.path.abspath(os.fspath(path)), name, mask, options)
    array = source._array()
    if chunks == "auto":
        limit = parse_bytes(dask.config.get("array.chunk-size"))
        chunks = _whole_chunks(array.shape, array.chunks, max(1, limit // max(1, array.itemsize)))
    from_array: Any = da.from_array  # which has no types
    return from_array(
        source,
        chunks=chunks,
        name=f"cippus-{tokenize(source, chunks)}",
        lock=False,
        asarray=not source.mask,
        fancy=not source.mask,
        inline_array=inline_array,
        meta=np.ma.empty((0,) * array.ndim, array.dtype) if source.mask else np.empty((0,) * array.ndim, array.dtype),
    )


def _whole_chunks(shape: tuple[int, ...], stored: Optional[tuple[int, ...]], most: int) -> tuple[int, ...]:
    """As many stored chunks as fit in `most` elements, longest along the last axes, where neighbours lie; of an array
    without chunks rows and planes."""
    lengths = [max(1, min(c, n)) for c, n in zip(stored or (1,) * len(shape), shape)]
    for axis in reversed(range(len(shape))):
        times = max(1, most // math.prod(lengths))
        lengths[axis] = max(1, min(lengths[axis] * times, shape[axis]))
    return tuple(lengths)


# --- writing ----------------------------------------------------------------------------------------------------

_MARK = ".cip-parts-"


class _Plan:
    """One array on its way into a file: what each task has to know."""

    def __init__(self, folder: str, number: int, name: str, shape: Any, dtype: Any, blocks: Any, store: dict[str, Any]):
        self.folder, self.number, self.name = folder, number, name
        self.shape, self.dtype = tuple(shape), dtype
        self.blocks = blocks  # lengths along each axis, as dask's chunks
        self.store = store  # keywords of create() for parts that are stored as the target is; {}: they are .npy

    def part(self, index: tuple[int, ...]) -> str:
        return os.path.join(self.folder, f"part-{self.number}-{'.'.join(map(str, index))}")

    def box(self, index: tuple[int, ...]) -> tuple[slice, ...]:
        starts = [sum(lengths[:i]) for lengths, i in zip(self.blocks, index)]
        return tuple(slice(s, s + lengths[i]) for s, lengths, i in zip(starts, self.blocks, index))

    def indices(self) -> list[tuple[int, ...]]:
        """Of all blocks that have any elements."""
        return list(np.ndindex(*map(len, self.blocks))) if math.prod(self.shape) else []


def _write_part(plan: _Plan, index: tuple[int, ...], block: Any) -> tuple[int, tuple[int, ...]]:
    """A block into a file of its own, which takes its name when it is complete: a task that is done again puts the same there."""
    want = tuple(s.stop - s.start for s in plan.box(index))
    if np.ma.isMaskedArray(block):
        raise TypeError("masked arrays cannot be written by parts: fill them first")
    data = np.asarray(block)
    if data.shape != want or data.dtype != plan.dtype:
        raise ValueError(
            f"block {index} of {plan.name!r}: expected shape {want} and dtype {plan.dtype}, found {data.shape} and {data.dtype}"
        )
    data = np.asarray(data, packed(data.dtype), order="C")
    store = {**(plan.store or {"format": "npy"}), "sync": False, "threads": 1}
    chunks = store.pop("chunks", None)
    with create(plan.part(index), overwrite=True, **store) as w:
        w.put("data", data, chunks=chunks)
    return plan.number, index


def _open_part(plan: _Plan, index: tuple[int, ...]) -> Any:
    """Each part was written by a task that said so; what is not there by now is said here."""
    file = _opening.open(plan.part(index))
    array = file.array
    want = tuple(s.stop - s.start for s in plan.box(index))
    if array.shape != want or array.dtype != packed(plan.dtype):
        raise ValueError(f"{plan.part(index)}: expected shape {want} and dtype {plan.dtype}, found {array!r}")
    return file


def _take_chunks(target: str, plan: _Plan) -> None:
    """Stored chunks of the parts into the array, which was made with none."""
    with _opening.open(target, "r+") as f:
        for index in plan.indices():
            with _open_part(plan, index) as part:
                f.array[plan.box(index)] = part.array


def _take_elements(target: str, plans: list[_Plan], tree: Mapping[str, Any], options: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Elements of the parts into a new file."""
    with create(target, overwrite=True, **options) as w:
        for key, value in tree.items():
            w[key] = value
        for plan in plans:
            slab = w.declare(plan.name, plan.shape, plan.dtype, **arrays)
            for index in plan.indices():
                with _open_part(plan, index) as part:
                    slab[plan.box(index)] = part.array


class _Job:
    """All of a file on its way."""

    def __init__(self, target: str, folder: str, overwrite: bool):
        self.target, self.folder, self.overwrite = target, folder, overwrite
        self.made = os.path.join(folder, "whole" + os.path.splitext(target)[1])
        self.plans: list[_Plan] = []
        self.tree: Mapping[str, Any] = {}
        self.options: dict[str, Any] = {}  # of the file
        self.arrays: dict[str, Any] = {}  # of its arrays: codec and chunks
        self.chunked = False

    def assemble(self, done: list[Any]) -> str:
        """The last task. It may be done twice: when its worker dies after the target was there, it is found to be ours."""
        if self._is_there():
            return self.target
        want = [(plan.number, index) for plan in self.plans for index in plan.indices()]
        if sorted(done) != want:
            raise ValueError(f"{self.target}: expected {len(want)} blocks, found {len(done)}")
        if self.chunked:
            _take_chunks(self.made, self.plans[0])
        else:
            _take_elements(self.made, self.plans, self.tree, self.options, self.arrays)
        self._publish()
        return self.target

    def _seal(self) -> str:
        return os.path.join(self.folder, "sealed")

    def _is_there(self) -> bool:
        try:
            with open(self._seal()) as f:
                return not os.path.lexists(self.made) and f.read() == str(os.stat(self.target).st_ino)
        except FileNotFoundError:
            return False

    def _publish(self) -> None:
        with open(self._seal(), "w") as f:
            f.write(str(os.stat(self.made).st_ino))
        _cippus.publish(self.made, self.target, self.overwrite, self.options.get("sync", True))

    def clean(self, result: str) -> str:
        """The folder goes; of a job that failed other tasks may still be at it, and find it gone."""
        gone = f"{self.folder}-gone"
        try:
            os.rename(self.folder, gone)
        except OSError:
            gone = self.folder
        for _ in range(20):
            shutil.rmtree(gone, ignore_errors=True)
            if not os.path.lexists(gone):
                break
            time.sleep(0.05)
        return result

    # --- before all that

    def plan(self, arrays: Mapping[str, Any], chunks: Optional[tuple[int, ...]]) -> list[Any]:
        """The plans, and the arrays cut into their blocks."""
        first = next(iter(arrays.values()))
        if len(arrays) == 1 and not self.tree:
            self._try_chunks(next(iter(arrays)), first, chunks)
        cut = []
        for number, (name, x) in enumerate(arrays.items()):
            store: dict[str, Any] = {}
            if self.chunked:
                with _opening.open(self.made) as f:
                    stored, format = f.array.chunks or (), f.format
                x = _by_blocks(x, stored)
                options = {k: v for k, v in (self.options["options"] or {}).items() if k != "sparse"}
                store = {**self.options, **self.arrays, "format": format, "options": options, "chunks": stored}
            self.plans.append(_Plan(self.folder, number, name, x.shape, x.dtype, x.chunks, store))
            cut.append(x)
        return cut

    def _make(self, name: str, shape: tuple[int, ...], dtype: Any, chunks: Any) -> Optional[tuple[int, ...]]:
        """The file with an array that has nothing yet; the shape of its chunks, or None where it has none."""
        with create(self.made, overwrite=True, **self.options) as w:
            w.declare(name, shape, dtype, **{**self.arrays, "chunks": chunks})
        with _opening.open(self.made) as f:
            found: Optional[tuple[int, ...]] = f.array.chunks
            return found

    def _try_chunks(self, name: str, x: Any, chunks: Optional[tuple[int, ...]]) -> None:
        """Whether the target has chunks, which workers may make; if so it is made, with chunks that end where blocks do."""
        if self._make(name, (1,) * x.ndim, x.dtype, chunks) is None or x.ndim == 0:
            os.unlink(self.made)
            return
        stored = self._make(name, x.shape, x.dtype, chunks)
        if stored is None:
            os.unlink(self.made)
            return
        if chunks is None:
            fitted = tuple(_divisor(max(c), n) for c, n in zip(x.chunks, stored))
            if fitted != stored and self._make(name, x.shape, x.dtype, fitted) != fitted:
                self._make(name, x.shape, x.dtype, None)
        self.chunked = True


def _divisor(block: int, chunk: int) -> int:
    """What a block falls into without a rest, of about a chunk's length; the chunk's where there is no such length."""
    pieces = -(-block // max(1, chunk))
    return next((block // k for k in range(max(1, pieces), 4 * pieces + 1) if block % k == 0 and block), chunk)


def _by_blocks(x: Any, stored: tuple[int, ...]) -> Any:
    """Blocks that end where stored chunks do."""
    want = tuple(-(-max(c) // n) * n if n else max(c) for c, n in zip(x.chunks, stored))
    return x.rechunk(tuple(max(1, min(w, n)) for w, n in zip(want, x.shape))) if x.size else x


def _exists(target: str) -> _errors.Error:
    return _errors._again(_errors.ExistsError, "it exists; overwrite=True replaces it", "", None, target)


def _owner() -> str:
    """This process, as a part of a file's name."""
    return f"{os.getpid()}-{zlib.crc32(socket.gethostname().encode()):08x}"


def _is_left(name: str) -> bool:
    """Whether the process that a folder of parts is named after is gone; of another machine nobody knows."""
    number, _, machine = name.removesuffix("-gone").partition("-")[2].partition("-")
    if not number.isdecimal() or machine != _owner().partition("-")[2]:
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        pass
    return False


def _new_folder(target: str, owned: bool) -> str:
    """For the parts, beside the target, under a name that says from the first moment whose it is; those that killed processes
    left go. `owned` false: it is computed nobody knows when and where, so that it stays until then."""
    where, name = os.path.split(target)
    begin = f".{name}{_MARK}"
    for old in os.listdir(where):
        if old.startswith(begin) and _is_left(old[len(begin) :]):
            shutil.rmtree(os.path.join(where, old), ignore_errors=True)
    folder = os.path.join(where, f"{begin}{uuid.uuid4().hex[:12]}" + (f"-{_owner()}" if owned else ""))
    os.mkdir(folder)
    return folder


def _checked(arrays: Mapping[str, Any]) -> None:
    for name, x in arrays.items():
        if not isinstance(x, da.Array):
            raise TypeError(f"expected a dask array for {name!r}, not {type(x).__name__}")
        if any(math.isnan(n) for n in x.shape):
            raise ValueError(f"{name!r}: blocks of unknown lengths; call compute_chunk_sizes() first")
        if isinstance(x._meta, np.ma.MaskedArray):
            raise TypeError(f"{name!r}: masked arrays cannot be written by parts: fill them first")


def to_file(
    arrays: Any,
    path: Any,
    name: str = "data",
    *,
    format: Optional[str] = None,
    overwrite: bool = False,
    compute: bool = True,
    codec: Optional[str] = None,
    chunks: Optional[tuple[int, ...]] = None,
    options: Optional[Mapping[str, Any]] = None,
    tree: Optional[Mapping[str, Any]] = None,
    scheduler: Any = None,
    **more: Unpack[WriteOptions],
) -> Any:
    """Write dask arrays as a new file. Returns its path, or with `compute=False` a dask.delayed value.

    `arrays`: a dask array, which gets the path `name`, or a mapping of paths to dask arrays. `path`: the new file, in a folder that
    all workers can write. Each worker writes its blocks into parts beside the file, and the last task puts the parts together: the
    file appears when it is complete. `format`, `overwrite`, `codec`, `options` and `more`: see cippus.create(). `chunks`: the shape of
    stored chunks; blocks are cut again where they do not fit. `tree`: a mapping of other values. `scheduler`: as dask.compute() takes
    it."""
    target = os.path.realpath(os.fspath(path))  # a link stays
    if not isinstance(arrays, Mapping):
        arrays = {name: arrays}
    _checked(arrays)
    if not arrays:
        raise ValueError("there are no arrays")
    if os.path.lexists(target) and not overwrite:
        raise _exists(target)
    job = _Job(target, _new_folder(target, compute), overwrite)
    job.tree = dict(tree or {})
    job.options = {"format": format, "options": options, **more}
    job.arrays = {"codec": codec, "chunks": chunks}
    try:
        cut = job.plan(arrays, chunks)
        last = _graph(job, cut)
        if not compute:
            return last
        last.compute(scheduler=scheduler)
    except BaseException:
        job.clean("")
        raise
    job.clean("")
    return path


def _graph(job: _Job, cut: list[Any]) -> Any:
    done = []
    for plan, x in zip(job.plans, cut):
        blocks = x.to_delayed()
        done += [delayed(_write_part)(plan, index, blocks[index]) for index in plan.indices()]
    return delayed(job.clean)(delayed(job.assemble)(done))
