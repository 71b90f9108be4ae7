# SPDX-License-Identifier: BSD-3-Clause
"""Missing elements as numpy.ma has them: a flag for each element, or for each field of each record."""
from __future__ import annotations

from typing import Any

import numpy as np


class Mask:
    """Where elements of an array are missing, read by the keys that read it."""

    _field_name = ""  # no points: these have no mask
    dtype = np.dtype(bool)

    def __init__(self, array: Any):
        self._array = array
        self.shape = array.shape

    def _read(self, key: Any, out: Any, mask: bool, progress: Any) -> Any:
        found = self._array._read(key, None, True, None)[1]
        if out is not None:
            out[...] = found
        return found


def masked(data: Any, mask: Any) -> Any:
    """Of a flag for each element, which stands for all fields of a record."""
    if data.dtype.names is not None:
        whole = np.zeros(data.shape, np.ma.make_mask_descr(data.dtype))
        whole[mask] = np.ones((), whole.dtype)
        mask = whole
    return np.ma.MaskedArray(data, mask=mask)


def missing(value: Any) -> int:
    """How many elements are missing, or have something in them that is."""
    mask = np.ma.getmask(value)
    return 0 if mask is np.ma.nomask else int(np.count_nonzero(_reduced(mask, np.ndim(mask), np.any)))


def _reduced(mask: Any, ndim: int, how: Any) -> Any:
    """One flag for each element: whether any, or all, of what is in it is missing."""
    if mask.dtype.names is None:
        return how(mask, axis=tuple(range(ndim, mask.ndim)))
    return how([_reduced(mask[name], ndim, how) for name in mask.dtype.names], axis=0)


def flags(value: Any) -> Any:
    """One flag for each element; ValueError where some fields of a record alone are missing."""
    mask = np.ma.getmaskarray(value)
    if mask.dtype.names is None:
        return mask
    found = _reduced(mask, mask.ndim, np.any)
    if (found != _reduced(mask, mask.ndim, np.all)).any():
        raise ValueError("single fields of records are missing; only whole records can be")
    return found
