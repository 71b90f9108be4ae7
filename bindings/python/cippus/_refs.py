# SPDX-License-Identifier: BSD-3-Clause
"""References into a file for readers of Zarr, as kerchunk has them."""
from __future__ import annotations

import base64
import io
import itertools
import json
import math
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, Optional

from . import _cippus
from ._file import File, Finding
from ._opening import open, path_of
from ._fs import is_url

INLINE = 64 << 10


def _members(file: Any, url: str) -> str:
    """What goes before the names of files beside the one that is referred to."""
    if os.path.isdir(file):
        return url if url.endswith("/") else url + "/"
    return url[: url.rfind("/") + 1]


def refs(
    file: Any,
    out: Any = None,
    *,
    format: str = "json",
    path: Optional[str] = None,
    url: Optional[str] = None,
    inline: int = INLINE,
    on_finding: Optional[Callable[[Finding], Any]] = None,
    overwrite: bool = False,
    record_size: int = 100_000,
) -> dict[str, Any]:
    """See cippus.refs()."""
    if format not in ("json", "parquet"):
        raise ValueError(f"expected format 'json' or 'parquet', found {format!r}")
    given = file.path if isinstance(file, File) else file
    where = given if is_url(given) else path_of(given)
    if where is None and url is None:
        raise TypeError("refs() needs a path or a URL, or url='...' where readers will find the file")
    where = where or ""
    opened = file if isinstance(file, File) else open(file)
    try:
        full = url if url is not None else where if "://" in where else os.path.realpath(where)
        tell = None if on_finding is None else lambda *row: on_finding(Finding.of(*row)) and None
        text = opened._refs(full, _members(where, full), path, inline, tell)
    finally:
        if opened is not file:
            opened.close()
    found: dict[str, Any] = json.loads(text)
    if out is not None and format == "json":
        _free(os.fspath(out), overwrite)
        _cippus.save(out, text, overwrite)
    elif out is not None:
        _write_folder(os.fspath(out), found["refs"], record_size, overwrite)
    return found


def _free(out: str, overwrite: bool) -> None:
    if not overwrite and os.path.exists(out):
        raise FileExistsError(17, "there is one already; overwrite=True replaces it", out)


def _keys(array: str, meta: dict[str, Any]) -> Iterator[str]:
    """The chunks of an array in the order of kerchunk's records."""
    counts = [math.ceil(n / c) for n, c in zip(meta["shape"], meta["chunks"])] or [1]
    return (f"{array}/" + ".".join(map(str, index)) for index in itertools.product(*map(range, counts)))


def _check_former(out: str) -> None:
    """All of a folder that is replaced goes: it must be one of these."""
    if not os.path.lexists(out):
        return
    try:
        with io.open(os.path.join(out, ".zmetadata"), "rb") as file:
            found = json.load(file)
        known = isinstance(found, dict) and {"metadata", "record_size"} <= found.keys()
        known = known and all(_is_former(*row) for row in os.walk(out))
    except (OSError, ValueError):
        known = False
    if not known or os.path.islink(out):
        raise FileExistsError(17, "it is no folder of references, and is not replaced", out)


def _is_former(folder: str, folders: list[str], files: list[str]) -> bool:
    links = any(os.path.islink(os.path.join(folder, name)) for name in folders)
    return not links and all(name == ".zmetadata" or re.fullmatch(r"refs\.\d+\.parq", name) for name in files)


def _take_name(folder: str, out: str) -> None:
    """A former one goes aside first, and away when the new one has its name."""
    if not os.path.lexists(out):
        os.rename(folder, out)
        return
    _check_former(out)
    aside = tempfile.mkdtemp(dir=os.path.dirname(folder), prefix=".refs-")
    os.rename(out, aside)
    try:
        os.rename(folder, out)
    except BaseException:
        os.rename(aside, out)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _write_folder(out: str, found: dict[str, Any], record_size: int, overwrite: bool) -> None:
    try:
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet  # type: ignore[import-untyped]
    except ImportError as error:
        raise ImportError("references as parquet need pyarrow: pip install pyarrow") from error
    _free(out, overwrite)
    _check_former(out)
    meta = {key: json.loads(text) for key, text in found.items() if key.rpartition("/")[2].startswith(".z")}
    folder = tempfile.mkdtemp(dir=os.path.dirname(out.rstrip("/")) or ".", prefix=".refs-")
    types = [("path", pyarrow.string()), ("offset", "int64"), ("size", "int64"), ("raw", pyarrow.binary())]
    schema = pyarrow.schema(types)
    try:
        for name in [key.removesuffix("/.zarray") for key in meta if key.endswith("/.zarray")]:
            os.makedirs(os.path.join(folder, name))
            keys = _keys(name, meta[f"{name}/.zarray"])
            for number in itertools.count():
                part = [found[key] for key in itertools.islice(keys, record_size)]
                if not part:
                    break
                rows = [
                    (None, 0, 0, base64.b64decode(v.removeprefix("base64:"))) if isinstance(v, str) else (*v, None)
                    for v in part
                ]
                table = pyarrow.table(list(map(list, zip(*rows))), schema=schema)
                pyarrow.parquet.write_table(table, os.path.join(folder, name, f"refs.{number}.parq"), compression="zstd")
        with os.fdopen(os.open(os.path.join(folder, ".zmetadata"), os.O_CREAT | os.O_WRONLY, 0o666), "w") as file:
            json.dump({"metadata": meta, "record_size": record_size}, file)
        os.chmod(folder, 0o755)
        _take_name(folder, out)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
