# SPDX-License-Identifier: BSD-3-Clause
"""The scripts that judge the tree notice what they are there to notice."""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import threading

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def load(name):
    spec = importlib.util.spec_from_file_location(pathlib.Path(name).stem, ROOT / name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path):
    """A small tree that keeps the rules; put(path, text) adds to it."""

    def put(path, text=""):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    put("include/cippus/error.h", "#include <stdint.h>\n")
    put("src/base/err.h", '#include "cippus/error.h"\n')
    put("src/io/io.h", '#include "base/err.h"\n')
    put("src/codec/codec.h", '#include "base/err.h"\n')
    put("src/space/layout/layout.h", '#include "io/io.h"\n#include "codec/codec.h"\n')
    put("src/format/format.h", '#include "space/layout/layout.h"\n')
    put("src/format/aa/aa.h", '#include "format/format.h"\n')
    put("src/format/bb/bb.h", '#include "format/bb/bb.h"\n#include "io/io.h"\n')
    put("src/core/open.c", '#include "format/format.h"\n#include <cippus/error.h>\n')
    put("src/core/writing/writer.h", '#include "core/commit/commit.h"\n#include "core/handle.h"\n')
    put("src/core/commit/commit.h", '#include "base/err.h"\n')
    put("src/core/handle.h", '#include "core/commit/commit.h"\n')
    put("src/format/asdf/update/update.h", '#include "format/format.h"\n')
    put("src/io/io_impl.h", '#include "io/io.h"\n')
    put("src/io/file.c", '#include "io/io_impl.h"\n')
    put("src/core/commit/commit_impl.h", '#include "core/commit/commit.h"\n')
    put("tools/opts.h", "#include <cippus/error.h>\n")
    put("tools/main.c", '#include "opts.h"\n')
    put("tests/support/help.h")
    put("src/io/test_io.c", '#include "support/help.h"\n#include "support/io/io_testing.h"\n')
    put("tests/support/io/io_testing.h", '#include "support/help.h"\n#include "io/io_impl.h"\n')
    put.root = tmp_path
    return put


def test_a_step_runs_beside_those_after_it_and_is_told_behind_them(capsys):
    test, began = load("scripts/test.py"), threading.Event()

    def tally_of(words):
        test.tell(words)
        tally = test.Tally()
        tally.add("OK", words)
        return tally

    def quick():
        began.set()
        return tally_of("quick\n")

    test.make_environment = lambda: None
    test.STEPS = {"python": lambda: tally_of("slow\n" if began.wait(60) else "alone\n"), "check": quick, "counts": lambda: tally_of("last\n")}
    found = test.all_timed(["python", "check", "counts"])
    assert [(name, str(tally)) for name, _, tally in found] == [(name, "1 passed, 0 failed") for name in ("python", "check", "counts")]
    assert capsys.readouterr().out == "== check\nquick\n== counts\nlast\n== python\nslow\n"
    test.all_timed(["check", "python"])
    assert capsys.readouterr().out == "== check\nquick\n== python\nslow\n"


def layer_problems(tree):
    return list(load("scripts/layers.py").problems(tree.root))


def test_layers_accept_a_good_tree(tree):
    assert layer_problems(tree) == []


@pytest.mark.parametrize(
    "path, text",
    [
        ("src/base/bad.c", '#include "io/io.h"\n'),
        ("src/io/bad.c", '#include "codec/codec.h"\n'),
        ("src/space/bad.c", '#include "format/format.h"\n'),
        ("src/core/bad.c", '#include "format/aa/aa.h"\n'),
        ("src/format/aa/bad.c", '#include "format/bb/bb.h"\n'),
        ("src/format/aa/bad.c", '#include "core/open.c"\n'),
        ("src/format/aa/bad.c", '#include "aa.h"\n'),
        ("src/core/commit/bad.c", '#include "core/writing/writer.h"\n'),
        ("src/space/bad.c", '#include "io/io_impl.h"\n'),
        ("src/core/test_bad.c", '#include "core/commit/commit_impl.h"\n'),
        ("src/format/asdf/file/bad.c", '#include "format/asdf/update/update.h"\n'),
        ("src/io/test_bad.c", '#include "codec/codec.h"\n'),
        ("src/io/bad.c", '#include "support/io/io_testing.h"\n'),
        ("src/codec/test_bad.c", '#include "support/io/io_testing.h"\n'),
        ("tests/support/io/bad_testing.h", '#include "codec/codec.h"\n'),
        ("tests/support/space/bad_testing.h", '#include "io/io_impl.h"\n'),
        ("src/io/bad.c", '#include "support/help.h"\n'),
        ("tools/bad.c", '#include "base/err.h"\n'),
        ("tools/bad.c", "#include <base/err.h>\n"),
        ("examples/bad.c", '#include "../tools/opts_of_others.h"\n'),
        ("include/cippus/bad.h", '#include "base/err.h"\n'),
        ("include/cippus/bad.h", '#include "cippus/absent.h"\n'),
    ],
)
def test_layers_refuse(tree, path, text):
    tree(path, "\n" + text)
    found = layer_problems(tree)
    assert len(found) == 1 and found[0].startswith(f"{path}:2: ")


@pytest.mark.parametrize("path", ["src/io/more_testing.h", "src/io/test_more.h"])
def test_layers_refuse_headers_of_tests_in_the_library(tree, path):
    tree(path)
    assert [problem.split(": ")[0] for problem in layer_problems(tree)] == [f"{path}:1"]


def test_a_format_may_declare_that_it_nests_another(tree):
    tree("src/format/aa/CMakeLists.txt", "cip_add_format(aa SOURCES aa.c USES cip_format_bb)\n")
    tree("src/format/aa/aa.c", '#include "format/bb/bb.h"\n')
    assert layer_problems(tree) == []


@pytest.mark.parametrize(
    "text, bad",
    [
        ("/** It. */\nCIP_API int cip_a(void);\n", 0),
        ("/** Both. */\nCIP_API int cip_a(int x,\n    int y);\nCIP_API int cip_b(void);\n", 0),
        ("CIP_API int cip_a(void); /* never fails */\n", 0),
        ("/** It. */\nCIP_API int cip_a(void);\n\nCIP_API int cip_b(void);\n", 1),
        ("/* no doc comment */\nCIP_API int cip_a(void);\n", 1),
        ("/** A struct. */\ntypedef struct a {\n} a;\nCIP_API int cip_a(void);\n", 1),
    ],
)
def test_declarations_without_a_doc_comment_are_found(text, bad):
    assert len(list(load("scripts/apidoc.py").undocumented(text.splitlines()))) == bad


def test_cases_are_counted_from_the_words_of_cmocka():
    output = """[==========] Running 4 test(s).
[ RUN      ] good
[       OK ] good
[ RUN      ] bad
[  ERROR   ] --- 1 != 2
[  FAILED  ] bad
[ RUN      ] absent
no corpus
[  SKIPPED ] absent
[ RUN      ] crashed
"""
    found = list(load("scripts/test.py").cases(output))
    assert [case[:2] for case in found] == [("OK", "good"), ("FAILED", "bad"), ("SKIPPED", "absent"), ("FAILED", "crashed")]
    assert found[2][2] == "no corpus"


def test_failures_that_a_runner_lists_again_count_once():
    output = "[ RUN      ] bad\n[  FAILED  ] bad\n[  FAILED  ] tests: 1 test(s)\n[  FAILED  ] bad\n"
    assert [case[:2] for case in load("scripts/test.py").cases(output)] == [("FAILED", "bad")]


@pytest.mark.parametrize(
    "output, state, expected",
    [
        ("", "OK", "1 passed, 0 failed"),
        ("", "SKIPPED", "0 passed, 0 failed, 1 skipped"),
        ("[ RUN      ] a\n[       OK ] a\n", "FAILED", "1 passed, 1 failed"),
        ("[ RUN      ] a\n[  FAILED  ] a\n", "FAILED", "0 passed, 1 failed"),
    ],
)
def test_a_program_counts_by_its_cases_and_its_end(output, state, expected):
    assert str(load("scripts/test.py").tally_program("x", output, state)) == expected


@pytest.fixture
def script(tmp_path):
    def make(text, **beside):
        file = tmp_path / "case.sh"
        file.write_text(text)
        for suffix, content in beside.items():
            file.with_suffix("." + suffix).write_text(content)
        return file

    return make


@pytest.mark.parametrize(
    "text, beside, state",
    [
        ("echo hi", {"out": "hi\n"}, "OK"),
        ("echo hi", {"out": "ho\n"}, "FAILED"),
        ("echo hi >&2; exit 3", {"err": "hi\n", "exit": "3"}, "OK"),
        ("exit 3", {}, "FAILED"),
        ("exit 77", {}, "SKIPPED"),
        ("cippus", {}, "FAILED"),
        ("test -z \"$(ls)\" && test -d \"$SAMPLES\"", {}, "OK"),
    ],
)
def test_a_command_test_compares_streams_and_status(script, text, beside, state):
    runner = load("tests/support/cli_runner.py")
    assert runner.run(script(text, **beside), pathlib.Path("/bin/false"), False)[0] == state


@pytest.mark.skipif(not shutil.which("dpkg-query"), reason="not a Debian")
def test_setup_is_quick_and_silent_when_nothing_is_missing():
    done = subprocess.run([ROOT / "scripts/setup"], capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    "files, folders, verbs",
    [
        ([], [], []),
        (["README.md", "docs/guide/safety.md", "bench/run.py"], [], []),
        (["src/base/err.c"], ["src/base"], []),
        (["src/codec/filter/shuffle.c", "src/format/asdf/asdf.c"], ["src/codec", "src/format/asdf"], []),
        (["tests/property/naive.c"], ["tests/property"], []),
        (["include/cippus/file.h"], ["src"], [""]),
        (["CMakeLists.txt"], ["src"], [""]),
        (["tools/cmd_set.c"], [], ["/set/"]),
        (["tools/cmd_set.c", "tools/opts.c"], [], [""]),
        (["tests/cli/cat/raw.out"], [], ["tests/cli/cat/raw.sh"]),
    ],
)
def test_quick_knows_what_a_change_may_break(files, folders, verbs):
    assert load("scripts/test.py").affected(files) == (folders, verbs)


def test_quick_runs_the_users_of_a_changed_header():
    folders, verbs = load("scripts/test.py").affected(["src/space/make/encode.h"])
    assert {"src/space", "src/format/asdf"} <= set(folders) and "src/tree" not in folders and not verbs


def test_libraries_that_are_missing_are_named_at_once(tmp_path):
    """With Debian's packages, which are those of the project's own list."""
    env = {**os.environ, "PKG_CONFIG_LIBDIR": str(tmp_path)}
    done = subprocess.run(["cmake", "-S", ROOT, "-B", tmp_path / "build"], env=env, capture_output=True, text=True)
    (line,) = [line.strip() for line in done.stderr.splitlines() if "apt-get install" in line]
    named = set(line.split()[2:])
    assert done.returncode != 0 and {"libyaml-dev", "zlib1g-dev", "libssl-dev", "liblz4-dev"} <= named
    listed = (ROOT / "scripts/debian-packages.txt").read_text().split()
    assert named <= set(listed)


def test_pip_is_asked_what_that_of_debian_12_knows():
    """pip 23.0.1 knows --config-settings, not yet -C."""
    files = [ROOT / "Makefile", *(ROOT / "scripts").iterdir(), *ROOT.glob("*.md"), *ROOT.glob("docs/guide/*.md"),
             *ROOT.glob("bindings/python/**/*.md"), *ROOT.glob("bindings/python/**/*.py")]
    lines = [line for file in files if file.is_file() for line in file.read_text().splitlines() if re.search(r"\bpip\b.* -C\b", line)]
    assert lines == []


def test_a_skip_is_named_with_its_reason():
    tally = load("scripts/test.py").tally_program("prog", "[ RUN      ] a\nno corpus\n[  SKIPPED ] a\n", "OK")
    tally.include(load("scripts/test.py").tally_program("hostile", "no corpus at /x\n", "SKIPPED"))
    tally.include(load("scripts/test.py").tally_program("mute", "", "SKIPPED"))
    assert tally.skipped == ["prog: a: no corpus", "hostile: no corpus at /x", "mute: no reason given"]


def test_every_skip_has_a_reason():
    """In C by SKIP_UNLESS; in scripts by words before the exit status."""
    files = [*ROOT.glob("src/**/*.[ch]"), *ROOT.glob("tests/**/*.[ch]")]
    bare = [str(f) for f in files if f.name != "needs.h" and re.search(r"\bskip\(\)", f.read_text())]
    bare += [str(f) for f in ROOT.glob("tests/cli/*/*.sh") if re.search(r"\|\| exit 77", f.read_text())]
    assert bare == []


LONG = "One " + "word " * 30 + "more."


@pytest.mark.parametrize(
    "name, text, line, words",
    [
        ("README.md", f"# Head\n\n{LONG}\n", 3, "32 words"),
        ("README.md", "Three words\nstand behind it.\n", 1, "'behind'"),
        ("README.md", "- Good.\n- Of these one is read.\n", 2, "'Of'"),
        ("README.md", "| a | it is told |\n", 1, "'is told'"),
        ("README.md", "# A b!\n[Here](#a-b) and [there](docs/no.md)\n", 2, "docs/no.md"),
        ("README.md", "# A\n[Here](README.md#b)\n", 2, "README.md#b"),
        ("CHANGELOG.md", f"# C\n\n## New\n- {LONG}\n\n## Old\n- {LONG}\n", 4, "32 words"),
        ("docs/guide/a.md", "```sh\nas ever\n```\nAs usual, or amid it.\n", 4, "'amid'"),
        ("docs/man/a.1", ".Sh NAME\nGood words.\n.Pp\nWritten\n.Ar anew .\n", 4, "'anew'"),
        ("docs/man/a.1", f".Sh NAME\nGood words:\n.Dl $ a {LONG}\n{LONG}\n", 4, "32 words"),
        ("include/a.h", "/* SPDX-License-Identifier: X\n * It works. */\n\n/** Gives\n * it anew. */\n", 4, "'anew'"),
        ("bindings/python/cippus/a.py", f'"""Good."""\ndef f():\n    """{LONG}"""\n', 3, "32 words"),
    ],
)
def test_words_are_found_where_users_read(tree, name, text, line, words):
    tree(name, text)
    script = load("scripts/words.py")
    ((file, fault),) = script.problems(tree.root, [f for f in script.files(tree.root) if f == name])
    assert file == name and fault.startswith(f"{line}: ") and words in fault


@pytest.mark.parametrize(
    "text",
    [
        "What is it? A file, e.g. one of ASDF. " + "Short words end here. " * 20,
        "`behind` is code; [words](https://behind.md) are read, and it is named after a file.",
        "```text\n" + LONG + "\n```",
    ],
)
def test_words_accept_plain_texts(tree, text):
    tree("README.md", text + "\n")
    assert list(load("scripts/words.py").problems(tree.root, ["README.md"])) == []


def test_words_find_messages_that_are_printed_nowhere(tree):
    tree("src/a.c", 'cip_fail(err, 1, "expected a trailer of "\n    "version 0, found %u", n);\n')
    tree("README.md", "It says `bad: expected a trailer of version 0, found 3`.\nOr `expected an old trailer, found 3`, with `expected=3`.\n")
    faults = [fault for _, fault in load("scripts/words.py").problems(tree.root, ["README.md"])]
    assert faults == ["2: a message that is printed nowhere: expected an old trailer"]


def test_words_read_the_docstrings_that_help_shows(tree):
    text = f'''"""{LONG}"""\nclass A:\n    """Good."""\n    def f(self):\n        """{LONG}"""\n    def _g(self):\n        """{LONG}"""\ndef h():\n    """{LONG}"""\n'''
    tree("bindings/python/cippus/__init__.py", "from ._a import A\n")
    tree("bindings/python/cippus/_a.py", text)
    tree("bindings/python/cippus/b.py", text)
    script = load("scripts/words.py")
    found = [(name[-5:], fault.split(":")[0]) for name, fault in script.problems(tree.root, script.files(tree.root)) if name.endswith(".py")]
    assert found == [("_a.py", "5")] + [("us/b.py"[-5:], line) for line in ("1", "5", "9")]


def test_words_leave_out_decisions(tree):
    tree("docs/decisions/a.md", LONG)
    tree("docs/guide/a.md", LONG)
    assert load("scripts/words.py").files(tree.root) == ["docs/guide/a.md", "include/cippus/error.h"]


def test_words_read_the_help_of_each_verb(tmp_path):
    command = tmp_path / "cippus"
    verbs = "".join(f"  v{c}  Do it.\n" for c in "abcdefghij")
    command.write_text(f"""#!/bin/sh
[ "$1" = --help ] && printf '{verbs}' && exit
echo "usage: cippus $1"
[ "$1" != vc ] || printf '  --deep  Read it anew.\n%90s\n' x
""")
    command.chmod(0o755)
    faults = [fault for _, fault in load("scripts/words.py").problems(tmp_path, [], command)]
    assert [fault.split(": ")[0] for fault in faults] == ["vc --help:2", "vc --help:3"]


@pytest.mark.parametrize("text, words, status", [("It is as ever.\n", "a.md:1: 'as ever'", 1), ("As usual.\n", "", 0)])
def test_a_fault_of_words_fails_the_check(tree, monkeypatch, capsys, text, words, status):
    monkeypatch.setattr("sys.argv", ["words.py", str(tree("a.md", text))])
    assert load("scripts/words.py").main() == status
    assert words in capsys.readouterr().out


@pytest.fixture
def repository(tree, monkeypatch):
    """A repository of a small tree that can be released, whose wheel is a stub."""
    for name in ("scripts/release.sh", "scripts/check.sh"):
        tree(name, (ROOT / name).read_text()).chmod(0o755)
    parts = "".join(f"#define CIP_VERSION_{part} {n}\n" for part, n in (("MAJOR", 1), ("MINOR", 2), ("PATCH", 3)))
    tree("include/cippus/version.h", parts + '#define CIP_VERSION_STRING "1.2.3"\n')
    tree("CHANGELOG.md", "# Changes\n\n## 1.2.3 (2026-11-26)\n\n## 1.2.2 (2026-11-25)\n")
    tree("scripts/wheel.sh", "#!/bin/sh\n[ $1 = --newer ] && shift; rm -rf $1; mkdir -p $1; echo wheel >$1/a.whl\n").chmod(0o755)
    for name in ("CMakeLists.txt", "README.md", ".gitignore"):
        tree(name, "/build/\n")
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "a")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "a@b")

    def git(*words):
        subprocess.run(["git", "-C", tree.root, *words], check=True, capture_output=True)

    git("init", "-q")
    tree.commit = lambda: (git("add", "-A"), git("commit", "-q", "-m", "x"))
    tree.commit()
    return tree


def released(tree):
    done = subprocess.run([tree.root / "scripts/release.sh"], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_a_release_is_its_archive_its_wheel_and_their_sums(repository):
    folder = repository.root / "build/release-files"
    assert released(repository)[0] == 0
    first = (folder / "SHA256SUMS").read_text()
    assert [line.split()[1] for line in first.splitlines()] == ["cippus-1.2.3-source.tar.gz", "a.whl"]
    assert subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=folder).returncode == 0
    assert released(repository)[0] == 0 and (folder / "SHA256SUMS").read_text() == first


@pytest.mark.parametrize(
    "name, text, commit, words",
    [
        ("README.md", "changed", False, "differs from the commit"),
        ("CHANGELOG.md", "# Changes\n\n## Unreleased\n\n## 1.2.2 (2026-11-25)\n", True, "no '## 1.2.3"),
        ("CHANGELOG.md", "# Changes\n\n## 1.2.4 (2026-11-27)\n\n## 1.2.3 (2026-11-26)\n", True, "its newest release is not 1.2.3"),
        ("src/a.c", '#define CIP_VERSION "2"\n', True, "alone"),
    ],
)
def test_a_release_is_refused(repository, name, text, commit, words):
    repository(name, text)
    if commit:
        repository.commit()
    status, output = released(repository)
    assert status != 0 and words in output and not (repository.root / "build/release-files").exists()


def test_counts_over_the_baseline_are_named():
    over = load("bench/counts.py").over
    assert over({"a": 1020, "b": 1021, "c": 900, "new": 5}, {"a": 1000, "b": 1000, "c": 1000}) == ["b", "new"]


def test_counts_of_another_compiler_are_not_compared():
    others = load("bench/counts.py").others
    assert others({"compiler": "cc 13"}, {"compiler": "cc 13"}) == []
    assert others({"compiler": "cc 13", "valgrind": "3"}, {"compiler": "cc 12", "valgrind": "3"}) == ["compiler: cc 12, here: cc 13"]


@pytest.mark.parametrize(
    ("n", "seconds", "mib", "marks"),
    [
        ((1000, 10_000), (0.1, 1.0), (10, 100), (False, False)),
        ((1000, 10_000), (0.1, 1.4), (10, 150), (True, True)),
        ((1000, 100_000), (0.1, 16.0), (10, 10), (False, False)),  # 1.6 over two tenfold steps
        ((1000, 10_000), (0.001, 0.02), (10, 10), (False, False)),  # too little to be told from noise
    ],
)
def test_growth_worse_than_linear_is_marked(n, seconds, mib, marks):
    judge = load("bench/growth.py").judge
    before, now = ((k, (s * 1e6, 0, m * 1024)) for k, s, m in zip(n, seconds, mib))
    assert tuple(judge(before, now)[1::2]) == marks


def test_the_charts_show_the_figures(tmp_path):
    chart = [ROOT / "bench/chart.py", "--check"]
    assert subprocess.run(chart).returncode == 0
    figures = (ROOT / "bench/figures.json").read_text()
    (tmp_path / "figures.json").write_text(figures.replace('"asdf": ', '"asdf": 1'))
    shutil.copytree(ROOT / "docs/images", tmp_path / "images")
    done = subprocess.run([*chart, tmp_path / "figures.json", tmp_path / "images"], capture_output=True, text=True)
    assert done.returncode == 1 and "speed-read.svg does not show the figures" in done.stdout


def test_the_manual_page_becomes_markdown():
    mdoc = load("docs/mdoc.py")
    assert "## Exit status\n" in mdoc.markdown((ROOT / "docs/man/cippus.1").read_text())
    text = """.Sh NAME
.Nm cippus
.Nd reads files
.Sh SYNOPSIS
.Nm
.Op Ar options
.Nm
.Fl -help
.Sh DESCRIPTION
Reads
.Ar file ,
.Fl -a , b
and
.Pq Li x , y .
.Bl -tag
.It Fl -to Oo Ar kind Oc Ns =
It is
.Qq good .
.El
.Dl $ cippus
"""
    assert mdoc.markdown(text).split("\n") == [
        "## Name", "", "`cippus`: reads files", "", "## Synopsis", "", "`cippus` [*options*]", "", "`cippus` `--help`", "", "## Description", "", "Reads *file*, `--a`, `-b` and (`x`, `y`).", "",
        "- `--to [kind]=`", "", '  It is "good".', "", "", "```console", "$ cippus", "```", "", ""]
    with pytest.raises(ValueError, match=r"\.Xx is not known"):
        mdoc.markdown(".Xx\n")
