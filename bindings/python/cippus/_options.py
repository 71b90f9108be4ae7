# SPDX-License-Identifier: BSD-3-Clause
"""The keywords of functions that hand them on, so that type checkers know them."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional, TypedDict, Union

from ._progress import Progress

Chunks = Union[None, int, Sequence[int]]


class PictureOptions(TypedDict, total=False):
    """Keywords of the pictures of arrays."""

    width: int
    height: int
    zoom: int
    scale: str
    limits: Optional[tuple[float, float]]
    percentile: Optional[tuple[float, float]]
    map: str
    bad: Optional[str]
    reduce: str
    axes: bool
    max_nbytes: int
    progress: Optional[Progress]


class OpenOptions(TypedDict, total=False):
    """Keywords of open() in the modes "r" and "r+"."""

    format: Optional[str]
    threads: int
    check: Optional[bool]
    allow_external: bool
    force: bool
    sidecar: bool
    mmap: bool
    offset: int
    storage_options: Optional[dict[str, Any]]


class WriteOptions(TypedDict, total=False):
    """Keywords of create() that all that writes files hands on."""

    version: Optional[str]
    byteorder: Optional[str]
    checksum: Optional[str]
    accept_loss: bool
    sync: bool
    threads: int


class NewFileOptions(WriteOptions, total=False):
    """Keywords of open() in the modes "w" and "x"."""

    format: Optional[str]
    codec: Optional[str]
    options: Optional[Mapping[str, Any]]


class DatasetOptions(WriteOptions, total=False):
    """Keywords of cippus.xarray.to_file(), besides `codec`."""

    format: Optional[str]
    overwrite: bool
    options: Optional[Mapping[str, Any]]
