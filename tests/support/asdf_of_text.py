#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a small ASDF file: its tree from standard input, a block for each word.

usage: asdf_of_text.py OUT [BLOCK...] <TREE

TREE is what stands between `---` and `...`; its lines before the first `---` are comments of the
head. BLOCK is comma-separated bytes ("1,2,3"), or `name:count` for `count` times the byte `name`.
`!` is ASDF's tag prefix. No index: readers walk.
"""
import hashlib
import struct
import sys


def block(word):
    if ":" in word:
        byte, count = word.split(":")
        data = bytes([int(byte)]) * int(count)
    else:
        data = bytes(int(b) for b in word.split(",") if b)
    head = struct.pack(">I4sQQQ", 0, b"\0" * 4, len(data), len(data), len(data))
    return b"\xd3BLK" + struct.pack(">H", 48) + head + hashlib.md5(data).digest() + data


def main():
    text = sys.stdin.read()
    comments, _, tree = text.rpartition("---\n") if "---\n" in text else ("", "", text)
    with open(sys.argv[1], "wb") as f:
        f.write(b"#ASDF 1.0.0\n#ASDF_STANDARD 1.5.0\n" + comments.encode())
        f.write(b"%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n")
        f.write(tree.encode() + b"...\n")
        for word in sys.argv[2:]:
            f.write(block(word))


main()
