# SPDX-License-Identifier: BSD-3-Clause
"""Random elements, and keys of numpy's for an array of a shape."""
import numpy as np


def values(rng, shape, dtype, nan=True):
    """Elements of few values, so that codecs and special chunks have their turn. (Records with NaN do not equal themselves.)"""
    dtype = np.dtype(dtype)
    if dtype.names:
        made = np.zeros(shape, dtype)
        for name in dtype.names:
            made[name] = values(rng, shape, dtype[name], False)
        return made
    n, how = int(np.prod(shape)), rng.integers(4)
    if how == 0:
        numbers = np.full(n, [0, 7, np.nan][rng.integers(3 if nan and dtype.kind in "fc" else 2)])
    elif how == 1:
        numbers = np.arange(n) * int(rng.integers(1, 7)) % 100
    else:
        numbers = rng.integers(0, 100 if how == 2 else 3, n)
    if dtype.kind in "SU":
        numbers = np.array([f"{int(x)}"[: dtype.itemsize] for x in numbers], dtype)
    return numbers.astype(dtype).reshape(shape)


def of_axis(rng, n):
    """An integer, from either end, or a slice with any step, for an axis of n."""
    if n and rng.random() < 0.35:
        return int(rng.integers(-n, n))
    ends = [None if rng.random() < 0.3 else int(rng.integers(-n - 1, n + 2)) for _ in range(2)]
    return slice(*ends, [None, None, 1, 2, 3, -1, -2][rng.integers(7)])


def basic(rng, shape):
    key = [of_axis(rng, n) for n in shape[: rng.integers(len(shape) + 1)]]
    if rng.random() < 0.2:
        key.insert(rng.integers(len(key) + 1), Ellipsis)
        done = key.index(Ellipsis)
        tail = len(key) - done - 1
        key[done + 1 :] = [of_axis(rng, n) for n in shape[len(shape) - tail :]] if tail else []
    return key[0] if len(key) == 1 and rng.random() < 0.5 else tuple(key)


def places(rng, n, most=4):
    return [int(i) for i in rng.integers(-n, n, rng.integers(most + 1))] if n else []


def any_key(rng, shape):
    """(key, whether each axis counts for itself)"""
    how = rng.integers(10)
    if how < 5 or not shape:
        return basic(rng, shape), False
    if how == 5:
        return rng.random(shape) < 0.4, False
    if how == 6:
        return rng.random(shape[0]) < 0.5, False
    if how == 7:
        k = int(rng.integers(1, 5)) if all(shape[:2]) else 0
        return tuple(rng.integers(-n, n, k).tolist() if k else [] for n in shape[:2]), False
    if how == 8:
        axis = int(rng.integers(len(shape)))
        return (*(slice(None) for _ in shape[:axis]), places(rng, shape[axis])), False
    return tuple(places(rng, n) if rng.random() < 0.6 else slice(*sorted(rng.integers(0, n + 1, 2).tolist())) for n in shape), True


def numpy_key(key, orthogonal, shape):
    if not orthogonal:
        return key
    return np.ix_(*(np.arange(n)[k] if isinstance(k, slice) else np.array(k, int) for k, n in zip(key, shape)))
