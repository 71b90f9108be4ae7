# SPDX-License-Identifier: BSD-3-Clause
"""Names that are nearly right: what was meant, in errors about keys and keywords."""
from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])
_MOST = 2000  # names that one is compared with
_SYNONYMS = {  # words that people know from other packages
    "load": "open", "read": "open", "save": "create", "write": "create", "compression": "codec", "compressor": "codec", "compress": "codec",
}  # fmt: skip


def meant(name: str, known: Iterable[Any]) -> str:
    """`; did you mean 'flux'?`, or nothing where no known name is like it."""
    import difflib  # for errors alone: importing it takes a while

    names = {key.lower(): key for key in itertools.islice(known, _MOST) if isinstance(key, str)}
    synonym = _SYNONYMS.get(name.lower(), "")
    found = [synonym] if synonym in names else difflib.get_close_matches(name.lower(), names, 1)
    return f"; did you mean {names[found[0]]!r}?" if found else ""


def unexpected(function: str, name: str, known: Iterable[str], why: str = "") -> TypeError:
    """The exception for a keyword that a function does not have, as Python words it."""
    return TypeError(f"{function}() got an unexpected keyword argument {name!r}{why}{meant(name, known)}")


def keywords(function: _Function) -> _Function:
    """Has a wrong keyword of `function` answered with the one that was meant."""
    code = function.__code__
    names = set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]) - {"self"}

    @functools.wraps(function)
    def call(*args: Any, **given: Any) -> Any:
        for name in given:
            if name not in names:
                raise unexpected(function.__name__, name, sorted(names))
        return function(*args, **given)

    return call  # type: ignore[return-value]
