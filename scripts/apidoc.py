#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that every CIP_API declaration of include/cippus has a doc comment.

usage: scripts/apidoc.py [--names] [FOLDER]      --names: print what is declared instead

A comment stands directly above the declaration, or above the group of declarations (no empty line
between) that it describes, or behind the declaration on its last line.
"""
import pathlib
import re
import sys

DECLARATION = re.compile(r"^\s*CIP_API\b")
NAME = re.compile(r"\b(cip_\w+)\s*\(")


def declarations(lines):
    """(number of its first line, its lines) of each CIP_API declaration."""
    i = 0
    while i < len(lines):
        if DECLARATION.match(lines[i]):
            end = i
            while ";" not in lines[end]:
                end += 1
            yield i, lines[i : end + 1]
            i = end
        i += 1


def comment_above(lines, start, covered):
    """Whether a /** comment ends on the line before, or a documented declaration does."""
    if start == 0 or not lines[start - 1].strip():
        return False
    if start - 1 in covered:
        return True
    i = start - 1
    if not lines[i].rstrip().endswith("*/"):
        return False
    while i > 0 and "/*" not in lines[i]:
        i -= 1
    return lines[i].strip().startswith("/**")


def undocumented(lines):
    covered = set()
    for start, text in declarations(lines):
        if re.search(r";\s*/\*", text[-1]) or comment_above(lines, start, covered):
            covered.add(start + len(text) - 1)
        else:
            yield start, text


def main():
    names = "--names" in sys.argv
    rest = [a for a in sys.argv[1:] if a != "--names"]
    root = pathlib.Path(rest[0] if rest else pathlib.Path(__file__).parent.parent)
    failed = False
    for header in sorted((root / "include").rglob("*.h")):
        lines = header.read_text(encoding="utf-8").splitlines()
        if names:
            for _, text in declarations(lines):
                print(NAME.search(" ".join(text)).group(1))
            continue
        for start, text in undocumented(lines):
            failed = True
            print(f"{header.relative_to(root)}:{start + 1}: no doc comment: {text[0].strip()}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
