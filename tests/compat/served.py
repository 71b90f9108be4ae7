# SPDX-License-Identifier: BSD-3-Clause
"""`cippus serve` as a child process, and requests to it as they are written."""
import contextlib
import http.client
import json
import signal
import subprocess
import urllib.parse

import pytest
from conftest import ROOT

SAMPLES = ROOT / "samples"


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def json(self):
        return json.loads(self.body)


class Server:
    def __init__(self, process):
        self.process = process
        self.url = process.stdout.readline().decode().strip()
        parts = urllib.parse.urlsplit(self.url)
        self.host, self.port = parts.hostname, parts.port
        self.token = urllib.parse.parse_qs(parts.query).get("token", [None])[0]

    def ask(self, target, method="GET", headers=(), raw=False):
        """`target` goes out as it is."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=30)
        with contextlib.closing(connection):
            connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            given = dict(headers)
            given.setdefault("Host", f"{self.host}:{self.port}")
            for name, value in given.items():
                connection.putheader(name, value)
            connection.endheaders()
            return Answer(connection.getresponse())

    def api(self, call, status=200, **query):
        """`status` None: whatever it is."""
        answer = self.ask(f"/api/v1/{call}?" + urllib.parse.urlencode(query))
        assert status in (None, answer.status), answer.body
        return answer.json


@contextlib.contextmanager
def served(cippus, *words):
    process = subprocess.Popen(
        [cippus.path, "serve", "--port", "0", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        server = Server(process)
        if not server.port:
            errors = process.stderr.read().decode()
            if "this build has no server" in errors:
                pytest.skip("built without the server")
            raise AssertionError(errors)
        yield server
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=30)[1].decode()
        assert process.returncode == 0 and errors == "", errors
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def server(cippus):
    with served(cippus, SAMPLES) as s:
        yield s
