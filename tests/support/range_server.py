# SPDX-License-Identifier: BSD-3-Clause
"""A server of HTTP and of S3 for tests: ranges, entity tags and conditions of RFC 9110, and many ways to do them badly.

usage: tests/support/range_server.py FOLDER [--delay SECONDS] [--rate BYTES]     serves FOLDER, prints its URL, until its input ends

--delay: before each answer; --rate: bytes a second of all answers together. /seen/ has the requests since it was asked for, in JSON.

What a path begins with says how it is served: /files/NAME well, /BEHAVIOUR/NAME as BEHAVIOURS has it, /s3/BUCKET/KEY as S3, where
requests must be signed by KEY and SECRET for /s3/private.
"""
import argparse
import gzip
import hashlib
import hmac
import http.server
import json
import pathlib
import re
import ssl
import sys
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape

KEY, SECRET, TOKEN = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "a/session+token="


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, folder, delay=0.0, rate=None, certificate=None):
        """`certificate`: a PEM file with its key, for localhost."""
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder, self.delay, self.rate = pathlib.Path(folder), delay, rate
        self.lock, self.free = threading.Lock(), 0.0  # when what is sent by now has gone, at that rate
        self.files = {}  # name -> bytes, before what lies in the folder
        self.seen = []  # [method, path, range, status, bytes] of each request
        self.tries = {}  # path -> how many times it was asked for
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
            self.url = f"https://localhost:{self.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *error):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):  # clients that had enough
        pass

    def send(self, to, body):
        if self.rate is None:
            return to.write(body)
        for at in range(0, len(body), 1 << 16):
            part = body[at : at + (1 << 16)]
            with self.lock:
                self.free = max(self.free, time.monotonic()) + len(part) / self.rate
                wait = self.free - time.monotonic()
            time.sleep(max(wait, 0))
            to.write(part)

    def bytes_of(self, name):
        if name in self.files:
            return self.files[name]
        path = self.folder / name
        if name.endswith("/") or ".." in path.parts or not path.is_file():
            return None
        return path.read_bytes()

    def names(self):
        found = set(self.files)
        found.update(str(p.relative_to(self.folder)) for p in self.folder.rglob("*") if p.is_file())
        return sorted(found)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        import socket

        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        if self.path == "/seen/":
            rows = json.dumps(self.server.seen).encode()
            self.server.seen.clear()
            self.row = [0] * 5
            return self.reply(200, rows)
        time.sleep(self.server.delay)
        path = urllib.parse.urlsplit(self.path).path
        _, kind, name = (*urllib.parse.unquote(path).split("/", 2), "", "")[:3]
        self.row = [self.command, self.path, self.headers.get("Range"), 0, 0]
        self.server.seen.append(self.row)
        tries = self.server.tries[self.path] = self.server.tries.get(self.path, 0) + 1
        if kind == "s3":
            self.s3(name)
        else:
            getattr(self, f"serve_{kind}", self.serve_files)(name, tries)

    def log_message(self, *words):
        pass

    def reply(self, status, data=b"", body=None, **headers):
        """`body`: what is sent of it, if not all."""
        self.send_response(status)
        headers.setdefault("Content_Length", len(data))
        for key, value in headers.items():
            if value is not None:
                self.send_header(key.replace("_", "-"), str(value))
        self.end_headers()
        body = b"" if self.command == "HEAD" else data if body is None else body
        self.row[3:] = status, len(body)
        self.server.send(self.wfile, body)

    def asked(self):
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        return (int(found[1]), int(found[2])) if found else None

    def of_range(self, data, a, b, **more):
        end = min(b, len(data) - 1)
        more = {"Content_Range": f"bytes {a}-{end}/{len(data)}", **more}
        self.reply(206, data[a : end + 1], **more)

    def version(self, data):
        return {"ETag": '"%s"' % hashlib.sha256(data).hexdigest()[:16], "Last_Modified": "Thu, 26 Nov 2026 10:00:00 GMT"}

    def serve_files(self, name, tries, **more):
        data = self.server.bytes_of(name)
        if data is None:
            return self.reply(404)
        more = {**self.version(data), **more}
        tag = more["ETag"]
        if tag is not None and self.headers.get("If-Match", tag) != tag:
            return self.reply(412)
        asked = self.asked()
        if asked and asked[0] >= len(data):
            return self.reply(416, Content_Range=f"bytes */{len(data)}", **more)
        return self.of_range(data, *asked, **more) if asked else self.reply(200, data, **more)

    # --- as others do

    def serve_weak(self, name, tries):
        data = self.server.bytes_of(name)
        assert "If-Match" not in self.headers  # they never match
        self.serve_files(name, tries, ETag="W/" + self.version(data)["ETag"])

    def serve_longtag(self, name, tries):
        """Another file each time, by a tag that fits no request."""
        self.serve_files(name, tries, ETag=f'"{"a" * 300}{tries}"')

    def serve_foreigntag(self, name, tries):
        self.serve_files(name, tries, ETag=f'"\xe9{tries}"')

    def serve_as(self, name, tries):
        """File NAME, whatever follows, by the same tag."""
        self.serve_files(name.partition("/")[0], tries, ETag='"same"')

    def serve_bare(self, name, tries):
        self.serve_files(name, tries, ETag=None, Last_Modified=None)

    def serve_noranges(self, name, tries):
        data = self.server.bytes_of(name)
        self.reply(200, data, **self.version(data))

    def serve_untagged(self, name, tries):
        """As Python's http.server."""
        self.reply(200, self.server.bytes_of(name), Last_Modified="Thu, 26 Nov 2026 10:00:00 GMT")

    def serve_gzip(self, name, tries):
        data = gzip.compress(self.server.bytes_of(name))
        self.reply(200, data, Content_Encoding="gzip")

    def serve_gzipranges(self, name, tries):
        data = self.server.bytes_of(name)
        self.of_range(data, *self.asked(), Content_Encoding="gzip")

    def serve_shifted(self, name, tries):
        a, b = self.asked()
        self.of_range(self.server.bytes_of(name), a + 1, b + 1)

    def serve_nonsense(self, name, tries):
        a, b = self.asked()
        self.of_range(self.server.bytes_of(name), a, b, Content_Range="bytes a-b/c")

    def serve_unsized(self, name, tries):
        a, b = self.asked()
        data = self.server.bytes_of(name)
        self.of_range(data, a, b, Content_Range=f"bytes {a}-{min(b, len(data) - 1)}/*")

    def serve_norange206(self, name, tries):
        a, b = self.asked()
        self.of_range(self.server.bytes_of(name), a, b, Content_Range=None)

    def serve_huge(self, name, tries):
        a, b = self.asked()
        self.of_range(self.server.bytes_of(name), a, b, Content_Range=f"bytes {a}-{b}/{2**64 + 5}")

    def serve_larger(self, name, tries):
        """A size that the file does not have."""
        a, b = self.asked()
        data = self.server.bytes_of(name)
        self.reply(206, data[a : b + 1], Content_Range=f"bytes {a}-{min(b, len(data) - 1)}/{len(data) + 10**12}")

    def serve_short(self, name, tries):
        """The connection ends before the body does."""
        a, b = self.asked()
        data = self.server.bytes_of(name)
        b = min(b, len(data) - 1)
        self.close_connection = True
        self.reply(206, data[a : b + 1], data[a : (a + b) // 2], Content_Range=f"bytes {a}-{b}/{len(data)}")

    def serve_less(self, name, tries):
        """A whole body, but not of what the range says."""
        a, b = self.asked()
        data = self.server.bytes_of(name)
        b = min(b, len(data) - 1)
        self.reply(206, data[a:b], Content_Range=f"bytes {a}-{b}/{len(data)}", **self.version(data))

    def serve_more(self, name, tries):
        """A chunked body that is longer than it says."""
        a, b = self.asked()
        data = self.server.bytes_of(name)
        b = min(b, len(data) - 1)
        self.chunked(206, data[a : b + 1] + b"more", Content_Range=f"bytes {a}-{b}/{len(data)}")

    def chunked(self, status, *parts, **headers):
        self.reply(status, body=b"", Content_Length=None, Transfer_Encoding="chunked", **headers)
        for part in parts:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.write(b"0\r\n\r\n")

    def serve_trailer(self, name, tries):
        """Half of the body of all ranges but the first; behind it, a status line and headers."""
        a, b = self.asked()
        data = self.server.bytes_of(name)
        b = min(b, len(data) - 1)
        body = data[a : b + 1] if a == 0 else data[a : (a + b) // 2]
        self.reply(206, body=b"", Content_Length=None, Transfer_Encoding="chunked", Content_Range=f"bytes {a}-{b}/{len(data)}", **self.version(data))
        self.wfile.write(b"%x\r\n%s\r\n0\r\n" % (len(body), body))
        self.wfile.write(b'HTTP/1.1 416 x: y\r\nContent-Range: bytes */0\r\nETag: "other"\r\n\r\n')

    def serve_untilclosed(self, name, tries):
        """The end of the body is the end of the connection, which comes too early."""
        data = self.server.bytes_of(name)
        self.close_connection = True
        self.reply(200, body=data[: len(data) // 2], Content_Length=None)

    def serve_endless(self, name, tries):
        self.reply(200, body=b"", Content_Length=None, Transfer_Encoding="chunked")
        for _ in range(10_000):
            self.wfile.write(b"10000\r\n%s\r\n" % bytes(65536))

    def serve_bomb(self, name, tries):
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for i in range(100_000):
            self.wfile.write(b"X-%d: %s\r\n" % (i, b"a" * 1000))

    def serve_longline(self, name, tries):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
        for i in range(100_000):
            self.wfile.write(b"a" * 1000)

    def serve_nohttp(self, name, tries):
        self.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")
        self.close_connection = True

    def serve_closed(self, name, tries):
        self.close_connection = True

    def serve_denied(self, name, tries):
        self.reply(403, b"<Error>AccessDenied</Error>")

    def serve_login(self, name, tries):
        import base64

        user = base64.b64encode(b"ada:se:cret").decode()
        if self.headers.get("Authorization") != f"Basic {user}":
            return self.reply(401, WWW_Authenticate='Basic realm="x"')
        self.serve_files(name, tries)

    def serve_down(self, name, tries):
        self.reply(503)

    def serve_busy(self, name, tries):
        """Each third time it has time."""
        if tries % 3:
            return self.reply((429, 503, 500, 504)[tries % 4], Retry_After="0" if tries % 2 else None)
        self.serve_files(name, tries)

    def serve_later(self, name, tries):
        self.reply(503, Retry_After="100000")

    def serve_changing(self, name, tries):
        """Another file each time, whatever the condition."""
        data = self.server.bytes_of(name)
        a, b = self.asked()
        self.of_range(data, a, b, ETag=f'"{tries if tries > 1 else 0}"')

    def serve_drip(self, name, tries):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(1000):
            self.wfile.write(b"a")
            time.sleep(1)

    def serve_to(self, name, tries):
        """To another place on this server."""
        self.reply(302, Location=f"/{name}")

    def serve_away(self, name, tries):
        """To this server by another name."""
        self.reply(302, Location=f"http://localhost:{self.server.server_address[1]}/{name}")

    def serve_once(self, name, tries):
        """To a place that is soon gone; from there, to the next one."""
        self.reply(302, Location=f"/gone/{tries}/{name}")

    def serve_gone(self, name, tries):
        self.serve_files(name.partition("/")[2], tries) if tries < 3 else self.reply(403)

    def serve_loop(self, name, tries):
        self.reply(302, Location=f"/loop/{tries}")

    def serve_redirect(self, name, tries):
        """To HOST:PORT/..., by http."""
        self.reply(302, Location=f"http://{name}")

    def serve_tofile(self, name, tries):
        self.reply(302, Location="file:///etc/passwd")

    def serve_slash(self, name, tries):
        """As web servers do with folders."""
        if any(n.startswith(f"{name}/") for n in self.server.names()):
            return self.reply(301, Location=f"/slash/{name}/")
        if name.endswith("/"):
            return self.reply(200, b"<html>" + bytes(200_000))
        self.serve_files(name, tries)

    # --- S3

    def s3(self, name):
        bucket, _, key = name.partition("/")
        if bucket == "moved":
            return self.reply(307, Location=f"http://localhost:{self.server.server_address[1]}/files/{key}")
        if bucket == "private" and not self.is_signed():
            return self.reply(403, b"<?xml version='1.0'?><Error><Code>AccessDenied</Code><Message>no</Message></Error>")
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        if "list-type" in query:
            return self.s3_list(bucket, query["prefix"], query.get("continuation-token", ""))
        self.serve_files(key, 1)

    def s3_list(self, bucket, prefix, after):
        """Bucket `bare` encodes no names, `circle` has no last page, that of `flood` is too long, `packed` compresses it."""
        keys, folders, token = [], [], ""
        for name in self.server.names():
            if not name.startswith(prefix) or name <= after:
                continue
            head, slash, _ = name[len(prefix) :].partition("/")
            if slash and prefix + head not in folders:
                folders.append(prefix + head)
            elif not slash:
                keys.append(name)
            if len(keys) + len(folders) == 5:  # a page
                token = name
                break
        q = str if bucket == "bare" else urllib.parse.quote
        if bucket == "circle":
            token = token or prefix
        rows = "".join(f"<Contents><Key>{q(k)}</Key><Size>1</Size></Contents>" for k in keys)
        rows += "".join(f"<CommonPrefixes><Prefix>{q(f)}/</Prefix></CommonPrefixes>" for f in folders)
        more = f"<NextContinuationToken>{escape(token)}</NextContinuationToken>" if token else ""
        text = (
            '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<Name>b</Name><Prefix>{q(prefix)}</Prefix><IsTruncated>{'true' if token else 'false'}</IsTruncated>"
            f"{rows}{more}{'' if bucket == 'bare' else '<EncodingType>url</EncodingType>'}"
            f"{' ' * (9 << 20) if bucket == 'flood' else ''}</ListBucketResult>"
        )
        self.reply(200, text.encode(), Content_Encoding="gzip" if bucket == "packed" else None)

    def is_signed(self):
        """Whether the signature is right, by AWS's description of version 4."""
        fields = dict(re.findall(r"(\w+)=([^,\s]+)", self.headers.get("Authorization", "")))
        needed = {"host", "x-amz-content-sha256", "x-amz-date", "x-amz-security-token"}
        if not needed <= set(fields.get("SignedHeaders", "").split(";")) or self.headers.get("x-amz-security-token") != TOKEN:
            return False
        url = urllib.parse.urlsplit(self.path)
        query = sorted(tuple(p.split("=", 1)) for p in url.query.split("&") if p)
        names = fields["SignedHeaders"].split(";")
        canonical = "\n".join([
            "GET",
            url.path,
            "&".join("=".join(p) for p in query),
            *(f"{n}:{' '.join(self.headers[n].split())}" for n in names),
            "",
            fields["SignedHeaders"],
            self.headers["x-amz-content-sha256"],
        ])  # fmt: skip
        return hmac.compare_digest(fields["Signature"], signature(SECRET, fields["Credential"], self.headers["x-amz-date"], canonical))


def signature(secret, credential, date, canonical):
    _, day, region, service, end = credential.split("/")
    key = f"AWS4{secret}".encode()
    for part in (day, region, service, end):
        key = hmac.digest(key, part.encode(), "sha256")
    text = "\n".join(["AWS4-HMAC-SHA256", date, f"{day}/{region}/{service}/{end}", hashlib.sha256(canonical.encode()).hexdigest()])
    return hmac.new(key, text.encode(), "sha256").hexdigest()


def main():
    words = argparse.ArgumentParser()
    words.add_argument("folder")
    words.add_argument("--delay", type=float, default=0.0)
    words.add_argument("--rate", type=float)
    args = words.parse_args()
    with Server(args.folder, args.delay, args.rate) as server:
        print(server.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
