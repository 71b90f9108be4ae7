# SPDX-License-Identifier: BSD-3-Clause
"""Types by mode, explicit keywords, and what was meant by a wrong name."""
import inspect
import re
import subprocess
import sys

import numpy as np
import pytest

import cippus
from test_binding_life import HERE


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """Runs it with a cache of its own."""
    cache = tmp_path_factory.mktemp("mypy")

    def run(*words):
        command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", f"--cache-dir={cache}", *words]
        return subprocess.run(command, capture_output=True, text=True, cwd=HERE)

    return run


@pytest.mark.parametrize("name, count, needs", [("typed_mistakes.py", 20, ()), ("typed_parts.py", 3, ("dask", "xarray"))])
def test_mypy_finds_each_mistake_and_nothing_else(mypy, name, count, needs):
    for module in "mypy", *needs:
        pytest.importorskip(module)
    lines = (HERE / name).read_text().splitlines()
    wrong = {i for i, line in enumerate(lines, 1) if line.endswith("# wrong")}
    done = mypy(name)
    found = {int(at) for at in re.findall(rf"^{name}:(\d+): error", done.stdout, re.MULTILINE)}
    assert len(wrong) == count and found == wrong, done.stdout + done.stderr


def test_the_package_itself_passes_mypy(mypy):
    for module in "mypy", "dask", "xarray", "zarr", "asdf":
        pytest.importorskip(module)
    done = mypy("-p", "cippus")
    assert done.returncode == 0, done.stdout + done.stderr


CALLS = [
    cippus.open, cippus.create, cippus.convert, cippus.verify, cippus.repair, cippus.diff, cippus.refs, cippus.EditableFile.put,
    cippus.EditableFile.move, cippus.Writer.put, cippus.Writer.declare, cippus.Array.read, cippus.Array.read_chunk,
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__qualname__)
def test_each_keyword_has_a_name_and_a_wrong_one_is_answered(call):
    kinds = {p.kind for p in inspect.signature(call).parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds
    name = [n for n, p in inspect.signature(call).parameters.items() if p.kind is inspect.Parameter.KEYWORD_ONLY][0]
    with pytest.raises(TypeError) as raised:
        call(**{name + "s": 1})
    assert str(raised.value) == f"{call.__name__}() got an unexpected keyword argument {name + 's'!r}; did you mean {name!r}?"


def test_keywords_of_another_mode_are_refused(tmp_path):
    path = tmp_path / "a.asdf"
    for mode, more in ("w", {"check": False}), ("x", {"offset": 3}), ("w", {"storage_options": {}}):
        with pytest.raises(TypeError, match=rf"unexpected keyword argument '{[*more][0]}' in mode '{mode}'"):
            cippus.open(path, mode, **more)
        assert not path.exists()
    with cippus.open(path, "w", codec="zlib", threads=1) as w:
        w["a"] = np.zeros(1000)
    for mode in "r", "r+":
        with pytest.raises(TypeError, match=rf"unexpected keyword argument 'codec' in mode '{re.escape(mode)}'"):
            cippus.open(path, mode, codec="zlib")
    with cippus.open(path, "r+", check=True, threads=1) as f:
        assert f["a"].codec == "zlib"


def test_files_have_the_type_of_their_mode(sample, tmp_path):
    f = sample("night.asdf")
    assert type(f) is cippus.File and not f.writable and not {"put", "commit", "rollback", "move", "getvalue"} & set(dir(f))
    with pytest.raises(ValueError, match="read-only"):
        f["x"] = 1
    with pytest.raises(ValueError, match=r"open it as 'r\+'"):
        f.commit()
    with pytest.raises(ValueError, match="read-only"):
        f["image"][0] = 1
    with cippus.create(tmp_path / "a.asdf") as w:
        w["x"] = 1
    with cippus.open(tmp_path / "a.asdf", "r+") as g:
        assert type(g) is cippus.EditableFile and isinstance(g, cippus.File) and g.writable and {"put", "commit"} <= set(dir(g))
    f.close()
    with pytest.raises(ValueError, match="closed"):
        f.put("x", 1)


def test_wrong_keys_are_answered_with_the_one_that_was_meant(sample, made):
    f = sample("night.asdf")
    cases = {
        "imgae": "image", "Image": "image", "exposur/time": "exposure/time", "exposure/tme": "exposure/time", "stars/flx": "stars/flux",
    }  # fmt: skip
    for wrong, right in cases.items():
        with pytest.raises(KeyError) as raised:
            f[wrong]
        assert isinstance(raised.value, cippus.NotFoundError) and raised.value.args == (wrong,)
        if wrong != "exposur/time":
            assert str(raised.value) == f"{f.path}: there is nothing at {wrong!r}; did you mean {right!r}?"
    for holder, wrong, right in [
        (f.arrays, "coutns", "counts"), (f["exposure"], "strat", "start"), (f["stars"], "flx", "flux"), (f.tree, "exposure/strat", "exposure/start"),
    ]:  # fmt: skip
        with pytest.raises(KeyError, match=f"did you mean '{right}'") as raised:
            holder[wrong]
        assert raised.value.args == (wrong,)
    assert f.get("imgae", 3) == 3 and "imgae" not in f and f["exposure"].get("strat") is None
    with pytest.raises(KeyError) as raised:
        f["nothing like it"]
    assert "did you mean" not in str(raised.value)
    f.close()
    assert str(raised.value) == f"{f.path}: there is nothing at 'nothing like it'"
    with cippus.open(made({"x": np.arange(3)}), "r+") as g:
        g["galaxy"] = np.arange(4)
        with pytest.raises(KeyError, match="did you mean 'galaxy'"):
            g["galxy"]
        with pytest.raises(KeyError, match="did you mean 'galaxy'"):
            g.arrays["galxy"]


def test_a_wrong_key_costs_no_look_at_the_others_until_it_is_shown(made, monkeypatch):
    f = cippus.open(made({f"k{i}": i for i in range(10)}))
    monkeypatch.setattr(cippus.File, "_paths", lambda *_: pytest.fail("looked"))
    with pytest.raises(KeyError):
        f["k"]


def test_parts_of_the_package_come_when_they_are_asked_for():
    code = "import sys, cippus; print('cippus.ra' in sys.modules, 'ra' in dir(cippus), cippus.ra.read.__name__, 'cippus.ra' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == ["False", "True", "read", "True"]
    for word, right in ("load", "open"), ("read", "open"), ("save", "create"), ("Write", "create"):
        with pytest.raises(AttributeError, match=f"'{word}'; did you mean '{right}'"):
            getattr(cippus, word)
    with pytest.raises(TypeError, match="'compression'; did you mean 'codec'"):
        cippus.create("never.npy", compression="zlib")
    with pytest.raises(AttributeError, match="has no attribute 'verfy'; did you mean 'verify'"):
        cippus.verfy
    assert set(cippus.__all__) < set(dir(cippus)) and not [n for n in dir(cippus) if n.startswith("_") and n != "__version__"]
    assert not hasattr(cippus, "__path_of_nothing__")


def test_keys_are_completed(sample):
    f = sample("night.asdf")
    assert {"image", "exposure", "stars"} <= set(f._ipython_key_completions_())
    assert set(f["exposure"]._ipython_key_completions_()) == set(f["exposure"])
    assert f["stars"]._ipython_key_completions_() == list(f["stars"].fields) and f["image"]._ipython_key_completions_() == []
    assert f.arrays._ipython_key_completions_() == list(f.arrays)
    assert sample("cube.b2nd").array.attrs._ipython_key_completions_() == list(sample("cube.b2nd").array.attrs)
    assert sample("cube.b2nd")._ipython_key_completions_()[-1] == ""


WORDS = {
    "'x.csv' does not tell the format; set it (.format)": "'x.csv' does not tell the format; set it (format=...)",
    "NumPy .npy holds one array, the input has 6; name one (.path)": "NumPy .npy holds one array, the input has 6; name one (path=...)",
    "it is lost; accept it with .accept_loss": "it is lost; accept it with accept_loss=True",
    "expected an undamaged array; .fill sets a value for lost elements": "expected an undamaged array; fill=... sets a value for lost elements",
    "'a .format' is not whole; cip_convert with .path copies arrays": "'a .format' is not whole; cippus.convert() with path=... copies arrays",
    "an update of 'it; .max_elements' was interrupted; see cip_recover": "an update of 'it; .max_elements' was interrupted; see the command 'cippus recover'",
    "8 elements from a file of 3 bytes are more than the default limit; set .max_elements to allow them": "8 elements from a file of 3 bytes are more than the default limit",
    "element 3 is missing (masked); cip_read_args.mask takes which are": "element 3 is missing (masked)",
    "several names; .break_links replaces the file under this name": "several names",
}  # fmt: skip


@pytest.mark.parametrize("text", WORDS)
def test_messages_of_the_library_have_no_c_names(text):
    assert cippus._errors.in_python(text) == WORDS[text] == cippus._errors.in_python(WORDS[text])


def test_findings_and_errors_have_no_c_names(sample, tmp_path):
    with pytest.raises(cippus.UnsupportedError) as raised:
        cippus.convert(sample("night.asdf").path, tmp_path / "a.npy")
    assert "path=..." in str(raised.value) and "(.path)" not in str(raised.value)
    with pytest.raises(cippus.ArgumentError, match=r"\(format=...\)"):
        cippus.convert(sample("night.asdf").path, tmp_path / "a")
    assert cippus.Finding.of(2, 6, None, 0, "x", "see cip_verify", False).text == "see cippus.verify()"


def test_a_change_of_a_node_names_the_way_to_make_it(sample):
    f = sample("night.asdf")
    for node, key in (f["instrument"], "filter"), (f["exposure/frames"], 0):
        with pytest.raises(TypeError, match=r"use its path: f\['a/b'\] = value"):
            node[key] = "x"
        with pytest.raises(TypeError, match="cannot be changed"):
            del node[key]
