"""A proxy that fails on purpose."""

from __future__ import annotations

import http.client
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Sequence

FAULTS = ("cut before", "cut after", "refuse", "cut within", "bad gateway", "")
"""What happens to the tries of a request: the last one gets through."""


class FaultyProxy(ThreadingHTTPServer):
    """Forwards requests to a server. The n-th try of a request gets the n-th of the faults.

    Writes with the same key, and reads of the same path, are tries of one request.
    """

    daemon_threads = True

    def __init__(self, port: int, faults: Sequence[str] = FAULTS) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.port, self.faults = port, faults
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.tries: Counter[str] = Counter()
        self.injected: Counter[str] = Counter()
        self.lock = threading.Lock()

    def fault(self, request: str) -> str:
        """Return what to do with a try of a request."""
        with self.lock:
            fault = self.faults[self.tries[request] % len(self.faults)]
            self.tries[request] += 1
            self.injected[fault] += 1
        return fault

    def handle_error(self, *_: object) -> None:
        """Ignore that a client gave up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FaultyProxy

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = self.headers.get("Idempotency-Key", f"{self.command} {self.path}")
        fault = self.server.fault(request)
        if fault == "cut before":
            self.close_connection = True
            return
        if fault == "refuse":
            error = b'{"error": {"code": "rate_limited", "message": "Too many requests."}}'
            return self._respond(429, [("Retry-After", "1")], error)
        if fault == "bad gateway":
            return self._respond(502, [], b"<html>Bad gateway</html>")
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        connection.request(self.command, self.path, body, dict(self.headers.items()))
        response = connection.getresponse()
        content = response.read()
        connection.close()
        if fault == "cut after":
            self.close_connection = True
            return
        hidden = ("content-length", "transfer-encoding", "connection")
        headers = [(k, v) for k, v in response.getheaders() if k.lower() not in hidden]
        self._respond(response.status, headers, content, cut=fault == "cut within")

    def _respond(
        self, status: int, headers: list[tuple[str, str]], content: bytes, cut: bool = False
    ) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if cut else content)
        self.close_connection |= cut

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle

    def log_message(self, *_: object) -> None:
        """Log nothing."""
