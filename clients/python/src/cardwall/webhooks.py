"""Verifies the deliveries of webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Any, Iterable, Protocol

from .errors import CardwallError
from .models import WebhookEvent

_PREFIX = "whsec_"


class Headers(Protocol):
    """The headers of a request, such as a dictionary, or those of http.server."""

    def items(self) -> Iterable[tuple[str, str]]:
        """Return names and values."""


class WebhookVerificationError(CardwallError):
    """A request is not an authentic delivery. Respond with 401, and ignore its body.

    The reason is missing_header, invalid_timestamp, expired, wrong_signature or invalid_body.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def verify_webhook(
    secrets: str | Iterable[str],
    headers: Headers,
    body: bytes,
    *,
    tolerance: float = 300.0,
    now: float | None = None,
) -> WebhookEvent:
    """Return the event of a delivery, or raise WebhookVerificationError.

    A delivery can arrive more than once: ignore an event whose id you have processed before. Also
    ignore types that you do not know, because later versions of the server may add some.

    Args:
        secrets: The signing secret, or several of them during a rotation.
        headers: The headers of the request.
        body: The body of the request, exactly as received.
        tolerance: How many seconds the time of the delivery may differ from the present.
        now: The present in Unix seconds. Defaults to the time of this machine.
    """
    keys = [_key(s) for s in ([secrets] if isinstance(secrets, str) else secrets)]
    if not keys:
        raise ValueError("at least one secret is required")
    names = {name.lower(): value for name, value in headers.items()}
    try:
        delivery_id, timestamp = names["webhook-id"], names["webhook-timestamp"]
        signatures = names["webhook-signature"].split()
    except KeyError as missing:
        raise WebhookVerificationError("missing_header", f"{missing} is missing") from None
    if not (timestamp.isascii() and timestamp.isdecimal()):
        raise WebhookVerificationError("invalid_timestamp", "webhook-timestamp is not a number")
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance:
        raise WebhookVerificationError("expired", "webhook-timestamp is too old or in the future")

    signed = f"{delivery_id}.{timestamp}.".encode() + body
    authentic = False
    for key in keys:
        digest = hmac.new(key, signed, hashlib.sha256).digest()
        expected = b"v1," + base64.b64encode(digest)
        for signature in signatures:
            authentic |= hmac.compare_digest(expected, signature.encode(errors="replace"))
    if not authentic:
        raise WebhookVerificationError("wrong_signature", "no signature matches a secret")
    try:
        event: Any = json.loads(body)
    except ValueError:
        event = None
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        raise WebhookVerificationError("invalid_body", "the body is not an event")
    verified: WebhookEvent = event  # type: ignore[assignment]
    return verified


def _key(secret: str) -> bytes:
    """Return the key of a signing secret."""
    try:
        if secret.startswith(_PREFIX):
            return base64.b64decode(secret[len(_PREFIX) :], validate=True)
    except binascii.Error:
        pass
    raise ValueError("a signing secret is whsec_ and base64")
