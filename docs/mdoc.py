# SPDX-License-Identifier: BSD-3-Clause
"""The manual page as Markdown: markdown(text) of mdoc. A macro that it does not know is an error."""
import re
import shlex

MARKS = {"Ar": "*{}*", "Cm": "`{}`", "Li": "`{}`", "Ql": "`{}`", "Pa": "`{}`", "Ev": "`{}`", "Va": "`{}`", "Fl": "`-{}`", "Sq": "'{}'", "Qq": '"{}"', "Nm": "`{}`"}
CALLED = {*MARKS, "Op", "Oo", "Oc", "Pq", "No", "Ns"}
CLOSING = {",", ".", ";", ":", ")", "?", "!"}
ESCAPES = {r"\(dq": '"', r"\(lq": "“", r"\(rq": "”", r"\*q": '"', r"\e": "\\", r"\&": "", r"\-": "-"}


def unescaped(text):
    return re.sub(r"\\(?:\(dq|\(lq|\(rq|\*q|e|&|-)", lambda found: ESCAPES[found[0]], text)


def words_of(line):
    lexer = shlex.shlex(line.replace(r"\(dq", "\0"), posix=True, punctuation_chars="")
    lexer.whitespace_split, lexer.quotes, lexer.escape, lexer.commenters = True, '"', "", ""
    return [word.replace("\0", r"\(dq") for word in lexer]


def inline(words, name, plain=False):
    """One macro line, without its dot, as Markdown, or as plain text (in a term)."""
    out, ends, macro, group, glued, bare = [], [], None, [], False, False

    def add(text, close=False):
        nonlocal glued
        if out and not glued and not close:
            out.append(" ")
        glued = False
        out.append(text)

    def flush():
        nonlocal bare
        if macro in MARKS and (group or bare and macro in ("Fl", "Nm")):
            mark = {"Fl": "-{}"}.get(macro, "{}") if plain else MARKS[macro]
            if macro == "Fl" and group:
                for word in group:
                    add(mark.format(unescaped(word)))
            else:
                add(mark.format(unescaped(" ".join(group)) or (name if macro == "Nm" else "")))
        group.clear()
        bare = False

    for word in words:
        if word in CALLED:
            flush()
            macro, bare = word, True
            if word in ("Op", "Pq"):
                add("[" if word == "Op" else "(")
                glued = True
                ends.append("]" if word == "Op" else ")")
            elif word == "Oo":
                add("[")
                glued = True
            elif word == "Oc":
                add("]", close=True)
            elif word == "Ns":
                glued = True
        elif word in CLOSING:
            flush()
            if words[-1] == word:
                while ends:
                    add(ends.pop(), close=True)
            add(word, close=True)
        elif macro in MARKS and word != "|":
            group.append(word)
        else:
            flush()
            add(unescaped(word))
    flush()
    while ends:
        add(ends.pop(), close=True)
    return "".join(out)


def in_synopsis(lines):
    return next((line for line in reversed(lines) if line.startswith("## ")), "") == "## Synopsis"


def markdown(text):
    lines, name, depth, paragraph, code = [], "", 0, [], []

    def end():
        if code:
            lines.extend(["", "```console", *code, "```", ""])
            code.clear()
        if paragraph:
            lines.extend(["  " * depth + " ".join(paragraph), ""])
            paragraph.clear()

    for line in text.splitlines():
        if line.startswith('.\\"'):
            continue
        if not line.startswith("."):
            paragraph.append(unescaped(line).replace("*", r"\*"))
            continue
        macro, *words = words_of(line[1:])
        if macro != "Dl" and (code or macro not in CALLED):
            end()
        if macro in ("Dd", "Dt", "Os", "Pp"):
            pass
        elif macro in ("Sh", "Ss"):
            title = " ".join(words)
            lines.extend([f"## {title if title == 'JSON' else title.capitalize()}" if macro == "Sh" else f"### {title}", ""])
        elif macro == "Nd":
            lines[-2:] = [f"`{name}`: " + " ".join(words), ""]
        elif macro == "Bl":
            depth += 1
        elif macro == "El":
            depth -= 1
        elif macro == "It":
            lines.extend(["  " * (depth - 1) + f"- `{inline(words, name, plain=True)}`", ""])
        elif macro == "Dl":
            if paragraph:
                end()
            code.append(line[4:])
        elif macro in CALLED:
            if macro == "Nm" and words and not name:
                name = words[0]
                lines.extend([f"`{name}`", ""])
                continue
            if macro == "Nm" and in_synopsis(lines):  # each of its lines is a form of the command
                end()
            paragraph.append(inline([macro, *words], name))
        else:
            raise ValueError(f"mdoc: .{macro} is not known")
    end()
    return "\n".join(lines) + "\n"
