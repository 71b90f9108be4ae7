#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes src/picture/picture_maps.inc: matplotlib's colour maps, 256 colours each, as hexadecimal text.

usage: scripts/colour_maps.py [--check]      (with a Python that has matplotlib)
"""
import pathlib
import sys

NAMES = ("viridis", "plasma", "inferno", "magma", "cividis", "gray", "turbo", "coolwarm")
HEAD = """/* SPDX-License-Identifier: BSD-3-Clause AND CC0-1.0 AND Apache-2.0
 * Made by scripts/colour_maps.py of matplotlib's tables: 256 colours (red, green, blue) a map, in
 * hexadecimal. viridis, plasma, inferno and magma are CC0 (Nathaniel J. Smith, Stefan van der Walt,
 * Eric Firing). cividis is by Jamie R. Nunez, Christopher R. Anderton, Ryan S. Renslow (2018),
 * turbo by Anton Mikhailov (Google, Apache-2.0), coolwarm by Kenneth Moreland (2009). */
"""


def rows(name):
    import matplotlib

    colours = matplotlib.colormaps[name].resampled(256)(range(256), bytes=True)
    text = "".join(bytes(c[:3]).hex() for c in colours)
    return [text[i : i + 96] for i in range(0, len(text), 96)]


def main():
    text = HEAD
    for name in NAMES:
        text += f'{{ "{name}",\n' + "".join(f'  "{row}"\n' for row in rows(name)) + "},\n"
    out = pathlib.Path(__file__).parent.parent / "src/picture/picture_maps.inc"
    if "--check" in sys.argv[1:]:
        return int(out.read_text() != text)
    out.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
