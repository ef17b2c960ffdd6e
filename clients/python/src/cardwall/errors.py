"""The errors that a client raises. All of them are a CardwallError."""

from __future__ import annotations

import json
from email.utils import parsedate_to_datetime
from time import time
from typing import Any, Mapping, cast

from .models import ErrorBody, ErrorBodyDetails

_RETRIABLE = (429, 502, 503, 504)


class CardwallError(Exception):
    """The base class of all errors of a client.

    Attributes that the cause of the error does not have are None or empty.
    """

    status: int | None = None
    """The HTTP status."""
    code: str | None = None
    """The code of the error, such as not_found."""
    reason: str | None = None
    """Distinguishes errors with the same code, such as version_conflict."""
    details: list[ErrorBodyDetails]
    """The invalid fields of a request."""
    request_id: str | None = None
    """The id of the request in the server's log."""
    retry_after: float | None = None
    """How many seconds the server asks to wait."""
    idempotency_key: str | None = None
    """The key of a write. A call with the same key and arguments does nothing twice."""
    retriable: bool = False
    """Whether the same request may succeed later. The client has then tried it several times."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.details = []


class TransportError(CardwallError):
    """No complete response arrived. A write may have happened or not."""

    retriable = True


class ClosedError(CardwallError):
    """The client was closed before or during the call."""


class UnexpectedResponseError(CardwallError):
    """The response is not one of the API, for example because a proxy sent it."""


class UnsupportedOperationError(CardwallError):
    """The server does not have the operation, for example because it is older than this client."""


class NotModified(CardwallError):
    """The response still has the ETag that the call gave as if_none_match."""


class APIError(CardwallError):
    """The server refused the request. Codes without a class of their own have this class."""


class InvalidRequestError(APIError):
    """A field is invalid, or the idempotency key was used for another request."""


class UnauthenticatedError(APIError):
    """The token is missing, invalid or expired."""


class ForbiddenError(APIError):
    """The owner of the token may not do this."""


class InsufficientScopeError(ForbiddenError):
    """The token lacks the scope for this."""


class NotFoundError(APIError):
    """The object does not exist, or the owner of the token cannot see it."""


class PlanError(APIError):
    """The organization has reached a limit of its plan, or is read-only."""


class ConflictError(APIError):
    """The state of the object, its list or its board does not allow the change."""


class VersionConflictError(ConflictError):
    """The object has changed since the version that the call gave as if_match."""

    current: dict[str, Any] | None = None
    """The object now, as the operation that reads it returns it in data."""
    etag: str | None = None
    """The ETag of the object now."""


class RateLimitedError(APIError):
    """There were too many requests, or too many at once."""


class UnavailableError(APIError):
    """The server cannot process the request at present."""


class InternalError(APIError):
    """The server failed. A write may have happened or not."""


_CLASSES: dict[str, type[APIError]] = {
    "invalid_request": InvalidRequestError,
    "unauthenticated": UnauthenticatedError,
    "forbidden": ForbiddenError,
    "insufficient_scope": InsufficientScopeError,
    "not_found": NotFoundError,
    "plan_limit": PlanError,
    "plan_read_only": PlanError,
    "archived": ConflictError,
    "board_archived": ConflictError,
    "capacity_full": ConflictError,
    "powerup_disabled": ConflictError,
    "limit_reached": ConflictError,
    "rate_limited": RateLimitedError,
    "unavailable": UnavailableError,
    "internal": InternalError,
}


def error_of(
    method: str, path: str, status: int, headers: Mapping[str, str], content: bytes
) -> CardwallError:
    """Return the error that a response describes. The names of headers are in lower case."""
    body = _body(content)
    error: CardwallError
    if status == 304:
        error = NotModified(f"{path} has not changed")
    elif status == 405 or (
        status == 404 and (body is None or body.get("reason") == "unknown_path")
    ):
        error = UnsupportedOperationError(f"the server does not support {method} {path}")
    elif body is None:
        where = headers.get("location")
        error = UnexpectedResponseError(
            f"{method} {path}: status {status}" + (f" redirects to {where}" if where else "")
        )
    else:
        error = _api_error(body, headers)
    if body is not None:
        error.code = body["code"]
        error.reason = body.get("reason")
        error.details = body.get("details", [])
    error.status = status
    error.request_id = headers.get("x-request-id")
    error.retry_after = _seconds(headers.get("retry-after"))
    # A request with the same key that is still in progress is refused with 409 and Retry-After.
    error.retriable = status in _RETRIABLE or (status == 409 and error.retry_after is not None)
    return error


def _api_error(body: ErrorBody, headers: Mapping[str, str]) -> APIError:
    if body.get("reason") == "version_conflict":
        conflict = VersionConflictError(body["message"])
        conflict.current = body.get("current")
        conflict.etag = headers.get("etag")
        return conflict
    return _CLASSES.get(body["code"], APIError)(body["message"])


def _body(content: bytes) -> ErrorBody | None:
    """Return the error in a body, or None if the body is not one of the API."""
    try:
        body = json.loads(content)["error"]
        if isinstance(body["code"], str) and isinstance(body["message"], str):
            return cast(ErrorBody, body)
    except (ValueError, LookupError, TypeError):
        pass
    return None


def _seconds(value: str | None) -> float | None:
    """Return the value of Retry-After in seconds, which is a number or an HTTP date."""
    if not value:
        return None
    if value.isdecimal():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except (ValueError, TypeError):
        return None
