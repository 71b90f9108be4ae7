#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the texts that users read: sentences of at most 30 words, plain words, links that lead somewhere, messages quoted as
they are printed today, help within 80 columns.

usage: scripts/words.py [--command CIPPUS] [FILE...]     FILE: these alone

Texts are README.md, docs/ without its decisions, the newest part of CHANGELOG.md, the manual page, comments of the
public headers, docstrings of the Python package and, with --command, what `--help` prints. A sentence ends with
a full stop, a question or an exclamation mark, or with its paragraph, list item or table cell; blocks of code do not count.
"""
import argparse
import ast
import functools
import json
import pathlib
import re
import subprocess
import sys

MOST_WORDS = 30
MOST_COLUMNS = 80

BANNED = [  # (pattern, what to write instead)
    (r"(?<!left )\bbehind\b", "after"),
    (r"\banew\b", "again, rewritten"),
    (r"\b(a?midst|amid)\b", "middle, during"),
    (r"\bgo(es)? (with|for)\b", "requires, applies to"),
    (r"\b(is|are|was|were|be|been) (told|said|named)\b(?! (after|like)\b)", "is reported, printed"),
    (r"\bpass(ed|es|ing)? over\b", "ignored"),
    (r"\bas ever\b", "as usual"),
    (r"\bbut for\b", "except"),
    (r"\bnobody has\b", "uninitialised, nobody ..."),
    (r"\bloss of power\b|\bits death\b", "power failure, the process is killed"),
    (r"\bmakes pages\b", "builds the HTML"),
    (r"\bunsaid\b", "every ... is reported"),
    (r"^(Of|What|Who|Whoever|Whose)\b(?!.*\?$)", "subject, verb, object: if you ..., a file that has ..."),
]


def plain(text):
    """Markdown's text as it is read: code is one word, links are their words."""
    text = re.sub(r"`+[^`]*`+", "CODE", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"https?://\S+", "URL", text)
    return re.sub(r"[*{}<>]+", " ", text)


def paragraphs(lines, number=1):
    """(line, text) of each paragraph, list item, heading and table cell of Markdown."""
    fence, start, words = None, 0, []

    def ended():
        if words:
            yield start, " ".join(words)
            words.clear()

    for i, line in enumerate(lines, number):
        text = line.strip()
        if fence is not None or re.match(r"(```|~~~)", text):
            yield from ended()
            fence = (None if text.startswith(fence) else fence) if fence else text[:3]
            continue
        item = re.match(r"([-*+]|\d+\.)\s+|#+\s+|>\s*", text)
        if not text or item or text.startswith("|"):
            yield from ended()
        if text.startswith("|"):
            for cell in re.sub(r"`[^`]*`", "CODE", text).replace(r"\|", "/").split("|"):
                if re.search(r"\w", cell):
                    yield i, cell.strip()
            continue
        if not text or text.startswith("<!--"):
            continue
        if not words:
            start = i
        words.append(text[item.end() :] if item else text)
        if text.startswith("#"):
            yield from ended()
    yield from ended()


def of_markdown(path):
    yield from ((line, plain(text)) for line, text in paragraphs(path.read_text(encoding="utf-8").splitlines()))


def of_changelog(path):
    """Of the newest part alone: older ones are as they were released."""
    lines = path.read_text(encoding="utf-8").splitlines()
    heads = [i for i, line in enumerate(lines) if line.startswith("## ")] + [len(lines)] * 2
    yield from ((line, plain(text)) for line, text in paragraphs(lines[: heads[1]]))


def of_notebook(path):
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown":
            yield from ((1, plain(text)) for _, text in paragraphs("".join(cell["source"]).splitlines()))


def of_man(path):
    """mdoc: macros that mark a word keep it; others end a paragraph, and so does a line of code (Dl)."""
    start, words, display = 0, [], False
    for i, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), ".Pp"], 1):
        macro = re.match(r"\.\s*(\w+)\s*(.*)", line)
        if line.startswith('.\\"'):
            continue
        if macro and macro[1] in ("Bd", "Ed"):
            display = macro[1] == "Bd"
        if display and not macro:
            continue
        if macro and macro[1] in ("Pp", "Sh", "Ss", "It", "Bl", "El", "Bd", "Ed", "Dl", "Nd", "Dd", "Dt", "Os"):
            if words:
                yield start, " ".join(words)
            words = []
            continue
        if not words:
            start = i
        text = re.sub(r"\\[&-]", "", macro[2] if macro else line)
        words.append(re.sub(r"\b(Fl|Ar|Pa|Cm|Va|Dq|Ql|Xr|Nm|Ev|Em|Li|Ns|Ic|Sq) ", "", text.replace(" .", ".").replace(" ,", ",")))


def of_header(path):
    """Comments; a line without words, or one that begins an item, ends a paragraph."""
    text = path.read_text(encoding="utf-8")
    for found in re.finditer(r"/\*.*?\*/", text, re.S):
        first = text.count("\n", 0, found.start()) + 1
        lines = [re.sub(r"^\s*\*? ?", "", line) for line in found[0].removeprefix("/*").removesuffix("*/").splitlines()]
        lines[0] = lines[0].lstrip("*< ")
        if "SPDX" in lines[0]:
            lines[0] = ""
        yield from ((line, plain(text)) for line, text in paragraphs(lines, first))


def offered(path):
    """The names of a private module that its package imports; None: all names of a public one."""
    package = path.parent / "__init__.py"
    if not path.name.startswith("_") or path.name == "__init__.py" or path.suffix != ".py" or not package.exists():
        return None
    imports = [node for node in ast.parse(package.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)]
    return {alias.name for node in imports if node.module == path.stem for alias in node.names}


def of_python(path):
    """Docstrings that help() shows: of public modules, and of what they and the package offer, methods too."""
    module, names = ast.parse(path.read_text(encoding="utf-8")), offered(path)
    nodes = [] if names is not None else [module]
    for node in module.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and (node.name in names if names is not None else node.name[0] != "_"):
            nodes += [node, *(x for x in node.body if isinstance(node, ast.ClassDef) and isinstance(x, ast.FunctionDef) and not re.match("_[^_]", x.name))]
    for node in nodes:
        text = ast.get_docstring(node)
        if text:
            yield from ((n, plain(text)) for n, text in paragraphs(text.splitlines(), node.body[0].lineno))


READERS = {".md": of_markdown, ".ipynb": of_notebook, ".1": of_man, ".h": of_header, ".hpp": of_header, ".py": of_python, ".pyi": of_python}


def sentences(text):
    return [s.strip() for s in re.split(r"(?<!e\.g\.)(?<!i\.e\.)(?<!\.\.)(?<=[.!?])[)\"']?\s+", text) if s.strip()]


def faults(text):
    """Words on each fault of a paragraph."""
    for sentence in sentences(text):
        count = len([word for word in sentence.split() if re.search(r"\w", word)])
        if count > MOST_WORDS:
            yield f"{count} words in a sentence: {sentence[:60]}..."
        for pattern, instead in BANNED:
            found = re.search(pattern, sentence)
            if found:
                yield f"'{found[0]}' ({instead}): {sentence[max(found.start() - 30, 0) : found.end() + 30]}"


def anchors(path):
    """The names of a page's headings, as GitHub and the HTML pages make them."""
    heads = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def dead_links(path):
    for i, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
            name, _, anchor = target.partition("#")
            page = path.parent / name if name else path
            if "://" not in target and not (page.exists() and (not anchor or anchor in anchors(page))):
                yield f"{i}: the link leads nowhere: {target}"


MESSAGE = r"\b(expected|found|cannot|lost|missing|does not|do not|is left out|no node|did you mean)\b"


@functools.cache
def printed(root):
    """The strings of the library and the command, adjacent ones joined; between them a line's end."""
    files = [f for folder in ("src", "tools") for f in sorted((root / folder).rglob("*.[ch]")) if not f.name.startswith("test_")]
    texts = [re.sub(r'(?<!\\)"\s+"', "", f.read_text(encoding="utf-8")) for f in files]
    return "\n".join(found for text in texts for found in re.findall(r'"((?:[^"\\\n]|\\.)*)"', text))


def stale_quotes(root, path):
    """Messages in `code` of which three words or more, between what differs from case to case, are printed nowhere."""
    for i, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for quote in re.findall(r"`([^`]+)`", line):
            parts = re.split(r"[^A-Za-z' -]+", re.sub(r"'[^']*'", "0", quote)) if re.search(MESSAGE, quote) else []
            for part in parts:
                if len(part.split()) >= 3 and part.strip() not in printed(root):
                    yield f"{i}: a message that is printed nowhere: {part.strip()}"


def of_file(path):
    reader = of_changelog if path.name == "CHANGELOG.md" else READERS[path.suffix]
    for line, text in reader(path):
        for fault in faults(text):
            yield f"{line}: {fault}"
    if path.suffix == ".md":
        yield from dead_links(path)


def files(root):
    """The files of users' texts, as paths from the root."""
    found = [root / "README.md", root / "CHANGELOG.md"]
    for folder, suffixes in (("docs", ".md .ipynb .1"), ("include", ".h .hpp"), ("bindings/python/cippus", ".py .pyi")):
        found += [f for f in sorted((root / folder).rglob("*")) if f.suffix in suffixes.split() and f.is_file()]
    return [f.relative_to(root).as_posix() for f in found if f.exists() and "decisions" not in f.parts]


def output(*words):
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout


def of_help(command):
    """Faults of what --help prints, of the command and of each verb that it lists."""
    first = output(command, "--help")
    verbs = re.findall(r"^  ([a-z][a-z-]*)  +", first, re.M)
    if len(verbs) < 10:
        yield f"--help: lists {len(verbs)} commands"
    for name, text in [("--help", first), *((f"{verb} --help", output(command, verb, "--help")) for verb in verbs)]:
        for i, line in enumerate(text.splitlines(), 1):
            if len(line) > MOST_COLUMNS:
                yield f"{name}:{i}: {len(line)} columns: {line[:60]}..."
            for fault in faults(plain(re.sub(r"^\s*(-\S+.*?|[a-z-]+)  +", "", line))):
                yield f"{name}:{i}: {fault}"


def problems(root, names, command=None):
    """(file or "tools", fault) of each."""
    for name in names:
        yield from ((name, fault) for fault in of_file(root / name))
        if name.endswith(".md"):
            yield from ((name, fault) for fault in stale_quotes(root, root / name))
    if command:
        yield from (("tools", fault) for fault in of_help(command))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("--command")
    parser.add_argument("file", nargs="*")
    given = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    lines = [f"{name}:{fault}" for name, fault in problems(root, given.file or files(root), given.command)]
    print("\n".join(lines), end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
