# SPDX-License-Identifier: BSD-3-Clause
"""Who is told how far a call is."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional, Protocol, Union


class Bar(Protocol):
    """A progress bar as tqdm makes them."""

    total: Any
    """How much there is to do; None where nobody knows."""

    def update(self, n: Any = ..., /) -> Any:
        """Show that `n` more are done."""


Progress = Union[Callable[[int, int], Any], Bar]


def telling(progress: Optional[Progress]) -> Optional[Callable[[int, int], Any]]:
    """As the extension calls it: with what is done by now, and how much it will be."""
    if progress is None or callable(progress):
        return progress
    if not callable(getattr(progress, "update", None)):
        raise TypeError(f"progress is a function of (done, total) or a bar with update(), not {type(progress).__name__}")
    bar, last = progress, 0

    def tell(done: int, total: int) -> None:
        nonlocal last
        bar.total = total or None  # 0: nobody knows
        bar.update(done - last)
        last = done

    return tell
