"""What `arena admin`'s client makes of every answer of a server."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import AbstractContextManager, suppress

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from tests.ports import deaf_port
from tests.slices import all_of

from arena_server.errors import ArenaError, ConfigError
from arena_server.web import client
from arena_server.web.admin_file import Access
from arena_server.web.app import application
from arena_server.web.bridge import NOT_STARTED

from .running import TOKEN, Running, running


class Answering:
    """A server that gives one answer to everything, and keeps what it was sent."""

    def __init__(self, status: int, value: object) -> None:
        self._response: Response = (
            PlainTextResponse(value, status) if isinstance(value, str) else JSONResponse(value, status)
        )
        self.bodies: list[object] = []
        self.tokens: list[str | None] = []
        routes = [Route("/orders", self._answer, methods=["POST"]), Route("/status", self._answer)]
        self._routes = routes

    def serve(self) -> AbstractContextManager[Running]:
        return running(lambda: application(self._routes))

    async def _answer(self, request: Request) -> Response:
        self.bodies.append(json.loads(await request.body() or "null"))
        self.tokens.append(request.headers.get("authorization"))
        return self._response


def access(server: Running) -> Access:
    return Access(server.address, TOKEN)


class TestClient:
    def test_an_order_as_it_goes_over_the_wire(self) -> None:
        answering = Answering(200, {"done": True})
        with answering.serve() as server:
            client.order(access(server), "kick", "flooder")
        assert answering.bodies == [{"verb": "kick", "target": "flooder"}]
        assert answering.tokens == [f"Bearer {TOKEN}"]

    def test_the_status(self) -> None:
        with Answering(200, {"state": "open"}).serve() as server:
            assert client.status(access(server)) == {"state": "open"}
            # As the server prints it.
            assert client.status(Access(f"http://{server.address}/", TOKEN)) == {"state": "open"}

    def test_an_order_that_is_refused(self) -> None:
        with (
            Answering(409, {"error": "no game 'g9' is running"}).serve() as server,
            pytest.raises(client.OrderRefused, match=r"^no game 'g9' is running$"),
        ):
            client.order(access(server), "void", "g9")

    @all_of(
        ("status", "value", "line"),
        [
            (
                401,
                {"error": "a wrong token, or none"},
                "the server at {} has another token; see ARENA_ADMIN_TOKEN, or the file beside its database",
            ),
            (
                503,
                {"error": "no answer from the loop within 1 s"},
                "the server at {}: no answer from the loop within 1 s",
            ),
            (500, {}, "the server at {}: Internal Server Error"),
            (
                200,
                "welcome to my page",
                "at {} there is something, but not the admin port of an arena server",
            ),
            (200, [], "at {} there is something, but not the admin port of an arena server"),
        ],
    )
    def test_any_other_answer(self, status: int, value: object, line: str) -> None:
        with Answering(status, value).serve() as server, pytest.raises(ArenaError) as caught:
            client.status(access(server))
        assert str(caught.value) == line.format(server.address)

    def test_no_server(self) -> None:
        with deaf_port() as port:
            address = f"127.0.0.1:{port}"
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

    def test_an_answer_that_drips_for_ever(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(client, "TIMEOUT_S", 0.3)
        gone = threading.Event()

        def drip() -> None:
            sock, _ = listener.accept()
            with sock, suppress(OSError):
                sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
                while not gone.wait(0.01):
                    sock.sendall(b" ")

        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=drip, daemon=True).start()
            address = f"127.0.0.1:{listener.getsockname()[1]}"
            with pytest.raises(ArenaError, match=rf"^the server at {address} did not answer within 0 s$"):
                client.status(Access(address, TOKEN))
            gone.set()

    @all_of("address", ["nowhere", ":80", "host:", "host:0", "host:x", "host:65536", "h:²", "ftp://host:80"])
    def test_an_address_that_is_none(self, address: str) -> None:
        with pytest.raises(ConfigError) as caught:
            client.status(Access(address, TOKEN))
        assert str(caught.value) == f"--connect: expected HOST:PORT, got {address!r}"


@pytest.mark.parametrize("opening", [0, 1, client.OPENING_TRIES, client.OPENING_TRIES + 1])
def test_a_server_that_opens_its_database_is_asked_again(
    opening: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, pauses = list[object](), list[float]()

    def ask(*given: object) -> tuple[int, dict[str, object]]:
        asked.append(given)
        return (503, {"error": NOT_STARTED}) if len(asked) <= opening else (200, {"done": True})

    monkeypatch.setattr(client, "_ask", ask)
    monkeypatch.setattr("time.sleep", pauses.append)
    to = Access("127.0.0.1:1", TOKEN)
    if opening <= client.OPENING_TRIES:
        assert client.order(to, "pause", "") == {"done": True}
        assert len(asked) == opening + 1
    else:
        with pytest.raises(ArenaError, match=rf"^the server at 127.0.0.1:1: {NOT_STARTED}$"):
            client.order(to, "pause", "")
    assert asked == asked[:1] * len(asked)
    assert pauses == [client.OPENING_PAUSE_S] * (len(asked) - 1)
