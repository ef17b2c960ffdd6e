"""Tests of the verification of webhooks."""

from __future__ import annotations

import json
import unittest
from email.message import Message

from cardwall import WebhookVerificationError, verify_webhook

SECRET = "whsec_YlMwy8LvOdifCFyMsOoGkKxIISlld8nICr4MurpU73I="
OTHER = "whsec_XEHP+if39o9UPAB0Ex+emYYw6AGb5u0F0mBs3ihOkSY="
BODY = b'{"id": "itg_1:v3", "type": "card.created", "data": {"cardId": "crd_1"}}'
NOW = 1772460000
# openssl dgst -sha256 -mac HMAC -macopt hexkey:... -binary | base64
SIGNATURE = "v1,2pNV0JChn/zIOSoiK8RRDGqPL1k2P9+Z/HOTMLAPqH4="
HEADERS = {
    "Webhook-Id": "itg_1:v3",
    "webhook-timestamp": str(NOW),
    "WEBHOOK-SIGNATURE": SIGNATURE,
}


class VerifyTest(unittest.TestCase):
    def reason(
        self, body: bytes = BODY, secret: str = SECRET, now: float = NOW, **headers: str
    ) -> str:
        changed = {**HEADERS, **{k.replace("_", "-"): v for k, v in headers.items()}}
        with self.assertRaises(WebhookVerificationError) as caught:
            verify_webhook(secret, changed, body, now=now)
        return caught.exception.reason or ""

    def test_authentic(self) -> None:
        event = verify_webhook(SECRET, HEADERS, BODY, now=NOW)
        self.assertEqual(event, json.loads(BODY))

    def test_headers_of_http_server(self) -> None:
        message = Message()
        for name, value in HEADERS.items():
            message[name] = value
        self.assertEqual(verify_webhook(SECRET, message, BODY, now=NOW)["type"], "card.created")

    def test_rotation(self) -> None:
        verify_webhook([OTHER, SECRET], HEADERS, BODY, now=NOW)
        verify_webhook((s for s in (SECRET, OTHER)), HEADERS, BODY, now=NOW)
        two = {**HEADERS, "WEBHOOK-SIGNATURE": "v1,AAAA " + SIGNATURE}
        verify_webhook(SECRET, two, BODY, now=NOW)

    def test_forgery(self) -> None:
        self.assertEqual(self.reason(body=BODY + b" "), "wrong_signature")
        self.assertEqual(self.reason(secret=OTHER), "wrong_signature")
        self.assertEqual(self.reason(WEBHOOK_SIGNATURE=""), "wrong_signature")
        self.assertEqual(self.reason(WEBHOOK_SIGNATURE=SIGNATURE[3:]), "wrong_signature")
        self.assertEqual(self.reason(WEBHOOK_SIGNATURE="v2" + SIGNATURE[2:]), "wrong_signature")
        self.assertEqual(self.reason(WEBHOOK_SIGNATURE="v1,ü\udcff"), "wrong_signature")
        self.assertEqual(self.reason(webhook_timestamp=str(NOW + 1)), "wrong_signature")
        self.assertEqual(self.reason(Webhook_Id="itg_1:v4"), "wrong_signature")

    def test_age(self) -> None:
        for now in (NOW - 300, NOW + 300):
            verify_webhook(SECRET, HEADERS, BODY, now=now)
        self.assertEqual(self.reason(now=NOW + 300.1), "expired")
        self.assertEqual(self.reason(now=NOW - 300.1), "expired")
        verify_webhook(SECRET, HEADERS, BODY, now=NOW + 500, tolerance=600)
        with self.assertRaises(WebhookVerificationError):
            verify_webhook(SECRET, HEADERS, BODY)
        for bad in ("", "-1", "1e9", "nan", "١٧٧٢٤٦٠٠٠٠"):
            self.assertEqual(self.reason(webhook_timestamp=bad), "invalid_timestamp")

    def test_missing_headers(self) -> None:
        for name in HEADERS:
            rest = {k: v for k, v in HEADERS.items() if k != name}
            with self.assertRaises(WebhookVerificationError) as caught:
                verify_webhook(SECRET, rest, BODY, now=NOW)
            self.assertEqual(caught.exception.reason, "missing_header")

    def test_wrong_secrets(self) -> None:
        for secrets in ("YlMwy8LvOdifCFyMsOoG", "whsec_?", [], [SECRET, ""]):
            with self.assertRaises(ValueError):
                verify_webhook(secrets, HEADERS, BODY, now=NOW)
