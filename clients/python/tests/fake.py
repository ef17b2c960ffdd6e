"""A server whose responses a test determines."""

from __future__ import annotations

import json
import threading
import unittest
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Mapping
from unittest import mock
from urllib.parse import parse_qsl, urlsplit

from cardwall import Client


@dataclass
class Reply:
    """A response. If cut is set, the connection is closed before it or within its body."""

    status: int = 200
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: str = ""
    before: Callable[[], object] = lambda: None


@dataclass
class Call:
    """A request that the server received."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


def refusal(
    status: int, code: str, headers: Mapping[str, str] | None = None, **more: object
) -> Reply:
    """Return an error response of the API."""
    error: dict[str, object] = {"code": code, "message": f"It is {code}."}
    return Reply(status, {"error": error | more}, headers or {})


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies: list[Reply] = []
        self.calls: list[Call] = []

    def handle_error(self, *_: object) -> None:
        """Ignore that a client gave up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def _handle(self) -> None:
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {k.lower(): v for k, v in self.headers.items()}
        query = dict(parse_qsl(url.query, keep_blank_values=True))
        port = self.client_address[1]
        self.server.calls.append(Call(self.command, url.path, query, headers, body, port))
        reply = self.server.replies.pop(0)
        reply.before()
        if reply.cut == "before":
            self.close_connection = True
            return
        content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        if reply.status in (204, 304):
            content = b""
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if "Transfer-Encoding" in reply.headers:
            self.close_connection = not content.endswith(b"0\r\n\r\n")
        elif reply.status not in (204, 304):
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if reply.cut == "within":
            self.close_connection = True
            content = content[: len(content) // 2]
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class FakeServerTest(unittest.TestCase):
    """A test with a server and a client that does not wait between tries.

    The pauses that it would have made are in waits.
    """

    def setUp(self) -> None:
        self.server = _Server()
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.client = self.connect()
        self.waits: list[float] = []

        def wait(seconds: float) -> bool:
            self.waits.append(seconds)
            return self.client._pool.closed.is_set()

        patch = mock.patch.object(self.client._pool.closed, "wait", wait)
        patch.start()
        self.addCleanup(patch.stop)

    def connect(self, **options: Any) -> Client:
        """Return another client."""
        client = Client(self.url, "token", **options)
        self.addCleanup(client.close)
        return client

    def reply(self, *replies: Reply) -> None:
        """Set the responses to the next requests."""
        self.server.replies.extend(replies)

    @property
    def calls(self) -> list[Call]:
        """The requests so far."""
        return self.server.calls
