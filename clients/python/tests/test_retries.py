"""Tests of retries, timeouts and closing."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from unittest import mock

from cardwall import (
    Client,
    ClosedError,
    ConflictError,
    RateLimitedError,
    TransportError,
    UnavailableError,
)
from tests.fake import FakeServerTest, Reply, refusal

CARD = {"data": {"id": "crd_1"}}
OK = Reply(body=CARD)


class RetriesTest(FakeServerTest):
    def keys(self) -> list[str]:
        return [call.headers["idempotency-key"] for call in self.calls]

    def test_all_tries_have_the_same_key(self) -> None:
        proxy = Reply(502, b"<html>", {"Content-Type": "text/html"})
        self.reply(
            refusal(503, "unavailable"),
            proxy,
            Reply(504, b""),
            Reply(cut="before"),
            Reply(body=CARD, cut="within"),
            OK,
            OK,
        )
        self.client.create_card("lst_1", "A")
        self.assertEqual(len(self.calls), 6)
        self.assertEqual(len(set(self.keys())), 1)
        self.assertEqual(len({call.body for call in self.calls}), 1)
        self.client.create_card("lst_1", "A")
        self.assertNotEqual(self.keys()[-1], self.keys()[0])

    def test_key_of_the_caller(self) -> None:
        self.reply(Reply(cut="before"), OK)
        self.client.create_card("lst_1", "A", idempotency_key="mine")
        self.assertEqual(self.keys(), ["mine", "mine"])

    def test_backoff(self) -> None:
        self.reply(*[refusal(503, "unavailable")] * 6)
        with mock.patch("random.uniform", lambda low, high: (low, high)[1]):
            with self.assertRaises(UnavailableError) as caught:
                self.client.create_card("lst_1", "A", idempotency_key="mine")
        self.assertEqual(self.waits, [0.5, 1, 2, 4, 8])
        self.assertEqual(len(self.calls), 6)
        self.assertEqual(caught.exception.idempotency_key, "mine")

    def test_jitter(self) -> None:
        self.reply(*[refusal(503, "unavailable")] * 5, OK)
        self.client.get_card("crd_1")
        self.assertTrue(all(0 <= w <= 0.5 * 2**i for i, w in enumerate(self.waits)))
        self.assertNotEqual(self.waits, [0.5, 1, 2, 4, 8])

    def test_retry_after(self) -> None:
        self.reply(refusal(429, "rate_limited", {"Retry-After": "7"}), OK)
        self.client.get_card("crd_1")
        self.assertEqual(self.waits, [7])

    def test_retry_after_is_a_date(self) -> None:
        date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 30))
        self.reply(refusal(429, "rate_limited", {"Retry-After": date}), OK)
        self.client.get_card("crd_1")
        self.assertAlmostEqual(self.waits[0], 30, delta=3)

    def test_long_retry_after(self) -> None:
        self.reply(refusal(429, "rate_limited", {"Retry-After": "3600"}))
        with self.assertRaises(RateLimitedError) as caught:
            self.client.export_board("brd_1")
        self.assertEqual((caught.exception.retry_after, self.waits), (3600, []))

    def test_first_request_in_progress(self) -> None:
        self.reply(refusal(409, "invalid_request", {"Retry-After": "1"}), OK)
        self.client.create_card("lst_1", "A")
        self.assertEqual((self.waits, len(set(self.keys()))), ([1], 1))

    def test_refusals_are_not_repeated(self) -> None:
        for status, code in ((400, "invalid_request"), (409, "archived"), (500, "internal")):
            self.reply(refusal(status, code))
            with self.assertRaises(Exception):
                self.client.create_card("lst_1", "A")
        self.assertEqual(len(self.calls), 3)
        self.reply(refusal(409, "archived"))
        with self.assertRaises(ConflictError):
            self.client.update_card("crd_1")

    def test_write_without_key(self) -> None:
        """It is repeated if the server refused it, but not if it may have happened."""
        self.reply(refusal(503, "unavailable"), Reply(status=204))
        self.client.append_upload("upl_1", 0, b"a")
        self.assertEqual(len(self.calls), 2)
        self.reply(Reply(cut="before"))
        with self.assertRaises(TransportError):
            self.client.append_upload("upl_1", 0, b"a")
        self.assertEqual(len(self.calls), 3)

    def test_max_retries(self) -> None:
        self.reply(Reply(cut="before"), Reply(cut="before"))
        with self.assertRaises(TransportError):
            self.connect(max_retries=0).get_card("crd_1")
        with self.assertRaises(TransportError):
            self.client.with_options(max_retries=0).get_card("crd_1")
        self.assertEqual(len(self.calls), 2)

    def test_refused_connection(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        with self.assertRaises(TransportError):
            self.client.get_card("crd_1")
        self.assertEqual(len(self.waits), 5)

    def test_closed_idle_connection(self) -> None:
        self.reply(Reply(body=CARD, headers={"Connection": "close"}), OK)
        self.client.get_card("crd_1")
        self.client.get_card("crd_1")
        self.assertEqual((len(self.calls), self.waits), (2, []))


class TimeoutTest(FakeServerTest):
    def test_timeout_of_a_try(self) -> None:
        gate = threading.Event()
        self.addCleanup(gate.set)
        self.reply(Reply(body=CARD, before=lambda: gate.wait(5)), OK)
        start = time.monotonic()
        self.client.with_options(timeout=0.2).get_card("crd_1")
        self.assertEqual(len(self.calls), 2)
        self.assertLess(time.monotonic() - start, 4)

    def test_slow_body(self) -> None:
        """The timeout is that of the whole try, not that of each part."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def drip() -> None:
            connection, _ = listener.accept()
            with connection, contextlib.suppress(OSError):
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n")
                for _ in range(50):
                    connection.sendall(b" ")
                    time.sleep(0.1)

        threading.Thread(target=drip, daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        start = time.monotonic()
        with Client(url, "token", timeout=0.5, max_retries=0) as client:
            with self.assertRaises(TransportError):
                client.get_me()
        self.assertLess(time.monotonic() - start, 3)

    def test_close_ends_a_pause(self) -> None:
        client = self.connect()
        self.reply(refusal(503, "unavailable", {"Retry-After": "100"}))
        threading.Timer(0.2, client.close).start()
        with self.assertRaises(ClosedError):
            client.get_card("crd_1")
        with self.assertRaises(ClosedError):
            client.get_card("crd_1")
        self.assertEqual(len(self.calls), 1)

    def test_close_ends_a_request(self) -> None:
        gate = threading.Event()
        self.addCleanup(gate.set)
        client = self.connect()
        self.reply(Reply(body=CARD, before=lambda: gate.wait(5)))
        threading.Timer(0.2, client.close).start()
        start = time.monotonic()
        with self.assertRaises(ClosedError):
            client.get_card("crd_1")
        self.assertLess(time.monotonic() - start, 4)
