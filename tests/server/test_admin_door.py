"""The admin port over real sockets: paths, the token, limits; and what its client makes of every answer."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from arena_server.admin import client
from arena_server.admin.access import Access
from arena_server.admin.door import LONGEST_BODY, MOST_REQUESTS, Answer, Door, Page, Pages
from arena_server.errors import ArenaError, ConfigError
from arena_server.sockets import address_of, bind

TOKEN = "0123456789abcdef"
PATIENCE_S = 20.0


@dataclass
class Opened:
    """A door that is open; `said` are the bodies that its pages got."""

    address: str = ""
    said: list[bytes] = field(default_factory=list)
    failures: list[BaseException] = field(default_factory=list)
    held: threading.Event = field(default_factory=threading.Event)
    inside: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def access(self, token: str = TOKEN) -> Access:
        return Access(self.address, token)

    def connect(self) -> socket.socket:
        host, _, port = self.address.rpartition(":")
        return socket.create_connection((host, int(port)), timeout=PATIENCE_S)

    def ask(self, request: str) -> tuple[int, dict[str, str], str]:
        """Status, headers and body of the answer to a request."""
        with self.connect() as sock:
            sock.sendall(request.replace("\n", "\r\n").encode("latin-1"))
            data = b""
            while chunk := sock.recv(65536):
                data += chunk
        head, _, body = data.decode().partition("\r\n\r\n")
        first, *rest = head.splitlines()
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in rest)}
        return int(first.split()[1]), headers, body


@contextmanager
def door(pages: Pages | None = None) -> Iterator[Opened]:
    """A door with pages that say what they got; it is closed at the end."""
    opened = Opened()

    def echo(body: bytes) -> Answer:
        opened.said.append(body)
        return Answer.text(200, "done")

    def hold(_: bytes) -> Answer:
        opened.inside.release()
        opened.held.wait(PATIENCE_S)
        return Answer.text(200, "at last")

    def fail(_: bytes) -> Answer:
        raise ZeroDivisionError

    standard: Pages = {
        ("GET", "/open"): Page(echo),
        ("POST", "/open"): Page(echo),
        ("POST", "/guarded"): Page(echo, guarded=True),
        ("GET", "/held"): Page(hold),
        ("GET", "/failing"): Page(fail),
    }
    sock = bind("127.0.0.1", 0)
    opened.address = address_of(sock)
    bell, rope = socket.socketpair()
    server = Door(sock, standard if pages is None else pages, TOKEN, bell, opened.failures.append)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield opened
    finally:
        opened.held.set()
        rope.send(b"\0")
        thread.join(PATIENCE_S)
        rope.close()
        bell.close()
        assert not thread.is_alive()
        assert sock.fileno() == -1  # the port is free


class TestDoor:
    def test_a_page_and_what_is_said_of_it(self) -> None:
        with door() as opened:
            status, headers, body = opened.ask("GET /open?a=b HTTP/1.1\n\n")
        assert (status, body) == (200, "done\n")
        assert headers["content-type"] == "text/plain; charset=utf-8"
        assert headers["content-length"] == "5"
        assert headers["server"].strip() == "insertion-arena"

    @pytest.mark.parametrize("request_line", ["GET /nothing", "POST /held"])
    def test_what_is_not_there(self, request_line: str) -> None:
        with door() as opened:
            status, _, body = opened.ask(f"{request_line} HTTP/1.1\n\n")
        assert status == 404
        assert body.startswith("nothing is here; there is GET /open, POST /open,")

    @pytest.mark.parametrize(
        "header",
        [
            "",
            "Authorization: Bearer wrong\n",
            f"Authorization: Bearer {TOKEN}x\n",
            "Authorization: Bearer\n",
            "Authorization: Bearer \xff\n",
            f"X-Authorization: Bearer {TOKEN}\n",
        ],
    )
    def test_without_the_token_nothing_is_done(self, header: str) -> None:
        with door() as opened:
            status, headers, body = opened.ask(f"POST /guarded HTTP/1.1\n{header}\n")
            assert (status, json.loads(body)) == (401, {"error": "a wrong token, or none"})
            assert headers["content-type"] == "application/json"
            assert opened.said == []

    def test_with_the_token_it_is_done(self) -> None:
        with door() as opened:
            head = f"POST /guarded HTTP/1.1\nAuthorization: Bearer {TOKEN}\nContent-Length: 2\n"
            assert opened.ask(f"{head}\nhi")[0] == 200
            assert opened.said == [b"hi"]

    @pytest.mark.parametrize("length", [str(LONGEST_BODY + 1), "9" * 30, "-1", "many", "²"])
    def test_a_body_too_long(self, length: str) -> None:
        with door() as opened:
            status, _, body = opened.ask(f"POST /open HTTP/1.1\nContent-Length: {length}\n\n")
            assert (status, body) == (413, f"a request may have {LONGEST_BODY} bytes at most\n")
            assert opened.said == []

    def test_a_page_that_fails_is_told_and_harms_no_other(self) -> None:
        with door() as opened:
            with opened.connect() as sock:
                sock.sendall(b"GET /failing HTTP/1.1\r\n\r\n")
                assert sock.recv(100) == b""
            assert [type(error) for error in opened.failures] == [ZeroDivisionError]
            assert opened.ask("GET /open HTTP/1.1\n\n")[0] == 200

    def test_what_is_no_http_at_all(self) -> None:
        with door() as opened:
            with opened.connect() as sock:
                sock.sendall(b"HELLO 1 mybot\n")
                assert b"400" in sock.recv(65536)
            with opened.connect() as sock:
                sock.sendall(os.urandom(100_000))
            assert opened.ask("GET /open HTTP/1.1\n\n")[0] == 200
            assert opened.failures == []

    def test_more_than_can_be_answered_at_once_are_closed(self) -> None:
        with door() as opened:
            inside = [opened.connect() for _ in range(MOST_REQUESTS)]
            for sock in inside:
                sock.sendall(b"GET /held HTTP/1.1\r\n\r\n")
                assert opened.inside.acquire(timeout=PATIENCE_S)
            with opened.connect() as beyond:
                assert beyond.recv(100) == b""
            opened.held.set()
            for sock in inside:
                with sock:
                    assert sock.recv(100).startswith(b"HTTP/1.0 200")

    def test_a_client_that_says_nothing_does_not_hold_up_the_end(self) -> None:
        with door() as opened:
            silent = opened.connect()
        silent.close()


def answering(status: int, value: object) -> Pages:
    page = Page(lambda _: Answer.json(status, value))
    return {("POST", "/orders"): page, ("GET", "/status"): page}


class TestClient:
    def test_an_order_as_it_goes_over_the_wire(self) -> None:
        bodies: list[bytes] = []

        def obey(body: bytes) -> Answer:
            bodies.append(body)
            return Answer.json(200, {"done": True})

        with door({("POST", "/orders"): Page(obey, guarded=True)}) as opened:
            client.order(opened.access(), "kick", "flooder")
        assert [json.loads(body) for body in bodies] == [{"verb": "kick", "target": "flooder"}]

    def test_the_status(self) -> None:
        with door(answering(200, {"state": "open"})) as opened:
            assert client.status(opened.access()) == {"state": "open"}

    def test_an_order_that_is_not_obeyed(self) -> None:
        with (
            door(answering(409, {"error": "no game 'g9' is running"})) as opened,
            pytest.raises(client.OrderRefused, match=r"^no game 'g9' is running$"),
        ):
            client.order(opened.access(), "void", "g9")

    def test_a_wrong_token(self) -> None:
        with (
            door({("GET", "/status"): Page(lambda _: Answer.json(200, {}), guarded=True)}) as opened,
            pytest.raises(ArenaError) as caught,
        ):
            client.status(opened.access("another"))
        assert str(caught.value) == (
            f"the server at {opened.address} has another token; see ARENA_ADMIN_TOKEN, "
            "or the file beside its database"
        )

    def test_a_server_in_trouble(self) -> None:
        with (
            door(answering(503, {"error": "no answer from the loop within 1 s"})) as opened,
            pytest.raises(ArenaError) as caught,
        ):
            client.status(opened.access())
        assert str(caught.value) == f"the server at {opened.address}: no answer from the loop within 1 s"

    def test_something_else_is_there(self) -> None:
        with (
            door({("GET", "/status"): Page(lambda _: Answer.text(200, "welcome to my page"))}) as opened,
            pytest.raises(ArenaError) as caught,
        ):
            client.status(opened.access())
        assert str(caught.value) == (
            f"at {opened.address} there is something, but not the admin port of an arena server"
        )

    def test_nobody_is_there(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ArenaError) as caught:
            client.status(Access(address, TOKEN))
        assert str(caught.value) == (
            f"no server answers at {address} (Connection refused); is it running, with --admin-port?"
        )

    def test_a_connection_that_is_cut(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=lambda: listener.accept()[0].close(), daemon=True).start()
            address = f"127.0.0.1:{listener.getsockname()[1]}"
            with pytest.raises(ArenaError, match=rf"^no server answers at {address} \("):
                client.status(Access(address, TOKEN))

    def test_a_server_that_does_not_answer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(client, "TIMEOUT_S", 0.05)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = f"127.0.0.1:{listener.getsockname()[1]}"
            with pytest.raises(ArenaError, match=rf"^the server at {address} did not answer within 0 s$"):
                client.status(Access(address, TOKEN))

    @pytest.mark.parametrize("address", ["nowhere", ":80", "host:", "host:0", "host:x", "host:65536", "h:²"])
    def test_an_address_that_is_none(self, address: str) -> None:
        with pytest.raises(ConfigError) as caught:
            client.status(Access(address, TOKEN))
        assert str(caught.value) == f"--connect: expected HOST:PORT, got {address!r}"
