"""A stand-in for GitHub on the loopback address, for scripts/try-openbench.

OpenBench's server asks GitHub for commits, and its workers fetch sources and books there. Both use
the library requests, which goes through the proxy that HTTPS_PROXY names. This program is such a
proxy. It answers for GitHub from a local repository and refuses every other host, so that nothing
leaves the machine and OpenBench runs unchanged.

    github.py PORT CERTIFICATE KEY REPOSITORY BOOK
"""

import io
import json
import re
import ssl
import subprocess
import sys
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

port, certificate, key, repository, book = sys.argv[1:]
tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(certificate, key)


class NotFound(Exception):
    pass


def git(*arguments: str) -> bytes:
    run = subprocess.run(["git", "-C", repository, *arguments], stdout=subprocess.PIPE)
    if run.returncode:
        raise NotFound
    return run.stdout


def sha(revision: str) -> str:
    return git("rev-parse", "--verify", "--end-of-options", revision + "^{commit}").decode().strip()


def commit(revision: str) -> dict:
    name = sha(revision)
    return {"sha": name, "commit": {"message": git("log", "-1", "--format=%B", name).decode()}}


def zipped_book() -> bytes:
    path = Path(book)
    if path.suffix == ".zip":
        return path.read_bytes()
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.write(path, path.name)
    return archive.getvalue()


class GitHub(BaseHTTPRequestHandler):
    """A connection: first CONNECT, then the requests inside TLS."""

    protocol_version = "HTTP/1.1"
    host = ""

    def do_CONNECT(self) -> None:
        self.host = self.path.removesuffix(":443")
        if self.host not in ("api.github.com", "codeload.github.com", "raw.githubusercontent.com"):
            self.send_error(403, "this proxy reaches no other host")
            return
        self.send_response(200)
        self.end_headers()
        self.connection = tls.wrap_socket(self.connection, server_side=True)
        self.rfile = self.connection.makefile("rb")
        self.wfile = self.connection.makefile("wb")
        self.close_connection = False

    def do_GET(self) -> None:
        try:
            self.answer(self.host, self.path.strip("/"))
        except NotFound:
            self.reply(404, "application/json", b'{"message": "Not Found"}')

    def answer(self, host: str, path: str) -> None:
        if host == "raw.githubusercontent.com":
            self.reply(200, "application/zip", zipped_book())
        elif host == "codeload.github.com":
            owner, name, _, revision = path.split("/")
            folder = f"{owner}-{name}-{revision[:7]}/"
            archive = git("archive", "--format=zip", "--prefix=" + folder, sha(revision))
            self.reply(200, "application/zip", archive)
        elif found := re.fullmatch(r"repos/[^/]+/[^/]+/branches/(.+)", path):
            self.send_json({"commit": commit(found[1])})
        elif found := re.fullmatch(r"repos/[^/]+/[^/]+/commits/(.+)", path):
            self.send_json(commit(found[1]))
        elif found := re.fullmatch(r"repos/[^/]+/[^/]+/compare/(\w+)\.\.\.(\w+)", path):
            ahead = git("rev-list", "--count", f"{sha(found[1])}..{sha(found[2])}")
            self.send_json({"ahead_by": int(ahead)})
        elif found := re.fullmatch(r"repos/([^/]+/[^/]+)/zipball/(\w+)", path):
            self.send_response(302)
            self.send_header("Location", f"https://codeload.github.com/{found[1]}/legacy.zip/{found[2]}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            self.wfile.flush()
        else:
            raise NotFound

    def send_json(self, value: dict) -> None:
        self.reply(200, "application/json", json.dumps(value).encode())

    def reply(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()


ThreadingHTTPServer(("127.0.0.1", int(port)), GitHub).serve_forever()
