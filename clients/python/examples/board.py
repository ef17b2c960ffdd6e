"""Imports, watches, follows and edits boards.

    board.py import NAME FILE.csv    create a board from a CSV file
    board.py watch BOARD PORT COUNT  receive COUNT events of a board
    board.py catch-up BOARD FILE     print the changes since the last run
    board.py edit BOARD LABEL        add a label to all open cards

CARDWALL_URL is the address of the server, and CARDWALL_TOKEN an API token with the scopes read and
write, and admin for watch.
"""

from __future__ import annotations

import csv
import os
import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Iterator, TypeVar

from cardwall import CardwallError, Client, WebhookVerificationError, verify_webhook
from cardwall.models import CreateCardInput

T = TypeVar("T")
BATCH = 100  # the most cards that one request creates or changes
COLUMNS = {"list", "title", "description", "due"}
EVENTS = [
    "card.created",
    "card.updated",
    "card.moved",
    "card.completed",
    "card.reopened",
    "card.archived",
    "card.restored",
    "card.assignees_changed",
    "card.labels_changed",
    "card.due_date_changed",
    "comment.added",
]


def import_csv(client: Client, name: str, file: str) -> None:
    """Create a board with the lists and cards of a CSV file, and print its id."""
    with open(file, newline="", encoding="utf-8-sig") as source:
        table = csv.DictReader(source)
        missing = COLUMNS - set(table.fieldnames or [])
        if missing:
            raise ValueError(f"{file} lacks the columns {', '.join(sorted(missing))}")
        rows = list(table)
    names = list(dict.fromkeys(row["list"] for row in rows))  # in order of first appearance
    workspace = next(client.iterate_workspaces(limit=1))
    board = client.create_board(workspace["id"], name)["data"]
    lists = {n: client.create_list(board["id"], n)["data"]["id"] for n in names}
    cards: list[CreateCardInput] = []
    for row in rows:
        card: CreateCardInput = {"listId": lists[row["list"]], "title": row["title"]}
        if row["description"]:
            card["description"] = row["description"]
        if row["due"]:
            card["due"] = {"dueDate": row["due"]}
        cards.append(card)
    for batch in batches(cards):
        client.create_cards(board["id"], batch)
    print(board["id"])


class Receiver(ThreadingHTTPServer):
    """Receives the deliveries of a webhook, and prints each event once."""

    def __init__(self, port: int, count: int) -> None:
        super().__init__(("127.0.0.1", port), Delivery)
        self.count = count
        self.secret = ""
        self.known = threading.Event()  # whether the secret is known
        self.done = threading.Event()
        self.lock = threading.Lock()
        self.seen: set[str] = set()

    def accept(self, kind: str, event_id: str) -> None:
        """Print an event that is new."""
        with self.lock:
            if event_id not in self.seen and len(self.seen) < self.count:
                self.seen.add(event_id)
                print(kind, event_id, flush=True)


class Delivery(BaseHTTPRequestHandler):
    """Handles a delivery."""

    server: Receiver
    timeout = 10

    def do_POST(self) -> None:
        """Verify the delivery, and respond before the server is stopped."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.known.wait(5)  # a delivery can be faster than the response with the secret
        try:
            event = verify_webhook(self.server.secret, self.headers, body)
        except (WebhookVerificationError, ValueError) as error:
            print(error, file=sys.stderr)
            status = 401
        else:
            self.server.accept(event["type"], event["id"])
            status = 204
        self.send_response(status)
        self.end_headers()
        if len(self.server.seen) >= self.server.count:
            self.server.done.set()

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def watch(client: Client, board_id: str, port: int, count: int) -> None:
    """Print the events of a board until there were count different ones."""
    receiver = Receiver(port, count)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{port}/"
    webhook = client.create_webhook(url, EVENTS, board_id=board_id)["data"]
    try:
        receiver.secret = webhook["secret"]
        receiver.known.set()
        receiver.done.wait()
    finally:
        client.delete_webhook(webhook["id"])
        receiver.shutdown()


def catch_up(client: Client, board_id: str, file: str) -> None:
    """Print the changes of a board since the version in a file, and write the new version to it.

    If the program stops in between, the next run prints some changes again, but skips none.
    """
    path = Path(file)
    version = int(path.read_text()) if path.exists() else None
    for page in client.pages(client.list_board_changes, board_id, since=version, limit=200):
        for change in page["data"]:
            print(change["boardVersion"], change["type"])
        version = page.get("boardVersion", version)
    sys.stdout.flush()
    new = path.with_name(path.name + ".new")
    new.write_text(f"{version}\n")
    new.replace(path)


def edit(client: Client, board_id: str, name: str) -> None:
    """Add a label to all open cards of a board, and print how many did not have it."""
    label_id = next((n["id"] for n in client.iterate_labels(board_id) if n["name"] == name), None)
    if label_id is None:
        label_id = client.create_label(board_id, "blue", name=name)["data"]["id"]
    cards = client.iterate_cards(board_id, label_not=label_id, view="compact", limit=200)
    ids = [card["id"] for card in cards]
    for batch in batches(ids):
        client.update_cards(board_id, card_ids=batch, add_labels=[label_id])
    print(len(ids))


def batches(items: list[T]) -> Iterator[list[T]]:
    """Split a list into parts that one request can take."""
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]


def main() -> int:
    """Run the command in the arguments of the program."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that watch deletes its webhook
    with Client(os.environ["CARDWALL_URL"], os.environ["CARDWALL_TOKEN"]) as client:
        try:
            match sys.argv[1:]:
                case ["import", name, file]:
                    import_csv(client, name, file)
                case ["watch", board_id, port, count]:
                    watch(client, board_id, int(port), int(count))
                case ["catch-up", board_id, file]:
                    catch_up(client, board_id, file)
                case ["edit", board_id, label]:
                    edit(client, board_id, label)
                case _:
                    print(__doc__, file=sys.stderr)
                    return 2
        except (CardwallError, OSError, ValueError) as error:
            print(f"board: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
