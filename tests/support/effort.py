# SPDX-License-Identifier: BSD-3-Clause
"""How much a sweep tries: a sample drawn by the seed $CIP_SEED, or all of it with CIP_FULL=1."""
import os
import random

FULL = os.environ.get("CIP_FULL", "") not in ("", "0")
SEED = int(os.environ.get("CIP_SEED") or 1)


def sample(items, n):
    """n of the items in their order, drawn by the seed; all of them in a full run."""
    items = list(items)
    if FULL or len(items) <= n:
        return items
    return [items[i] for i in sorted(random.Random(SEED).sample(range(len(items)), n))]
