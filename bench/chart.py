#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the figures of `run.py --json` as the charts of the documentation.

usage: bench/chart.py [--check] [FIGURES [FOLDER]]     bench/figures.json, docs/images; --check: only compares

Each row has a bar for each program, as long as its time: the longest fills the width, so bars are compared within a row only.
"""
import json
import pathlib
import sys
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLOURS = {"cippus": "#1f6feb", "asdf": "#d1731b", "blosc2": "#2a9d5c", "h5py": "#8250df", "zarr": "#c2445c", "zarrs": "#b08800", "tensorstore": "#0e7c86", "numpy": "#6e7781"}
STORED = {
    "asdf none": "ASDF, not compressed",
    "unsummed none": "ASDF without checksum",
    "asdf zlib": "ASDF zlib",
    "asdf lz4": "ASDF lz4",
    "ra none": "RawArray",
    "b2nd none": "chunks, not compressed",
    "b2nd zlib": "chunks, zlib",
    "b2nd lz4": "chunks, lz4",
    "b2nd zstd": "chunks, zstd",
    "b2nd blosc": "chunks, shuffle + lz4",
}
SLICES = {"windows": "200 windows", "elements": "1000 elements", "scattered": "1000 points, one call", "lines": "50 lines"}


def megabytes(about, side):
    side = max(512, int(side * about["scale"]))
    return f"{side * side * 4 / 1e6:.0f} MB"


def python_rows(figures, row, names):
    """(label, times) of the row's cases, one thread."""
    for key, label in names:
        if f"{key} 1t" in figures.get(row, {}):
            yield label, {who: ns for who, ns in figures[row][f"{key} 1t"].items() if who in COLOURS}


def command_rows(figures, names):
    for key, label in names:
        if key in figures:
            yield label, {"cippus": figures[key]["cippus-1"]["best"], "asdf": figures[key]["peer"]["best"]}


def charts(figures):
    """(name, title, rows) of each chart."""
    about = figures["about"]
    whole, part, raw = megabytes(about, 4096), megabytes(about, 2048), megabytes(about, 16384)
    nodes = f"{222_000 * about['scale']:,.0f}"
    yield "speed", "Time for the same work, shorter is better", [
        *command_rows(figures, [
            ("set", f"one value changed in {raw} of ASDF"),
            ("window-lz4", f"100 x 100 window of {raw}, ASDF lz4"),
            ("lz4", f"{raw} decoded, ASDF lz4"),
        ]),
        *python_rows(figures, "python-read", [("asdf zlib whole", f"{whole} read, ASDF zlib"), ("b2nd lz4 whole", f"{whole} read, chunks lz4")]),
        *python_rows(figures, "python-slices", [("b2nd zstd windows", f"200 windows of {part}, chunks zstd"), ("b2nd lz4 elements", f"1000 elements of {part}, chunks lz4")]),
        *python_rows(figures, "python-write", [("b2nd zstd", f"{part} written, chunks zstd")]),
    ]
    opened = {"tree": f"a leaf of a tree of {nodes} nodes"} | {f"{k} whole": f"64 numbers: {v}" for k, v in STORED.items()}
    yield "speed-open", "Open, read and close a small file", list(python_rows(figures, "python-open", opened.items()))
    yield "speed-read", f"Open a file of {whole} and read it whole", list(python_rows(figures, "python-read", [(f"{k} whole", v) for k, v in STORED.items()]))
    for what, text in SLICES.items():
        yield f"speed-{what}", f"{text[0].upper()}{text[1:]} of a file of {part}", list(python_rows(figures, "python-slices", [(f"{k} {what}", v) for k, v in STORED.items()]))
    yield "speed-write", f"Write {part} into a new file", list(python_rows(figures, "python-write", STORED.items()))


def time(ns):
    ms = ns / 1e6
    return f"{ms:.3f} ms" if ms < 0.1 else f"{ms:.2f} ms" if ms < 10 else f"{ms:.0f} ms"


def svg(title, rows, about):
    left, width, bar, gap, y = 270, 400, 13, 9, 62
    parts = []
    for label, times in rows:
        middle = y + bar * len(times) / 2 + 4
        parts.append(f'<text x="{left - 10}" y="{middle:.0f}" text-anchor="end">{escape(label)}</text>')
        for who, ns in times.items():
            length = max(1, width * ns / max(times.values()))
            parts.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{bar - 2}" fill="{COLOURS[who]}"/>')
            parts.append(f'<text x="{left + length + 5:.1f}" y="{y + bar - 3}" class="n">{escape(who)} {time(ns)}</text>')
            y += bar
        y += gap
    clock = "processor time in rows of Python, one thread" if about["cpu"] else "one thread"
    below = f"measured with version {about['version']}, {about['date']}, {about['machine']}; best of {about['rounds']} interleaved rounds, {clock}"
    height = y + 26
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="820" height="{height}" viewBox="0 0 820 {height}">
<style>text {{ font: 12px sans-serif; fill: #1f2328 }} .t {{ font-weight: bold; font-size: 15px }} .n {{ font-size: 10px; fill: #57606a }}</style>
<rect width="820" height="{height}" fill="#ffffff"/>
<text x="16" y="28" class="t">{escape(title)}</text>
<text x="16" y="46" class="n">bars are compared within a row: the longest fills the width</text>
""" + "\n".join(parts) + f"""
<text x="16" y="{height - 12}" class="n">{escape(below)}</text>
</svg>
"""


def main():
    words = [word for word in sys.argv[1:] if word != "--check"]
    figures = json.loads(pathlib.Path(words[0] if words else ROOT / "bench/figures.json").read_text())
    folder = pathlib.Path(words[1] if len(words) > 1 else ROOT / "docs/images")
    failed = False
    for name, title, rows in charts(figures):
        file, text = folder / f"{name}.svg", svg(title, rows, figures["about"])
        if not rows:
            sys.exit(f"bench/chart.py: no figures for {name}")
        if "--check" not in sys.argv:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            print(f"{file.name} does not show the figures: run bench/chart.py")
            failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
