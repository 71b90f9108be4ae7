# SPDX-License-Identifier: BSD-3-Clause
"""The page of `cippus serve` in Chromium: lists, search, slices, zoom, chunks, errors, and names that are markup."""
import base64
import json
import os
import pathlib
import re
import shutil
import urllib.parse

import numpy as np
import pytest
from browser import browser
from conftest import ROOT
from served import SAMPLES, served, server  # noqa: F401

PICTURES = os.environ.get("CIP_PICTURES")  # a folder for the pictures of docs/images


@pytest.fixture(scope="module")
def page():
    with browser() as b:
        yield b


def view(page, server, **state):
    page.open("about:blank")
    page.open(f"{server.url}#{urllib.parse.urlencode(state)}")


def pixels(page):
    """Rows and columns of the image, and how many colours it has."""
    rows, columns = map(int, re.search(r"of (\d+) rows and (\d+) columns", page.run("return document.querySelector('#image').ariaLabel")).groups())
    return [rows, columns, len(set(colours(page)))]


def colours(page):
    """Of the image's pixels, row by row."""
    data = page.run("const c = document.querySelector('#image'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
                    "let s = ''; for (let i = 0; i < d.length; i += 4) s += String.fromCharCode(d[i], d[i + 1], d[i + 2]); return btoa(s)")
    data = base64.b64decode(data)
    return [tuple(data[i : i + 3]) for i in range(0, len(data), 3)]


def rows(page):
    return page.run("return [...document.querySelectorAll('#table tbody tr')].map(r => [...r.querySelectorAll('td')].map(c => c.textContent))")


def test_from_the_list_to_a_plane(page, server, cippus):
    view(page, server)
    page.click("#side button", "samples/")
    page.click("#side button", "cube.b2nd")
    page.click("#arrays button")
    page.until("document.querySelector('#image')")
    assert pixels(page)[:2] == [24, 30]
    page.keys("\ue014\ue014")  # right, right
    page.until("document.querySelector('#main input[data-axis]')?.value === '2' && location.hash.includes('at=2')")
    page.run("document.querySelector('#slide0').focus()")
    page.keys("\ue014")
    page.until("location.hash.includes('at=3') && document.activeElement.id === 'slide0' && document.activeElement.value === '3'")
    page.keys("\ue012")
    page.until("location.hash.includes('at=2') && document.activeElement.id === 'slide0' && document.activeElement.value === '2'")
    page.run("document.activeElement.blur()")
    page.keys("t")
    page.until("document.querySelector('#table')")
    cube = cippus.array(SAMPLES / "cube.b2nd")
    assert rows(page)[:3] == [[str(v) for v in r[:16]] for r in cube[2][:3]]
    page.click("#view button", "→")
    page.until("document.querySelector('#table thead')?.textContent.startsWith('16')")
    assert rows(page)[1] == [str(v) for v in cube[2][1][16:]]
    assert page.errors() == []


def test_zoom_and_links(page, server):
    view(page, server, file="samples/night.asdf", path="image", scale="asinh", map="magma")
    page.until("document.querySelector('#image')")
    rows, columns, ncolour = pixels(page)
    assert (rows, columns) == (128, 160) and ncolour > 50
    page.drag("#image", (0.25, 0.25), (0.5, 0.75))
    page.until("/rows=\\d+%3A\\d+/.test(location.hash) && document.querySelector('#image') && !document.querySelector('#image').ariaLabel.includes('160 columns')")
    rows, columns, _ = pixels(page)
    assert 38 <= columns <= 44 and 62 <= rows <= 68
    link = page.run("return location.href")
    page.keys("0")
    page.until("document.querySelector('#image')?.ariaLabel.includes('160 columns')")
    page.open("about:blank")
    page.open(link)
    page.until("document.querySelector('#image')")
    assert pixels(page)[:2] == [rows, columns] and page.run("return document.querySelector('#scale').value") == "asinh"
    page.keys("+")
    page.until("parseInt(document.querySelector('#image')?.ariaLabel.split('and ')[1]) <= arguments[0]", columns // 2 + 2)
    if PICTURES:
        page.keys("0")
        page.until("document.querySelector('#image')?.ariaLabel.includes('160 columns')")
        page.picture(pathlib.Path(PICTURES) / "serve-image.png")


def test_lines_masks_and_fields(page, server):
    view(page, server, file="samples/night.asdf", path="spectrum")
    page.until("document.querySelector('#plot canvas')")
    view(page, server, file="samples/night.asdf", path="masked", view="table")
    page.until("document.querySelector('#table')")
    assert any("missing" in r for r in rows(page))
    view(page, server, file="samples/sky.fits", path="STARS/data")
    page.until("document.querySelector('#table')")
    assert page.run("return [...document.querySelectorAll('#table thead th')].map(h => h.textContent)") == ["", "id", "ra", "dec", "mag"]
    page.run("const s = document.querySelector('#field'); s.value = 'ra'; s.onchange()")
    page.until("document.querySelector('#plot canvas')")
    assert page.errors() == []


def test_one_element_is_seen_at_every_zoom(page, cippus, tmp_path):
    """Of 10^8, in a file of which nothing else is written."""
    a = np.lib.format.open_memmap(tmp_path / "spike.npy", "w+", "u1", (10000, 10000))
    a[1234, 5677] = 200
    a.flush()
    with served(cippus, tmp_path) as s:
        file = f"{tmp_path.name}/spike.npy"
        for n in (10000, 2000, 30):
            top, left = max(0, 1234 - n // 2), max(0, 5677 - n // 2 - (5000 if n == 10000 else 0))
            view(page, s, file=file, path="", map="gray", rows=f"{top}:{top + n}", columns=f"{left}:{left + n}")
            page.until("document.querySelector('#image') && document.querySelector('#status').textContent === ''")
            found = colours(page)
            assert found.count((255, 255, 255)) == found.count(max(found)) == len(found) - found.count((0, 0, 0)) > 0
            assert "values 0 to 200" in page.text("#told") and ("the most unusual of" in page.text("#told")) == (n > 1000)
        # where the pointer rests, the elements are told
        x, y, w, h = page.run("const r = document.querySelector('#image').getBoundingClientRect(); return [r.x, r.y, r.width, r.height]")
        page.move(x + (5677 + 0.5 - left) / n * w, y + (1234 + 0.5 - top) / n * h)
        page.until("document.querySelector('#status').textContent === '[1234, 5677]: 200'")
        view(page, s, file=file, path="", view="line", at="1234,0")
        page.until("document.querySelector('#plot canvas') && document.querySelector('#plot').ariaLabel.includes('values 0 to 200')")
        assert "elements" in page.text("#told") and "smallest" in page.text("#plot") and "largest" in page.text("#plot")
        page.drag("#plot .u-over", (0.5, 0.5), (0.6, 0.5))
        page.until("/columns=\\d+%3A\\d+/.test(location.hash) && !document.querySelector('#told').textContent.includes('each point spans 1')")
    assert page.errors() == []


def test_search_chunks_attributes_findings(page, server):
    view(page, server, file="samples/roman.asdf")
    page.until("document.querySelector('#arrays li')")
    page.keys("/")
    page.keys("wfi0")
    page.until("document.querySelector('#found')?.innerText.includes('WFI01')")
    assert page.text("#found").startswith("Found: 1")
    view(page, server, file="samples/tide.blp", path="", tab="chunks")
    page.until("document.querySelector('#map')")
    assert "4 chunks" in page.text("#pane") and "blosclz" in page.text("#pane") or "lz4" in page.text("#pane")
    view(page, server, file="samples/weather.h5", path="temperature", tab="attributes")
    page.until("document.querySelector('#pane dl')?.innerText.includes('scale_factor')")
    view(page, server, file="samples/night.asdf")
    page.click("#verify")
    page.until("document.querySelector('#findings')?.innerText === 'No findings.'")


def test_no_digit_is_lost(page, cippus, tmp_path):
    values = np.array([2**62 + 1, -(2**63), 7], "<i8")
    np.save(tmp_path / "long.npy", values)
    np.save(tmp_path / "records.npy", np.array([(2**63 + 3, "12345678901234567", 0.1)], [("n", "<u8"), ("t", "U20"), ("x", "<f8")]))
    with served(cippus, tmp_path) as s:
        view(page, s, file=f"{tmp_path.name}/long.npy", path="", view="table")
        page.until("document.querySelector('#table')")
        assert rows(page) == [[str(v)] for v in values]
        view(page, s, file=f"{tmp_path.name}/records.npy", path="")
        page.until("document.querySelector('#table')")
        assert rows(page) == [[str(2**63 + 3), "12345678901234567", "0.1"]]


def test_errors_are_words(page, server):
    for state, text in [({"file": "samples/nothing"}, "no such file"), ({"file": "samples/README.md"}, "known format"), ({"folder": "x/y"}, "no such"),
                        ({"file": "samples/night.asdf", "path": "nothing"}, "no node 'nothing'")]:
        view(page, server, **state)
        page.until("document.querySelector('#status').className === 'bad' && document.querySelector('#status').textContent.includes(arguments[0])", text)
    view(page, server, file="samples/early.asdf", path="own")
    page.until("document.querySelector('#pane .bad')?.innerText.includes('known encoding')")
    page.errors()  # each answer that is an error is in the browser's log


@pytest.mark.parametrize("name", sorted(n for n in os.listdir(SAMPLES) if not n.endswith((".md", ".py", ".sh"))))
def test_a_file_of_each_format(page, server, name):
    arrays = server.api("arrays", file=f"samples/{name}")["arrays"]
    fine = next(a for a in arrays if a["state"] == "ok")
    view(page, server, file=f"samples/{name}", path=fine["path"])
    page.until("document.querySelector('#image, #plot canvas, #table') && document.querySelector('#status').textContent === ''")
    assert page.errors() == []


def turn(page, **state):
    """To another view without loading the page again."""
    page.run("history.replaceState(null, '', '#' + arguments[0]); show()", urllib.parse.urlencode(state))
    page.until("document.querySelector('#status').textContent !== '…'")


def is_harmless(page):
    return page.run("return typeof hacked === 'undefined' && document.querySelectorAll('img, script:not([src])').length === 0")


MARKUP = "<img src=x onerror=hacked=1>"


def write_markup(cippus, folder):
    """In each place of each format that holds a name or a text."""
    import asdf
    import blosc2
    import h5py
    from astropy.io import fits

    np.save(folder / "x.npy", np.arange(6.0).reshape(2, 3))
    np.save(folder / f"{MARKUP}.npy", np.array([(1, MARKUP)], [(MARKUP, "<i4"), ("text", "U40")]))
    np.savez(folder / "n.npz", **{MARKUP: np.arange(4.0), "texts": np.array([MARKUP])})
    (folder / MARKUP).mkdir()
    (folder / MARKUP / "x.npy").write_bytes((folder / "x.npy").read_bytes())
    with h5py.File(folder / "n.h5", "w") as f:
        d = f.create_group(MARKUP).create_dataset(MARKUP, data=np.arange(3.0))
        d.attrs[MARKUP] = MARKUP
        f.attrs["texts"] = [MARKUP, MARKUP]
        scale = f.create_dataset("dims", data=np.arange(3.0))
        scale.make_scale(MARKUP)
        d.dims[0].attach_scale(scale)
        d.dims[0].label = MARKUP
        f.create_dataset("enum", data=[0, 1], dtype=h5py.enum_dtype({MARKUP: 0, "b": 1}))
    table = fits.BinTableHDU.from_columns([fits.Column(name=MARKUP, format="D", array=[1.0, 2.0], unit=MARKUP)], name=MARKUP)
    table.header["NOTE"] = (MARKUP, MARKUP[:20])
    table.header.add_history(MARKUP)
    fits.HDUList([fits.PrimaryHDU(), table]).writeto(folder / "n.fits", output_verify="ignore")
    tree = {MARKUP: MARKUP, "list": [MARKUP, {MARKUP: np.arange(6.0)}], "data": np.ma.masked_array([1.0, 2.0], [0, 1])}
    asdf.AsdfFile(tree).write_to(folder / "n.asdf")
    text = b"#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.org:2016:asdf/\n--- !core/asdf-1.1.0\nasdf_library: !core/software-1.0.0 {name: '@', version: '@'}\n"
    (folder / "tag.asdf").write_bytes(text.replace(b"@", MARKUP.encode()) + f"a: !<tag:x,2020:{urllib.parse.quote(MARKUP)}> ['{MARKUP}']\n...\n".encode())
    (folder / "order.asdf").write_bytes(text + f"a: !core/ndarray-1.1.0 {{data: [1], datatype: '{MARKUP}', byteorder: '{MARKUP}', shape: [1]}}\n...\n".encode())
    frame = blosc2.asarray(np.arange(6.0), urlpath=str(folder / "n.b2nd"), meta={"m": MARKUP.encode()})
    frame.schunk.vlmeta[MARKUP] = MARKUP
    plain, records = folder / "x.npy", folder / f"{MARKUP}.npy"
    for name, words in (("n.zarr", [plain, plain, "--name", MARKUP, "--name", "b"]), ("n.bcolz", [records]), ("n.blz", [records]), ("n.blp", [records]), ("n.ra", [plain])):
        cippus.run("convert", "--accept-loss", *words, folder / name)
    for name in ("n.bcolz", "n.blz", "n.zarr"):
        cippus.run("set", folder / name, f"attributes/{MARKUP}", "--string", MARKUP)
    member = folder / "n.zarr" / MARKUP / "zarr.json"
    document = json.loads(member.read_text())
    document |= {"dimension_names": [MARKUP, "x"], "attributes": {MARKUP: [MARKUP]}}
    member.write_text(json.dumps(document))
    (folder / "n.zarr" / "zarr.json").write_text(json.dumps({"zarr_format": 3, "node_type": "group", "attributes": {MARKUP: MARKUP}}))
    shutil.copytree(folder / "n.zarr", folder / "codec.zarr")
    document["codecs"] = [{"name": MARKUP}]
    (folder / "codec.zarr" / MARKUP / "zarr.json").write_text(json.dumps(document))
    with open(folder / "n.ra", "ab") as f:
        f.write(MARKUP.encode())
    (folder / "README.txt").write_text(MARKUP)


@pytest.mark.filterwarnings("ignore::UserWarning")  # of astropy, about such names
def test_markup_is_text(page, cippus, tmp_path):
    pytest.importorskip("astropy")
    write_markup(cippus, tmp_path)
    files = sorted(f.name for f in tmp_path.iterdir() if f.name != MARKUP)
    with served(cippus, tmp_path) as s:
        page.open("about:blank")
        view(page, s, folder=tmp_path.name)
        page.until("document.querySelector('#side').innerText.includes(arguments[0])", MARKUP + ".npy")
        for name in files:
            file, shown = f"{tmp_path.name}/{name}", set()
            turn(page, file=file)
            page.until("document.querySelector('#verify') || document.querySelector('#status').className === 'bad'")
            page.run("document.querySelectorAll('#side [aria-expanded=false]').forEach(b => b.click())")
            page.until("!document.querySelector('#side [aria-expanded=true] + ul:empty')")
            shown.add(MARKUP in page.text("body"))
            arrays = [] if name == "README.txt" else s.api("arrays", file=file)["arrays"]
            for a in arrays:
                for tab in ({}, {"tab": "attributes"}, {"tab": "chunks"}, {"view": "table"}):
                    turn(page, file=file, path=a["path"], **tab)
                    page.until("document.querySelector('#pane')?.firstChild")
                    shown.add(MARKUP in page.text("body"))
                    assert is_harmless(page)
            if name in ("n.asdf", "n.h5", "tag.asdf"):
                turn(page, file=file)
                page.until("document.querySelector('#verify')")
                page.run("document.querySelector('#search').value = 'onerror'; document.querySelector('#search').oninput()")
                page.until("document.querySelector('#found')?.firstChild")
                page.click("#verify")
                page.until("document.querySelector('#findings')?.innerText && !document.querySelector('#findings').innerText.startsWith('Checking')")
            assert is_harmless(page) and (True in shown or name in ("x.npy", "n.ra")), name
        page.open(f"{s.url}#{urllib.parse.urlencode({'file': MARKUP, 'path': MARKUP})}")
        page.until("document.querySelector('#status').className === 'bad'")
        assert is_harmless(page)
    assert [e for e in page.errors() if "Content Security Policy" in e] == []


def test_no_script_makes_html_of_texts():
    for file in ("page.js", "uPlot.iife.min.js"):
        script = (ROOT / "tools/serve/page" / file).read_text()
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|srcdoc|document\.write|\beval\b|new Function|createContextualFragment|DOMParser", script), file
    assert re.findall(r"<script(?![^>]* src=)|<style|\bon\w+=|\bstyle=", (ROOT / "tools/serve/page/index.html").read_text()) == []


def test_a_token_leaves_the_address(page, cippus):
    with served(cippus, SAMPLES, "--public", "--bind", "127.0.0.1") as s:
        page.open(s.url)
        page.click("#side button", "samples/")
        page.until("document.querySelector('#side').innerText.includes('night.asdf')")
        assert s.token not in page.run("return location.href")
        page.open(f"http://{s.host}:{s.port}/#file=samples/night.asdf&path=image")
        page.until("document.querySelector('#image')")


def test_light_and_dark(page, server):
    view(page, server, file="samples/night.asdf", path="spectrum")
    page.until("document.querySelector('#plot canvas')")
    before = page.run("return getComputedStyle(document.body).backgroundColor")
    page.keys("d")
    page.until("getComputedStyle(document.body).backgroundColor !== arguments[0]", before)
    page.until("document.querySelector('#plot canvas') && document.querySelector('#status').textContent === ''")
    if PICTURES:
        page.picture(pathlib.Path(PICTURES) / "serve-line.png")
    page.keys("?")
    page.until("document.querySelector('#keys').open")
