"""Tests against a real server, which CARDWALL_BIN names, through a network that fails."""

from __future__ import annotations

import csv
import inspect
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import typing
import unittest
import urllib.request
from pathlib import Path
from typing import Any
from unittest import mock

from cardwall import (
    APIError,
    Client,
    InvalidRequestError,
    NotFoundError,
    NotModified,
    UnauthenticatedError,
    VersionConflictError,
    info,
)
from cardwall.operations import Operations
from tests.proxy import FAULTS, FaultyProxy

BINARY = os.environ.get("CARDWALL_BIN", "")
ROOT = Path(__file__).parents[1]


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


def sample(kind: Any) -> object:
    """Return a value of a type."""
    for k in typing.get_args(kind) or (kind,):
        if typing.get_origin(k) is typing.Literal:
            return sample(k)
        if k in (int, bool, bytes) or isinstance(k, str):
            return {int: 1, bool: True, bytes: b"file"}.get(k, k)
    return [] if "list[" in str(kind) else "2026-01-01"


@unittest.skipUnless(BINARY, "CARDWALL_BIN is not set; run make test-python")
class ServerTest(unittest.TestCase):
    """A server with an account, a workspace and a token."""

    port: int
    token: str
    folder: str
    process: subprocess.Popen[bytes]

    @classmethod
    def setUpClass(cls) -> None:
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder, cls.port = temporary.name, free_port()
        environment = os.environ | {
            "CARDWALL_DATA": os.path.join(cls.folder, "data"),
            "CARDWALL_ADDR": f"127.0.0.1:{cls.port}",
            "CARDWALL_BASE_URL": f"http://127.0.0.1:{cls.port}",
            "CARDWALL_WEBHOOK_ALLOW": "127.0.0.1",
            "CARDWALL_RATE_LIMITS": "off",
        }

        def run(*arguments: str) -> str:
            command = [BINARY, *arguments]
            got = subprocess.run(command, env=environment, capture_output=True, text=True)
            if got.returncode != 0:
                raise AssertionError(got.stderr)
            return got.stdout.strip()

        run("user", "add", "--email=ada@example.com", "--name=Ada")
        run("workspace", "add", "--owner=ada@example.com", "--name=Engines")
        scopes = "--scopes=read,write,admin"
        cls.token = run("token", "add", "--user=ada@example.com", "--name=test", scopes)
        with open(os.path.join(cls.folder, "log"), "wb") as log:
            command = [BINARY, "serve"]
            cls.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        cls.addClassCleanup(cls.process.wait)
        cls.addClassCleanup(cls.process.terminate)
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{cls.port}/readyz").close()
                return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("the server did not start")

    def setUp(self) -> None:
        self.client = Client(f"http://127.0.0.1:{self.port}", self.token)
        self.addCleanup(self.client.close)
        self.workspace_id = self.client.list_workspaces()["data"][0]["id"]

    def proxy(self, *faults: str) -> FaultyProxy:
        """Start a proxy before the server."""
        proxy = FaultyProxy(self.port, faults or FAULTS)
        threading.Thread(target=proxy.serve_forever, args=(0.05,), daemon=True).start()
        self.addCleanup(proxy.server_close)
        self.addCleanup(proxy.shutdown)
        return proxy

    def example(self, url: str, *arguments: str) -> subprocess.Popen[str]:
        """Start the example program."""
        environment = os.environ | {
            "CARDWALL_URL": url,
            "CARDWALL_TOKEN": self.token,
            "PYTHONPATH": str(ROOT / "src"),
        }
        program = [sys.executable, str(ROOT / "examples" / "board.py"), *arguments]
        return subprocess.Popen(program, env=environment, stdout=subprocess.PIPE, text=True)

    def output(self, url: str, *arguments: str) -> str:
        """Return what the example program prints."""
        with self.example(url, *arguments) as process:
            output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        return output.strip()

    def test_nothing_happens_twice(self) -> None:
        proxy = self.proxy()
        client = Client(proxy.url, self.token)
        self.addCleanup(client.close)
        with mock.patch("random.uniform", lambda low, high: high / 100):
            board = client.create_board(self.workspace_id, "Faults", lists=[{"name": "A"}])
            board_id, list_id = board["data"]["id"], board["data"]["lists"][0]["id"]
            self.assertTrue(info(board).replayed)
            card_id = client.create_card(list_id, "One")["data"]["id"]
            client.create_cards(board_id, [{"listId": list_id, "title": t} for t in "bcd"])
            client.add_comment(card_id, "Hello")
            client.add_attachment_file(card_id, b"file", name="a.txt")
            client.batch([
                {"operation": "create_label", "input": {"boardId": board_id, "color": "red"}},
                {"operation": "add_comment", "input": {"cardId": card_id, "text": "Again"}},
            ])
            titles = [card["title"] for card in client.iterate_cards(board_id, limit=2)]
        self.assertEqual(titles, ["One", "b", "c", "d"])
        self.assertTrue(all(proxy.injected[fault] >= 7 for fault in FAULTS), proxy.injected)
        types = [
            change["type"]
            for change in self.client.iterate_board_changes(board_id)
            if not change["type"].startswith(("board", "list"))
        ]
        want = ["card.created"] * 4 + ["comment.added", "attachment.added", "label.created"]
        self.assertEqual(types, want + ["comment.added"])
        names = [b["name"] for b in self.client.iterate_boards()]
        self.assertEqual(names.count("Faults"), 1)

    def test_errors(self) -> None:
        client = self.client
        with Client(f"http://127.0.0.1:{self.port}", "wrong") as wrong:
            with self.assertRaises(UnauthenticatedError):
                wrong.get_me()
        with self.assertRaises(NotFoundError):
            client.get_card("crd_01jb2m3n4p5q6r7s8t9v0w1x2y")
        with self.assertRaises(InvalidRequestError) as invalid:
            client.create_board(self.workspace_id, "")
        self.assertEqual(invalid.exception.details[0]["field"], "name")
        self.assertTrue(invalid.exception.request_id)
        board_id = client.create_board(self.workspace_id, "Errors")["data"]["id"]
        old = client.get_board(board_id)
        with self.assertRaises(NotModified):
            client.get_board(board_id, if_none_match=info(old).etag)
        client.update_board(board_id, name="New", color=None, if_match=info(old).etag)
        with self.assertRaises(VersionConflictError) as conflict:
            client.update_board(board_id, name="Newer", if_match=info(old).etag)
        assert conflict.exception.current is not None
        self.assertEqual(conflict.exception.current["name"], "New")
        client.update_board(board_id, name="Newer", if_match=conflict.exception.etag)
        client.create_list(board_id, "A", idempotency_key="once")
        with self.assertRaises(InvalidRequestError):
            client.create_list(board_id, "B", idempotency_key="once")

    def test_every_parameter(self) -> None:
        """The server knows each parameter of each operation."""
        count = 0
        for name, method in inspect.getmembers(self.client, inspect.ismethod):
            if name not in vars(Operations) or name.startswith("iterate_"):
                continue
            values = {p: sample(t) for p, t in typing.get_type_hints(method).items()}
            required = inspect.getfullargspec(method).args[1:]
            for parameter in [None, *inspect.getfullargspec(method).kwonlyargs]:
                if parameter in ("idempotency_key", "if_match", "if_none_match"):
                    continue
                count += 1
                with self.subTest(name, parameter=parameter):
                    try:
                        method(**{p: values[p] for p in [*required, parameter] if p})
                    except APIError as error:
                        self.assertNotIn("unknown", [d["rule"] for d in error.details], error)
        self.assertGreater(count, 400)

    def test_upload(self) -> None:
        board = self.client.create_board(self.workspace_id, "Files", lists=[{"name": "A"}])["data"]
        card_id = self.client.create_card(board["lists"][0]["id"], "One")["data"]["id"]
        upload_id = self.client.create_upload(card_id, 6, file_name="b.txt")["data"]["id"]
        self.client.append_upload(upload_id, 0, b"abc")
        self.client.append_upload(upload_id, 3, b"def")
        attachment = next(self.client.iterate_attachments(card_id))
        self.assertEqual(attachment["name"], "b.txt")
        self.assertEqual(self.client.download_attachment(attachment["id"]), b"abcdef")
        self.assertTrue(self.client.export_board(board["id"])["complete"])

    def test_example(self) -> None:
        proxy = self.proxy("cut before", "", "cut after", "refuse", "")
        table = os.path.join(self.folder, "cards.csv")
        with open(table, "w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["list", "title", "description", "due"])
            for i in range(230):
                due = "2026-12-01" if i == 0 else ""
                rows.writerow([f"List {i % 3}", f"Card {i}", "Ümlaut, \n" if i == 1 else "", due])
        board_id = self.output(proxy.url, "import", "Imported", table)
        board = self.client.get_board(board_id)["data"]
        self.assertEqual([n["name"] for n in board["lists"]], ["List 0", "List 1", "List 2"])
        cards = list(self.client.iterate_cards(board_id, limit=200))
        titles = [f"Card {i}" for n in range(3) for i in range(n, 230, 3)]
        self.assertEqual([card["title"] for card in cards], titles)
        self.assertEqual(cards[0]["dueDate"], "2026-12-01")
        texts = {card["title"]: card["description"] for card in cards}
        self.assertEqual(texts["Card 1"].strip(), "Ümlaut,")

        self.client.archive_card(cards[5]["id"])
        self.assertEqual(self.output(proxy.url, "edit", board_id, "Seen"), "229")
        self.assertEqual(self.output(proxy.url, "edit", board_id, "Seen"), "0")

        cursor = os.path.join(self.folder, "cursor")
        lines = self.output(proxy.url, "catch-up", board_id, cursor).splitlines()
        changes = self.client.iterate_board_changes(board_id)
        self.assertEqual(lines, [f"{c['boardVersion']} {c['type']}" for c in changes])
        self.assertGreater(len(lines), 400)
        self.assertEqual(self.output(proxy.url, "catch-up", board_id, cursor), "")
        self.client.add_comment(cards[0]["id"], "Hello")
        line = self.output(proxy.url, "catch-up", board_id, cursor)
        self.assertRegex(line, r"^\d+ comment\.added$")

    def test_first_program_of_the_readme(self) -> None:
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        program = text.split("```python\n")[1].split("```")[0]
        environment = os.environ | {
            "CARDWALL_URL": f"http://127.0.0.1:{self.port}",
            "CARDWALL_TOKEN": self.token,
            "PYTHONPATH": str(ROOT / "src"),
        }
        arguments = [sys.executable, "-c", program]
        got = subprocess.run(arguments, env=environment, capture_output=True, check=True, text=True)
        self.assertRegex(got.stdout, r"^Mill: http://127.0.0.1:\d+/cards/crd_\w+\n$")

    def test_watch(self) -> None:
        proxy = self.proxy("cut before", "cut after", "")
        created = self.client.create_board(self.workspace_id, "Watched", lists=[{"name": "A"}])
        board = created["data"]
        with self.example(proxy.url, "watch", board["id"], str(free_port()), "3") as process:
            for _ in range(100):
                if self.client.list_webhooks(self.workspace_id)["data"]:
                    break
                time.sleep(0.1)
            card_id = self.client.create_card(board["lists"][0]["id"], "One")["data"]["id"]
            self.client.add_comment(card_id, "Hello")
            self.client.update_card(card_id, done=True)
            output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        lines = [line.split() for line in output.splitlines()]
        self.assertEqual(
            sorted(line[0] for line in lines), ["card.completed", "card.created", "comment.added"]
        )
        self.assertEqual(len({line[1] for line in lines}), 3)
        self.assertEqual(self.client.list_webhooks(self.workspace_id)["data"], [])
