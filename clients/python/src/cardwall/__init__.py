"""A client of the Cardwall API.

    from cardwall import Client

    client = Client("https://cardwall.example.com", "cwp_...")
    for board in client.iterate_boards():
        print(board["name"])
"""

from . import models
from ._transport import OMITTED, Omitted, ResponseInfo, info, new_key
from ._version import VERSION as __version__
from .client import Client
from .errors import (
    APIError,
    CardwallError,
    ClosedError,
    ConflictError,
    ForbiddenError,
    InsufficientScopeError,
    InternalError,
    InvalidRequestError,
    NotFoundError,
    NotModified,
    PlanError,
    RateLimitedError,
    TransportError,
    UnauthenticatedError,
    UnavailableError,
    UnexpectedResponseError,
    UnsupportedOperationError,
    VersionConflictError,
)
from .webhooks import WebhookVerificationError, verify_webhook

__all__ = [
    "APIError",
    "CardwallError",
    "Client",
    "ClosedError",
    "ConflictError",
    "ForbiddenError",
    "InsufficientScopeError",
    "InternalError",
    "InvalidRequestError",
    "NotFoundError",
    "NotModified",
    "OMITTED",
    "Omitted",
    "PlanError",
    "RateLimitedError",
    "ResponseInfo",
    "TransportError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnexpectedResponseError",
    "UnsupportedOperationError",
    "VersionConflictError",
    "WebhookVerificationError",
    "__version__",
    "info",
    "models",
    "new_key",
    "verify_webhook",
]
