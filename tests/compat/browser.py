# SPDX-License-Identifier: BSD-3-Clause
"""Chromium without a window, by the WebDriver protocol (W3C) of chromedriver."""
import base64
import contextlib
import json
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request

import pytest


class Browser:
    def __init__(self, url, size):
        self.url = url
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--window-size={size[0]},{size[1]}"]}
        logging = {"browser": "ALL"}
        got = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": logging}}})
        self.session = f"/session/{got['sessionId']}"

    def call(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise AssertionError(json.load(e)["value"]["message"].splitlines()[0]) from None

    def open(self, url):
        self.call("POST", self.session + "/url", {"url": url})

    def run(self, script, *args):
        return self.call("POST", self.session + "/execute/sync", {"script": script, "args": list(args)})

    def until(self, script, *args, seconds=60):
        """What the expression gives, once it is true."""
        end = time.monotonic() + seconds
        while True:
            got = self.run("return " + script, *args)
            if got or time.monotonic() > end:
                assert got, f"never true: {script}; status: {self.text('#status')}"
                return got
            time.sleep(0.02)

    def text(self, css):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? null", css)

    def click(self, css, text=""):
        """The first element of the selector that begins with the text."""
        self.until("[...document.querySelectorAll(arguments[0])].some(e => e.innerText.trim().startsWith(arguments[1]))", css, text)
        self.run("[...document.querySelectorAll(arguments[0])].find(e => e.innerText.trim().startsWith(arguments[1])).click()", css, text)

    def keys(self, text):
        keys = [a for k in text for a in ({"type": "keyDown", "value": k}, {"type": "keyUp", "value": k})]
        self.call("POST", self.session + "/actions", {"actions": [{"type": "key", "id": "k", "actions": keys}]})

    def drag(self, css, start, end):
        """From one place to another, in parts of the element's size."""
        x, y, w, h = self.run("const r = document.querySelector(arguments[0]).getBoundingClientRect(); return [r.x, r.y, r.width, r.height]", css)
        at = [(round(x + w * p[0]), round(y + h * p[1])) for p in (start, end)]
        actions = [{"type": "pointerMove", "duration": 0, "x": at[0][0], "y": at[0][1]}, {"type": "pointerDown", "button": 0},
                   {"type": "pointerMove", "duration": 10, "x": at[1][0], "y": at[1][1]}, {"type": "pointerUp", "button": 0}]
        self.call("POST", self.session + "/actions", {"actions": [{"type": "pointer", "id": "p", "actions": actions}]})

    def move(self, x, y):
        """The pointer, to a place of the window."""
        self.call("POST", self.session + "/actions", {"actions": [{"type": "pointer", "id": "p", "actions": [
            {"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)}]}]})

    def errors(self):
        """What the browser complained of: scripts that failed, and what the policy of the page blocked."""
        return [e["message"] for e in self.call("POST", self.session + "/se/log", {"type": "browser"}) if e["level"] == "SEVERE"]

    def picture(self, file):
        file.write_bytes(base64.b64decode(self.call("GET", self.session + "/screenshot")))


@contextlib.contextmanager
def browser(size=(1200, 800)):
    if not shutil.which("chromedriver") or not shutil.which("chromium"):
        pytest.skip("no chromium with its driver: scripts/setup browser")
    driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    b = None
    try:
        port = next(m[1] for line in driver.stdout if (m := re.search(r"started successfully on port (\d+)", line)))
        b = Browser(f"http://127.0.0.1:{port}", size)
        yield b
    finally:
        if b is not None:
            with contextlib.suppress(AssertionError, OSError):
                b.call("DELETE", b.session)
        driver.terminate()
        driver.wait()
