#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command whose standard output is a terminal, and prints what it shows there.

usage: tests/support/on_terminal.py COLUMNS COMMAND...
"""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

outer, inner = pty.openpty()
fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 25, int(sys.argv[1]), 0, 0))
done = subprocess.Popen(sys.argv[2:], stdout=inner)
os.close(inner)
text = b""
while True:
    try:
        piece = os.read(outer, 1 << 16)
    except OSError:  # the other end is closed
        break
    if not piece:
        break
    text += piece
sys.stdout.write(text.decode().replace("\r\n", "\n"))
sys.exit(done.wait())
