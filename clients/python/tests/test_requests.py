"""Tests of requests: arguments, results and pages."""

from __future__ import annotations

import typing
import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import is_typeddict

from cardwall import OMITTED, Client, info, models
from tests.fake import FakeServerTest, Reply

CARD = {"data": {"id": "crd_1", "title": "A"}, "boardVersion": 7}


class ArgumentsTest(FakeServerTest):
    def test_address_and_headers(self) -> None:
        self.reply(Reply(body=CARD))
        self.client.get_card("crd_1")
        call = self.calls[0]
        self.assertEqual((call.method, call.path), ("GET", "/api/public/v1/cards/crd_1"))
        self.assertEqual(call.headers["authorization"], "Bearer token")
        self.assertRegex(call.headers["user-agent"], r"^cardwall-python/\d")
        self.assertNotIn("idempotency-key", call.headers)
        self.assertNotIn("content-type", call.headers)

    def test_base_urls(self) -> None:
        for suffix in ("", "/", "/api/public/v1", "/api/public/v1/"):
            self.reply(Reply(body={"data": {}}))
            Client(self.url + suffix, "token").get_me()
            self.assertEqual(self.calls[-1].path, "/api/public/v1/me")
        self.reply(Reply(body={"data": {}}))
        Client(self.url + "/wall", "token").get_me()
        self.assertEqual(self.calls[-1].path, "/wall/api/public/v1/me")
        for url in ("cardwall.example.com", "ftp://example.com", "http://", "http://a/?b"):
            with self.assertRaises(ValueError):
                Client(url, "token")

    def test_query(self) -> None:
        self.reply(Reply(body={"data": []}))
        self.client.list_boards(workspace_id="w&=ü", include_archived=True, limit=3)
        want = {"workspaceId": "w&=ü", "includeArchived": "true", "limit": "3"}
        self.assertEqual(self.calls[0].query, want)

    def test_path_is_quoted(self) -> None:
        self.reply(Reply(body={"data": {}}))
        self.client.get_delivery("itg_1:v2/../x?y")
        self.assertEqual(self.calls[0].path, "/api/public/v1/deliveries/itg_1%3Av2%2F..%2Fx%3Fy")
        for bad in ("", ".", ".."):
            with self.assertRaises(ValueError):
                self.client.get_card(bad)

    def test_body(self) -> None:
        self.reply(*[Reply(body=CARD)] * 3)
        self.client.create_card("lst_1", "A", due={"dueDate": "2026-03-14"})
        want = {"listId": "lst_1", "title": "A", "due": {"dueDate": "2026-03-14"}}
        self.assertEqual(self.calls[0].json, want)
        self.assertEqual(self.calls[0].headers["content-type"], "application/json")
        self.client.set_card_due("crd_1", due_date=None)
        self.assertEqual(self.calls[1].json, {"dueDate": None})
        self.client.set_card_due("crd_1", due_date=OMITTED, start_date="2026-03-10")
        self.assertEqual(self.calls[2].json, {"startDate": "2026-03-10"})

    def test_if_match(self) -> None:
        self.reply(Reply(body=CARD, headers={"ETag": '"1"'}), Reply(body=CARD))
        card = self.client.get_card("crd_1")
        self.client.update_card("crd_1", title="B", if_match=info(card).etag)
        self.assertEqual(self.calls[1].headers["if-match"], '"1"')

    def test_file(self) -> None:
        self.reply(Reply(201, {"data": {}}), Reply(status=204), Reply(body={"data": {}}))
        self.client.add_attachment_file("crd_1", b"\x00\r\nfile", name='a".txt')
        body, media = self.calls[0].body, self.calls[0].headers["content-type"]
        boundary = media.removeprefix("multipart/form-data; boundary=").encode()
        self.assertEqual(
            body,
            b"--%b\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\na\".txt\r\n"
            b"--%b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a%%22.txt\"\r\n"
            b"Content-Type: application/octet-stream\r\n\r\n\x00\r\nfile\r\n--%b--\r\n"
            % (boundary, boundary, boundary),
        )
        self.client.append_upload("upl_1", 5, b"part")
        self.assertEqual(self.calls[1].headers["upload-offset"], "5")
        self.assertEqual(self.calls[1].body, b"part")
        self.client.set_background("brd_1", b"png", "image/png")
        self.assertEqual(self.calls[2].headers["content-type"], "image/png")


class ResultsTest(FakeServerTest):
    def test_result(self) -> None:
        headers = {"X-Request-Id": "req_1", "Idempotent-Replayed": "true", "ETag": '"9"'}
        self.reply(Reply(201, CARD, headers), Reply(200, CARD))
        result = self.client.create_card("lst_1", "A")
        self.assertEqual(result, CARD)
        got = info(result)
        self.assertEqual((got.status, got.request_id, got.etag), (201, "req_1", '"9"'))
        self.assertTrue(got.replayed)
        self.assertFalse(info(self.client.create_card("lst_1", "A")).replayed)
        with self.assertRaises(TypeError):
            info({})

    def test_binary(self) -> None:
        self.reply(Reply(body=b"\x00\xff"))
        self.assertEqual(self.client.download_attachment("att_1"), b"\x00\xff")

    def test_connections_are_reused(self) -> None:
        self.reply(*[Reply(body=CARD)] * 3)
        for _ in range(3):
            self.client.get_card("crd_1")
        self.assertEqual(len({call.connection for call in self.calls}), 1)

    def test_threads_share_a_client(self) -> None:
        self.reply(*[Reply(body=CARD)] * 80)
        with ThreadPoolExecutor(8) as pool:
            got = list(pool.map(self.client.get_card, [f"crd_{i}" for i in range(80)]))
        self.assertEqual(got, [CARD] * 80)
        self.assertEqual(len({call.path for call in self.calls}), 80)

    def test_chunks(self) -> None:
        chunked = {"Transfer-Encoding": "chunked"}
        chunks = b"5\r\n{\"dat\r\n5\r\na\":1}\r\n0\r\n\r\n"
        self.reply(Reply(body=chunks[:20], headers=chunked), Reply(body=chunks, headers=chunked))
        self.client.get_me()
        self.reply(Reply(body=CARD))
        self.client.get_me()
        self.assertEqual(len(self.calls), 3)
        self.assertEqual(self.calls[1].connection, self.calls[2].connection)

    def test_request(self) -> None:
        self.reply(Reply(body={"data": 1}))
        got = self.client.request("POST", "/new", body={"a": None}, key="k")
        self.assertEqual((got, self.calls[0].json), ({"data": 1}, {"a": None}))
        self.assertEqual(self.calls[0].headers["idempotency-key"], "k")


class PagesTest(FakeServerTest):
    def test_iterate(self) -> None:
        self.reply(
            Reply(body={"data": [{"id": "a"}, {"id": "b"}], "nextCursor": "c1"}),
            Reply(body={"data": [], "nextCursor": "c2"}),
            Reply(body={"data": [{"id": "c"}]}),
        )
        cards = self.client.iterate_cards("brd_1", label="l", limit=2)
        self.assertEqual([card["id"] for card in cards], ["a", "b", "c"])
        self.assertEqual([call.query.get("cursor") for call in self.calls], [None, "c1", "c2"])
        self.assertEqual({call.query["label"] for call in self.calls}, {"l"})

    def test_iterate_reads_ahead_of_nothing(self) -> None:
        self.reply(Reply(body={"data": [{"id": "a"}], "nextCursor": "c1"}))
        next(self.client.iterate_boards())
        self.assertEqual(len(self.calls), 1)

    def test_pages(self) -> None:
        self.reply(
            Reply(body={"data": [], "nextCursor": "c1", "boardVersion": 5}),
            Reply(body={"data": [], "boardVersion": 6}),
        )
        pages = self.client.pages(self.client.list_board_changes, "brd_1", since=3)
        self.assertEqual([page["boardVersion"] for page in pages], [5, 6])
        self.assertEqual(self.calls[1].query, {"since": "3", "cursor": "c1"})


class ModelsTest(unittest.TestCase):
    def test_hints(self) -> None:
        """All types that records refer to exist, with the right keys."""
        classes = [c for c in vars(models).values() if is_typeddict(c)]
        self.assertGreater(len(classes), 200)
        for c in classes:
            self.assertEqual(set(typing.get_type_hints(c)), set(c.__annotations__))
        self.assertIn("nextCursor", models.CardPage.__optional_keys__)
        self.assertEqual(models.CardPage.__required_keys__, {"data"})
        self.assertEqual(models.FromTo.__required_keys__, {"from", "to"})
        self.assertIn("from", models.DigestItem.__optional_keys__)
