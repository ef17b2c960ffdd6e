"""Sends requests: connections, retries, idempotency keys and pages."""

from __future__ import annotations

import copy
import http.client
import json
import logging
import random
import socket
import ssl
import threading
import time
import uuid
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Mapping, NamedTuple, ParamSpec, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from ._version import VERSION
from .errors import CardwallError, ClosedError, TransportError, UnexpectedResponseError, error_of

_PREFIX = "/api/public/v1"
_log = logging.getLogger("cardwall")
_P = ParamSpec("_P")
_R = TypeVar("_R")
_T = TypeVar("_T", bound="Transport")
# Connections that are idle for longer are not used again. Servers close them after a minute.
_MAX_IDLE = 20.0


class Omitted:
    """The type of OMITTED."""

    def __repr__(self) -> str:
        return "OMITTED"


OMITTED = Omitted()
"""The value of a field that is not sent. It differs from None if the field can be cleared."""


def given(value: object) -> object:
    """Return the value of a field for which None means that it is not sent."""
    return OMITTED if value is None else value


def segment(value: object) -> str:
    """Return a value as a segment of a path."""
    text = str(value)
    if text in ("", ".", ".."):
        raise ValueError(f"an id must not be {text!r}")
    return quote(text, safe="")


def new_key() -> str:
    """Return a new idempotency key."""
    return str(uuid.uuid4())


class Form(NamedTuple):
    """The body of a form with a file."""

    content: bytes
    content_type: str


def form(fields: Mapping[str, object]) -> Form:
    """Return the body of a form. Files, which are of type bytes, come last."""
    boundary = uuid.uuid4().hex
    name = fields.get("name")
    file_name = quote(name, safe=" .") if isinstance(name, str) else "file"
    content = b""
    for key, value in sorted(fields.items(), key=lambda item: isinstance(item[1], bytes)):
        if value is OMITTED:
            continue
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"'
        if isinstance(value, bytes):
            head += f'; filename="{file_name}"\r\nContent-Type: application/octet-stream'
        else:
            value = str(value).encode()
        content += head.encode() + b"\r\n\r\n" + value + b"\r\n"
    content += f"--{boundary}--\r\n".encode()
    return Form(content, f"multipart/form-data; boundary={boundary}")


@dataclass(frozen=True)
class ResponseInfo:
    """What a response contains beside its body. The names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]

    @property
    def etag(self) -> str | None:
        """The version of the object. Give it as if_match or if_none_match."""
        return self.headers.get("etag")

    @property
    def request_id(self) -> str | None:
        """The id of the request in the server's log."""
        return self.headers.get("x-request-id")

    @property
    def replayed(self) -> bool:
        """Whether an earlier request with the same idempotency key made the change."""
        return self.headers.get("idempotent-replayed") == "true"


class _Result(dict[str, Any]):
    """The body of a response."""

    info: ResponseInfo


def info(result: Mapping[str, Any]) -> ResponseInfo:
    """Return the status and the headers of the response that an operation returned."""
    if not isinstance(result, _Result):
        raise TypeError("info takes the result of an operation")
    return result.info


class _Response(NamedTuple):
    status: int
    headers: dict[str, str]
    content: bytes


class _Pool:
    """The connections to a server. Threads can share it."""

    def __init__(self, scheme: str, host: str, port: int | None, context: ssl.SSLContext | None):
        self._address = (host, port)
        self._context = (context or ssl.create_default_context()) if scheme == "https" else None
        self._lock = threading.Lock()
        self._idle: list[tuple[float, http.client.HTTPConnection]] = []
        self._busy: set[http.client.HTTPConnection] = set()
        self.closed = threading.Event()

    def take(self) -> http.client.HTTPConnection:
        with self._lock:
            while self._idle:
                since, connection = self._idle.pop()
                if time.monotonic() - since < _MAX_IDLE:
                    break
                connection.close()
            else:
                connection = self._open()
            self._busy.add(connection)
        return connection

    def _open(self) -> http.client.HTTPConnection:
        host, port = self._address
        if self._context is None:
            return http.client.HTTPConnection(host, port)
        return http.client.HTTPSConnection(host, port, context=self._context)

    def put(self, connection: http.client.HTTPConnection, reusable: bool) -> None:
        with self._lock:
            self._busy.discard(connection)
            if reusable and not self.closed.is_set() and len(self._idle) < 8:
                self._idle.append((time.monotonic(), connection))
                return
        connection.close()

    def close(self) -> None:
        self.closed.set()
        with self._lock:
            while self._idle:
                self._idle.pop()[1].close()
            # Another thread is reading from these. It gets an error and closes them.
            for connection in self._busy:
                if connection.sock is not None:
                    try:
                        connection.sock.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        pass


class Transport:
    """Sends requests to a server, and repeats those that fail. See Client."""

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        timeout: float = 30.0,
        max_retries: int = 5,
        max_wait: float = 120.0,
        user_agent: str = f"cardwall-python/{VERSION}",
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        url = urlsplit(base_url)
        if url.scheme not in ("http", "https") or not url.hostname or url.query or url.fragment:
            raise ValueError(f"{base_url!r} is not the URL of a server")
        self._path = url.path.rstrip("/")
        if not self._path.endswith(_PREFIX):
            self._path += _PREFIX
        self._pool = _Pool(url.scheme, url.hostname, url.port, ssl_context)
        self._headers = {"Authorization": f"Bearer {token}", "User-Agent": user_agent}
        self._timeout, self._max_retries, self._max_wait = timeout, max_retries, max_wait

    def with_options(
        self: _T, *, timeout: float | None = None, max_retries: int | None = None
    ) -> _T:
        """Return a client with other options that shares the connections of this one."""
        other = copy.copy(self)
        other._timeout = self._timeout if timeout is None else timeout
        other._max_retries = self._max_retries if max_retries is None else max_retries
        return other

    def close(self) -> None:
        """Close all connections. Calls in progress in other threads raise ClosedError."""
        self._pool.close()

    def __enter__(self: _T) -> _T:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def pages(
        self, operation: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs
    ) -> Iterator[_R]:
        """Iterate over the pages of a list, such as pages(client.list_cards, board_id)."""
        call: Callable[..., Any] = operation
        arguments: dict[str, Any] = dict(kwargs)
        while True:
            page = call(*args, **arguments)
            yield page
            if not page.get("nextCursor"):
                return
            arguments["cursor"] = page["nextCursor"]

    def _iterate(
        self, operation: Callable[_P, Any], *args: _P.args, **kwargs: _P.kwargs
    ) -> Iterator[Any]:
        for page in self.pages(operation, *args, **kwargs):
            yield from page["data"]

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
        content: bytes | Form | None = None,
        headers: Mapping[str, object] | None = None,
        key: str | None = None,
        binary: bool = False,
    ) -> Any:
        """Send a request, and return the JSON of the response, or its bytes if binary is true.

        Each operation has a method that calls this one. Use it yourself for operations that are
        newer than this client. The path begins after /api/public/v1. A write needs a key, such as
        new_key(), to be repeated after network errors.
        """
        target = self._path + path
        pairs = {k: _parameter(v) for k, v in (query or {}).items() if v is not None}
        if pairs:
            target += "?" + urlencode(pairs)
        sent = {k: str(v) for k, v in (headers or {}).items() if v is not None}
        data: bytes | None = None
        if body is not None:
            sent["Content-Type"] = "application/json"
            data = json.dumps({k: v for k, v in body.items() if v is not OMITTED}).encode()
        elif isinstance(content, Form):
            sent["Content-Type"], data = content.content_type, content.content
        elif content is not None:
            data = content
        if key is not None:
            sent["Idempotency-Key"] = key
        response = self._repeat(method, path, target, {**self._headers, **sent}, data, key)
        if binary:
            return response.content
        if not response.content:
            return None
        try:
            result = _Result(json.loads(response.content))
        except (ValueError, TypeError) as cause:
            raise UnexpectedResponseError(f"{method} {path}: the response is not JSON") from cause
        result.info = ResponseInfo(response.status, response.headers)
        return result

    def _repeat(
        self,
        method: str,
        path: str,
        target: str,
        headers: Mapping[str, str],
        data: bytes | None,
        key: str | None,
    ) -> _Response:
        """Send a request until it succeeds, fails for good or was tried too often."""
        safe = key is not None or method in ("GET", "HEAD", "PUT", "DELETE")
        attempt = 0
        while True:
            error: CardwallError
            try:
                response = self._try(method, target, headers, data)
            except (OSError, http.client.HTTPException) as cause:
                error = TransportError(f"{method} {path}: {cause or type(cause).__name__}")
                error.__cause__ = cause
                error.retriable = safe and not isinstance(cause, ssl.SSLCertVerificationError)
            else:
                if 200 <= response.status < 300:
                    return response
                error = error_of(method, path, *response)
            error.idempotency_key = key
            if self._pool.closed.is_set():
                raise ClosedError("the client is closed") from error
            wait = error.retry_after
            if wait is None:
                wait = random.uniform(0, min(20.0, 0.5 * 2**attempt))
            if not error.retriable or attempt >= self._max_retries or wait > self._max_wait:
                raise error
            attempt += 1
            _log.debug("%s; attempt %d follows in %.1f s", error, attempt + 1, wait)
            if self._pool.closed.wait(wait):
                raise ClosedError("the client is closed") from error

    def _try(
        self, method: str, target: str, headers: Mapping[str, str], data: bytes | None
    ) -> _Response:
        """Send a request once."""
        if self._pool.closed.is_set():
            raise ClosedError("the client is closed")
        deadline = time.monotonic() + self._timeout
        connection = self._pool.take()
        reusable = False
        try:
            connection.timeout = self._timeout
            if connection.sock is not None:
                connection.sock.settimeout(self._timeout)
            connection.request(method, target, data, headers)
            sock = connection.sock
            assert sock is not None
            sock.settimeout(max(0.001, deadline - time.monotonic()))
            response = connection.getresponse()
            content = bytearray()
            left = response.length  # None if the end of the body is marked in another way
            while left != 0:
                sock.settimeout(max(0.001, deadline - time.monotonic()))
                part = response.read1(65536)
                if not part:
                    break
                content += part
                left = None if left is None else left - len(part)
            if left:
                raise http.client.IncompleteRead(bytes(content), left)
            response.close()
            reusable = not response.will_close
        finally:
            self._pool.put(connection, reusable)
        names = {name.lower(): value for name, value in response.getheaders()}
        return _Response(response.status, names, bytes(content))


def _parameter(value: object) -> str:
    """Return a value of a query."""
    return str(value).lower() if isinstance(value, bool) else str(value)
