"""The client of a Cardwall server."""

from __future__ import annotations

from .operations import Operations


class Client(Operations):
    """A client of a Cardwall server. Threads can share it.

    Each operation of the API has a method of the same name, such as list_boards and create_card,
    which returns the body of the response as a dictionary. Each list with pages also has an
    iterator over all of its records, such as iterate_boards.

    A request that fails because of the network, or with 429, 502, 503 or 504, is sent again, up to
    max_retries times. The client waits as long as the server asks for, but raises the error at once
    if that is longer than max_wait seconds. All tries of a write have the same idempotency key, so
    that it does not happen twice.

    Args:
        base_url: The address of the server, such as https://cardwall.example.com.
        token: An API token.
        timeout: How many seconds a try may take.
        max_retries: How often a request is repeated.
        max_wait: The longest pause between two tries, in seconds.
        user_agent: The name of the program in the server's log.
        ssl_context: How to verify the server's certificate.
    """
