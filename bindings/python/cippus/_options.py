# SPDX-License-Identifier: BSD-3-Clause
"""The keywords of functions that hand them on, so that type checkers know them."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional, TypedDict, Union

Chunks = Union[None, int, Sequence[int]]


class OpenOptions(TypedDict, total=False):
    """Keywords of open() in the modes "r" and "r+"."""

    format: Optional[str]
    threads: int
    check: Optional[bool]
    allow_external: bool
    force: bool
    sidecar: bool
    offset: int
    storage_options: Optional[dict[str, Any]]


class CreateOptions(TypedDict, total=False):
    """Keywords of create(), and of open() in the modes "w" and "x", besides `format` and `overwrite`."""

    version: Optional[str]
    codec: Optional[str]
    byteorder: Optional[str]
    checksum: Optional[str]
    accept_loss: bool
    sync: bool
    threads: int
    options: Optional[Mapping[str, Any]]


class NewFileOptions(CreateOptions, total=False):
    """Keywords of open() in the modes "w" and "x"."""

    format: Optional[str]
