#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The programs of a guide: blocks of C or C++ that have a main, each with the text that it prints.

usage: guide_blocks.py extract GUIDE.md FOLDER        FOLDER/<name>.c or .cpp, and <name>.out; prints the names
       guide_blocks.py run EXPECTED SAMPLES PROGRAM...   runs it where samples/ is a copy; EXPECTED is what it prints

A program is called after the guide and the heading that it stands under. Its output is the next
block of text before another program or heading; where there is none it prints nothing.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PART = re.compile(r"^(#+ [^\n]*)$|^```(\w*)\n(.*?)^```$", re.S | re.M)
SUFFIX = {"c": ".c", "cpp": ".cpp"}


def programs(text, guide):
    """(name, suffix, source, output) of each."""
    found, heading, waits = [], guide, False
    for title, language, body in PART.findall(re.sub(r"\r\n", "\n", text)):
        if title:
            heading = guide + "_" + re.sub(r"\W+", "_", title.lstrip("# ").lower().replace("+", "p")).strip("_")
            waits = False
        elif language in SUFFIX and re.search(r"\bmain\(", body):
            found.append([heading, SUFFIX[language], body, ""])
            waits = True
        elif language == "text" and waits:
            found[-1][3] = body
            waits = False
    names = [name for name, *_ in found]
    for name in set(names):
        if names.count(name) > 1:
            raise SystemExit(f"{guide}: two programs under one heading: {name}")
    return found


def write_if_new(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def extract(guide, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, suffix, source, output in programs(guide.read_text(encoding="utf-8"), guide.stem.lower()):
        write_if_new(folder / (name + suffix), source)
        write_if_new(folder / (name + ".out"), output)
        print(name + suffix)


def run(expected, samples, *program):
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(samples, pathlib.Path(folder, "samples"))
        done = subprocess.run(program, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    want = expected.read_text(encoding="utf-8")
    if done.returncode == 0 and done.stdout == want and not done.stderr:
        return 0
    print(f"{program[-1]}: status {done.returncode}; expected\n{want}found\n{done.stdout}{done.stderr}")
    return 1


def main():
    verb, *rest = sys.argv[1:]
    paths = [pathlib.Path(p).resolve() for p in rest[:2]]
    return {"extract": extract, "run": run}[verb](*paths, *rest[2:])


if __name__ == "__main__":
    sys.exit(main())
