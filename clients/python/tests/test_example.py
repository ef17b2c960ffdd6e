"""Tests of the example program that need no real server."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import importlib.util
import io
import json
import socket
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path
from types import ModuleType
from unittest import mock

from tests.fake import FakeServerTest, Reply

KEY = b"key of this test"
SECRET = "whsec_" + base64.b64encode(KEY).decode()


def load() -> ModuleType:
    """Return the example program as a module."""
    path = Path(__file__).parents[1] / "examples" / "board.py"
    spec = importlib.util.spec_from_file_location("board", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


board = load()


def deliver(port: int, event_id: str, kind: str = "card.moved", key: bytes = KEY) -> int:
    """Send a delivery, and return the status of the response."""
    body = json.dumps({"id": event_id, "type": kind}).encode()
    signed = f"{event_id}.{int(time.time())}."
    digest = hmac.new(key, signed.encode() + body, hashlib.sha256).digest()
    headers = {
        "webhook-id": event_id,
        "webhook-timestamp": signed.split(".")[1],
        "webhook-signature": "v1," + base64.b64encode(digest).decode(),
    }
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", body, headers)
    try:
        with urllib.request.urlopen(request) as response:
            status: int = response.status
            return status
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


class ImportTest(FakeServerTest):
    def test_missing_column(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "cards.csv"
            file.write_text("list,title\nA,B\n")
            with self.assertRaisesRegex(ValueError, "lacks the columns description, due"):
                board.import_csv(self.client, "Board", str(file))
        self.assertEqual(self.calls, [])


class WatchTest(FakeServerTest):
    def test_duplicates_and_forgeries(self) -> None:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port: int = s.getsockname()[1]
        ready = threading.Event()
        created = Reply(201, {"data": {"id": "whk_1", "secret": SECRET}}, before=ready.set)
        self.reply(created, Reply(body={"data": {"id": "whk_1"}}))
        output, log = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(log):
            arguments = (self.client, "brd_1", port, 2)
            watcher = threading.Thread(target=board.watch, args=arguments)
            watcher.start()
            ready.wait(5)
            got = [
                deliver(port, "e1"),
                deliver(port, "e1"),
                deliver(port, "e2", key=b"another key"),
                deliver(port, "e2", "comment.added"),
            ]
            watcher.join(5)
        self.assertEqual(got, [204, 204, 401, 204])
        self.assertEqual(output.getvalue(), "card.moved e1\ncomment.added e2\n")
        self.assertEqual(self.calls[0].json["url"], f"http://127.0.0.1:{port}/")
        self.assertEqual((self.calls[1].method, self.calls[1].path[-6:]), ("DELETE", "/whk_1"))


class CatchUpTest(FakeServerTest):
    def page(self, *versions: int, more: str = "") -> Reply:
        """Return a page of changes."""
        changes = [{"boardVersion": v, "type": "card.moved"} for v in versions]
        body: dict[str, object] = {"data": changes, "boardVersion": max(versions)}
        return Reply(body=body | ({"nextCursor": more} if more else {}))

    def test_cursor(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "cursor"
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                self.reply(self.page(1, 2, more="c"), self.page(3, 4))
                board.catch_up(self.client, "brd_1", str(file))
                self.reply(self.page(5))
                board.catch_up(self.client, "brd_1", str(file))
            self.assertEqual([line[0] for line in output.getvalue().splitlines()], list("12345"))
            since = [call.query.get("since") for call in self.calls]
            self.assertEqual(since, [None, None, "4"])
            self.assertEqual(file.read_text(), "5\n")

    def test_cursor_is_written_after_printing(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "cursor"
            self.reply(self.page(1))
            output = mock.Mock()
            output.flush.side_effect = BrokenPipeError
            with contextlib.redirect_stdout(output), self.assertRaises(BrokenPipeError):
                board.catch_up(self.client, "brd_1", str(file))
            self.assertFalse(file.exists())
