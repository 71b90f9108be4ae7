#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes docs/guide/errors.md from the table of messages in tools/errors.c, or checks that it is up to date.

usage: scripts/errors_page.py CIPPUS [--check]

Runs each example by CIPPUS in a copy of samples/ of its own; fails where the output has not the text of the table.
"""
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/guide/errors.md"
HEAD = """# Messages and what to do

<!-- Made by scripts/errors_page.py from tools/errors.c. -->
An error is one line: `cippus: FILE: KIND (PART, byte OFFSET): what is wrong`. Python raises an exception for each kind. C functions return the status and fill a `cip_err`.
`cippus help errors` prints this list without the examples, which run in a copy of the folder `samples/`. In the texts, `...` stands for what differs from case to case.

"""
STRING = r'"((?:[^"\\]|\\.)*)"'


def strings(text):
    """The C strings of a row, adjacent ones joined; None for NULL."""
    found = re.findall(rf"(?:{STRING}\s*)+|NULL", re.sub(r"(?<!\\)\"\s*\n\s*\"", "", text))
    words = [m[0] for m in re.finditer(rf"(?:{STRING}\s*)+|\bNULL\b", re.sub(r'(?<!\\)"\s+"', "", text))]
    assert len(found) == len(words)
    return [None if w == "NULL" else re.sub(r"\\(.)", r"\1", w.strip()[1:-1]) for w in words]


def tables():
    """[(status, meaning)] of the kinds, and [(status, text, meaning, remedy, example)] of the messages."""
    source = (ROOT / "tools/errors.c").read_text(encoding="utf-8")
    rows = [(m[1], strings(m[2])) for m in re.finditer(r"^    \{ (CIP_\w+),(.*?) \},$", source, re.M | re.S)]
    return [(st, s[0]) for st, s in rows if len(s) == 1], [(st, *s) for st, s in rows if len(s) == 4]


def enumerators():
    """The statuses in the order of their values."""
    return re.findall(r"^    (CIP_(?:OK|ERR_\w+)) = \d+", (ROOT / "include/cippus/error.h").read_text(encoding="utf-8"), re.M)


def names():
    """What the command prints for each status."""
    text = (ROOT / "src/base/err.c").read_text(encoding="utf-8")
    return dict(zip(enumerators(), re.findall(r'^        "([^"]+)",$', text, re.M)))


def exceptions():
    """Python's exception for each status; its classes stand in the order of the statuses."""
    text = (ROOT / "bindings/python/cippus/_errors.py").read_text(encoding="utf-8")
    return dict(zip(enumerators()[1:], re.findall(r"^class (\w+)\(Error, ", text, re.M)))


def run(command, example):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copytree(ROOT / "samples", folder / "samples")
        (folder / "bin").mkdir()
        (folder / "bin/cippus").symlink_to(command)
        env = {**{k: v for k, v in os.environ.items() if not k.startswith(("LC_", "CIP_"))}, "LC_ALL": "C.UTF-8"}
        env["PATH"] = f"{folder / 'bin'}:{env['PATH']}"
        done = subprocess.run(["sh", "-c", f"exec 2>&1; {example}"], cwd=folder / "samples", env=env, capture_output=True, text=True)
    return done.stdout, done.returncode


def page(command):
    kinds, messages = tables()
    if {st for st, _ in kinds} != set(enumerators()) or len(messages) < 30:
        sys.exit("tools/errors.c: expected a row for each status, and the rows of messages")
    name, raised, out = names(), exceptions(), [HEAD]
    out.append("| kind | exit status | Python | C |\n|---|---|---|---|\n")
    for st, _ in kinds:
        if st != "CIP_OK":
            title = name[st]
            out.append(f"| [{title}](#{title.replace(' ', '-').replace('/', '')}) | {2 if st == 'CIP_ERR_ARG' else 3} | `{raised[st]}` | `{st}` |\n")
    for st, meaning in kinds:
        title = "Notes and warnings" if st == "CIP_OK" else name[st].capitalize()
        out.append(f"\n## {title}\n{meaning}\n")
        for _, text, what, remedy, example in [m for m in messages if m[0] == st]:
            out.append(f"\n### `{text}`\n{what} {remedy}\n")
            if example is None:
                continue
            printed, status = run(command, example)
            wanted = ".*".join(re.escape(part) for part in text.split("..."))
            if not re.search(wanted, printed):
                sys.exit(f"tools/errors.c: expected '{text}' from $ {example}\nfound\n{printed}")
            if (status == 0) != (st == "CIP_OK"):
                sys.exit(f"tools/errors.c: exit status {status} from $ {example}")
            out.append(f"```console\n$ {example}\n{printed}```\n")
    return "".join(out)


def main():
    made = page(pathlib.Path(sys.argv[1]).resolve())
    if "--check" not in sys.argv[2:]:
        PAGE.write_text(made, encoding="utf-8")
        return 0
    stands = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    if stands == made:
        return 0
    sys.stdout.writelines(difflib.unified_diff(stands.splitlines(True), made.splitlines(True), str(PAGE), "tools/errors.c"))
    return 1


if __name__ == "__main__":
    sys.exit(main())
