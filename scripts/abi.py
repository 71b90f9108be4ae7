#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What programs are compiled against: functions, constants, and where fields of structs lie.

usage: scripts/abi.py check         compares include/ with scripts/abi.txt
       scripts/abi.py update        writes scripts/abi.txt anew, which needs another minor version
       scripts/abi.py grown DIR     the headers of a later version, whose sized structs have more
       scripts/abi.py cut DIR       those of an earlier one, where each lacks its last field

A sized struct begins with its size and may get fields at its end. Everything else stays as it is
for as long as the name of the shared library does (docs/decisions/api-0.2.md).
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "scripts" / "abi.txt"
STRUCT = re.compile(r"typedef struct (cip_\w+) \{(.*?)\}\s*\1;", re.S)
ENUM = re.compile(r"\benum\s*\w*\s*\{(.*?)\}", re.S)
FUNCTION = re.compile(r"^CIP_API\s+(.*?);", re.S | re.M)
CALLBACK = re.compile(r"^typedef ([^;{}]*\([^;{}]*\));", re.M)
FUTURE = 16  # bytes that a later version's structs have more
WHOLE = {"cip_err"}  # never cut: what is smaller than version 0.2's is not written
GIVEN = re.compile(r"_(options|args|params|limits|err)$")  # what callers fill in


def headers():
    """(path below include/, text without comments) of each C header."""
    include = ROOT / "include"
    for path in sorted(include.rglob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
        yield path.relative_to(include), text


def members(body):
    """(name, declaration) of each field, in order."""
    for declaration in body.split(";"):
        function = re.search(r"\(\*(\w+)\)", declaration)
        if function:
            yield function[1], declaration
        elif declaration.strip():
            for part in declaration.split(","):
                yield re.search(r"(\w+)\s*(\[[^]]*\]\s*)*$", part.strip())[1], declaration


def is_sized(body):
    return next(members(body))[0] in ("size", "struct_size")


def one_line(text):
    return re.sub(r"\s+", " ", text).strip().replace("( ", "(")


def facts():
    """The list: lines, and for those of structs and constants C expressions of their values."""
    for _, text in headers():
        for m in FUNCTION.finditer(text):
            yield "function " + one_line(m[1]), []
        for m in CALLBACK.finditer(text):
            yield "type " + one_line(m[1]), []
        for m in ENUM.finditer(text):
            for name in re.findall(r"\b(CIP_\w+)\s*(?:=|,|$)", m[1].strip()):
                yield f"constant {name}", [name]
        for struct, body in STRUCT.findall(text):
            kind = "sized" if is_sized(body) else "fixed"
            yield f"{kind} {struct}", [f"sizeof({struct})"]
            for field, _ in members(body):
                at = f"offsetof({struct}, {field})", f"sizeof((({struct} *)0)->{field})"
                yield f"field {struct}.{field}", list(at)


def listed():
    """The lines with their values, which a program tells that is compiled against the headers."""
    lines = list(facts())
    with tempfile.TemporaryDirectory() as d:
        source = pathlib.Path(d, "abi.c")
        values = [v for _, exprs in lines for v in exprs]
        source.write_text(
            "#include <stdio.h>\n#include <stddef.h>\n#include <cippus/cippus.h>\nint main(void)\n{\n"
            + "".join(f'    printf("%lld\\n", (long long){v});\n' for v in values)
            + "    return 0;\n}\n",
            encoding="utf-8",
        )
        program = str(pathlib.Path(d, "abi"))
        compiler = os.environ.get("CC", "cc")
        subprocess.run(
            [compiler, "-std=c17", "-DCIP_STATIC", f"-I{ROOT}/include", str(source), "-o", program],
            check=True,
        )
        numbers = iter(subprocess.run([program], check=True, capture_output=True).stdout.split())
    return [" ".join([name] + [next(numbers).decode() for _ in exprs]) for name, exprs in lines]


def version():
    text = (ROOT / "include/cippus/version.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"CIP_VERSION_{x} (\d+)", text)[1] for x in ("MAJOR", "MINOR"))


def sizes(lines):
    return {line.split()[1]: int(line.split()[2]) for line in lines if line.startswith("sized ")}


def padded(lines):
    """Structs that callers fill in and that end in padding, which older programs never set."""
    end = {}
    for line in lines:
        if line.startswith("field "):
            name, at, size = line.split()[1:]
            end[name.split(".")[0]] = int(at) + int(size)
    return [s for s, n in sizes(lines).items() if GIVEN.search(s) and end[s] != n]


def check():
    old, now = LIST.read_text(encoding="utf-8").splitlines(), listed()
    if old[0] != "version " + version():
        sys.exit(f"scripts/abi.txt is of {old[0]}, include/ of {version()}: scripts/abi.py update")
    before, after, missing = sizes(old), sizes(now), sorted(set(now) - set(old))
    wrong = []
    for line in sorted(set(old[1:]) - set(now)):
        name = line.split()[1]
        if not (line.startswith("sized ") and after.get(name, 0) > before[name]):
            wrong.append(f"{line}: programs that are there rely on it")
    for line in missing:
        if line.startswith("field "):
            struct = line.split()[1].split(".")[0]
            if int(line.split()[2]) < before.get(struct, 0):
                wrong.append(f"{line}: new fields come behind the {before[struct]} bytes of {struct}")
    wrong += [f"{struct} ends in padding: name it, and ask for 0 in it" for struct in padded(now)]
    print("\n".join(wrong or [f"{line}: not in scripts/abi.txt" for line in missing]))
    if wrong or missing:
        sys.exit("scripts/abi.py: include/ is not what scripts/abi.txt says")


def other(folder, change):
    for name, text in headers():
        out = pathlib.Path(folder, name)
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(STRUCT.sub(lambda m: change(m) if is_sized(m[2]) else m[0], text))


def grown(m):
    return m[0].replace(f"}} {m[1]};", f"    unsigned char future[{FUTURE}];\n}} {m[1]};")


def cut(m):
    if m[1] in WHOLE:
        return m[0]
    return m[0].replace(list(members(m[2]))[-1][1] + ";", "", 1)


def main():
    match sys.argv[1:]:
        case ["check"]:
            check()
        case ["update"]:
            text = "\n".join(["version " + version()] + listed()) + "\n"
            LIST.write_text(text, encoding="utf-8")
        case ["grown", folder]:
            other(folder, grown)
        case ["cut", folder]:
            other(folder, cut)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
