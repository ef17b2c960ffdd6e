"""Tests of errors."""

from __future__ import annotations

import cardwall
from cardwall import (
    APIError,
    CardwallError,
    InvalidRequestError,
    NotFoundError,
    NotModified,
    UnexpectedResponseError,
    UnsupportedOperationError,
    VersionConflictError,
)
from tests.fake import FakeServerTest, Reply, refusal


class ErrorsTest(FakeServerTest):
    def error(self, reply: Reply) -> CardwallError:
        self.reply(reply)
        with self.assertRaises(CardwallError) as caught:
            self.client.with_options(max_retries=0).update_card("crd_1", title="B")
        return caught.exception

    def test_classes(self) -> None:
        for status, code, name in (
            (400, "invalid_request", "InvalidRequestError"),
            (401, "unauthenticated", "UnauthenticatedError"),
            (402, "plan_limit", "PlanError"),
            (402, "plan_read_only", "PlanError"),
            (403, "forbidden", "ForbiddenError"),
            (403, "insufficient_scope", "InsufficientScopeError"),
            (404, "not_found", "NotFoundError"),
            (409, "archived", "ConflictError"),
            (409, "board_archived", "ConflictError"),
            (409, "capacity_full", "ConflictError"),
            (409, "powerup_disabled", "ConflictError"),
            (409, "limit_reached", "ConflictError"),
            (429, "rate_limited", "RateLimitedError"),
            (500, "internal", "InternalError"),
            (503, "unavailable", "UnavailableError"),
            (418, "brand_new", "APIError"),
        ):
            error = self.error(refusal(status, code))
            self.assertIs(type(error), getattr(cardwall, name))
            self.assertEqual((error.status, error.code), (status, code))
            self.assertEqual(str(error), f"It is {code}.")

    def test_attributes(self) -> None:
        details = [{"field": "title", "rule": "required"}]
        headers = {"X-Request-Id": "req_1", "Retry-After": "2"}
        error = self.error(
            refusal(400, "invalid_request", headers, details=details, reason="expand_limit")
        )
        self.assertIsInstance(error, InvalidRequestError)
        self.assertEqual((error.details, error.reason), (details, "expand_limit"))
        self.assertEqual((error.request_id, error.retry_after), ("req_1", 2))
        self.assertEqual(error.idempotency_key, self.calls[0].headers["idempotency-key"])

    def test_version_conflict(self) -> None:
        current = {"id": "crd_1", "title": "C"}
        reply = refusal(
            412, "invalid_request", {"ETag": '"2"'}, reason="version_conflict", current=current
        )
        error = self.error(reply)
        assert isinstance(error, VersionConflictError)
        self.assertEqual((error.current, error.etag), (current, '"2"'))
        self.assertIsInstance(error, cardwall.ConflictError)

    def test_older_server(self) -> None:
        for reply in (
            Reply(404, b"404 page not found\n"),
            Reply(405, b""),
            refusal(405, "invalid_request"),
            refusal(404, "not_found", reason="unknown_path"),
        ):
            error = self.error(reply)
            self.assertIsInstance(error, UnsupportedOperationError)
            self.assertIn("PATCH /cards/crd_1", str(error))
        self.assertIsInstance(self.error(refusal(404, "not_found")), NotFoundError)

    def test_responses_of_others(self) -> None:
        for reply in (
            Reply(502, b"<html>"),
            Reply(400, b'{"error": "no"}'),
            Reply(403, b"[]"),
            Reply(200, b"<html>"),
            Reply(200, b"[1]"),
        ):
            error = self.error(reply)
            self.assertIsInstance(error, UnexpectedResponseError)
            self.assertNotIsInstance(error, APIError)
        error = self.error(Reply(301, b"", {"Location": "https://new.example.com/"}))
        self.assertIn("https://new.example.com/", str(error))

    def test_not_modified(self) -> None:
        self.reply(Reply(304))
        with self.assertRaises(NotModified):
            self.client.get_card("crd_1", if_none_match='"1"')
        self.assertEqual(self.calls[0].headers["if-none-match"], '"1"')
