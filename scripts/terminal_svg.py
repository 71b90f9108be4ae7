#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws what the command prints on a terminal: docs/images/terminal.svg, the picture in README.md.

usage: scripts/terminal_svg.py [--check] CIPPUS      --check: only compares with the picture that is there
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/images/terminal.svg"
COLUMNS = 92
COMMANDS = [
    "cippus ls roman.asdf",
    "cippus cat roman.asdf roman/data '[40:43, 10:14]'",
    "cippus set roman.asdf roman/meta/quality good",
    "cippus verify --deep roman.asdf tide.blp wells.blz",
    "cippus convert tide.blp tide.b2nd --codec zstd:9",
    "cippus diff tide.blp tide.b2nd && echo same",
]


def recorded(command):
    """(command, what a terminal shows) of each, in a copy of the samples."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "samples", folder, dirs_exist_ok=True)
        pathlib.Path(folder, ".bin").mkdir()
        pathlib.Path(folder, ".bin/cippus").symlink_to(pathlib.Path(shutil.which(command) or command).resolve())
        env = {**os.environ, "PATH": f"{folder}/.bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "TERM": "xterm", "NO_COLOR": "1"}
        for line in COMMANDS:
            words = [sys.executable, ROOT / "tests/support/on_terminal.py", str(COLUMNS), "sh", "-c", f"exec 2>&1; {line}"]
            done = subprocess.run(words, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.returncode != 0 or done.stderr:
                sys.exit(f"terminal_svg: {line}: status {done.returncode}\n{done.stdout}{done.stderr}")
            yield line, done.stdout.rstrip("\n").split("\n") if done.stdout else []


def svg(session):
    """Commands come up one after the other; a program that knows no animation shows all of them."""
    line_height, y, groups = 18, 58, []
    for i, (command, lines) in enumerate(session):
        texts = [f'<text x="16" y="{y}" xml:space="preserve"><tspan class="p">$</tspan> {escape(command)}</text>']
        for line in lines:
            y += line_height
            texts.append(f'<text x="16" y="{y}" class="o" xml:space="preserve">{escape(line)}</text>')
        y += line_height + 4
        groups.append(f'<g style="animation-delay: {i * 0.8:.1f}s">\n' + "\n".join(texts) + "\n</g>")
    width, height = 16 * 2 + COLUMNS * 8, y
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">
<style>
text {{ font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #e6edf3 }} .o {{ fill: #9aa7b4 }} .p {{ fill: #3fb950 }}
@keyframes come {{ from {{ opacity: 0 }} }} g {{ animation: come .2s both }}
</style>
<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>
<circle cx="20" cy="20" r="6" fill="#f85149"/><circle cx="40" cy="20" r="6" fill="#d29922"/><circle cx="60" cy="20" r="6" fill="#3fb950"/>
""" + "\n".join(groups) + "\n</svg>\n"


def main():
    words = [word for word in sys.argv[1:] if word != "--check"]
    if len(words) != 1:
        sys.exit(__doc__.split("usage: ")[1].strip())
    text = svg(list(recorded(words[0])))
    if "--check" not in sys.argv:
        PICTURE.parent.mkdir(parents=True, exist_ok=True)
        PICTURE.write_text(text)
    elif not PICTURE.exists() or PICTURE.read_text() != text:
        print(f"{PICTURE.relative_to(ROOT)} does not show what the command prints: run scripts/terminal_svg.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
