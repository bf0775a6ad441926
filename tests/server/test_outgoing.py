"""Calls to servers of others: one deadline for all steps, bounded answers, connections that are kept."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress

import pytest
from tests.slices import all_of

from arena_server.webhooks import outgoing
from arena_server.webhooks.outgoing import CallError, HttpConnection

PATIENCE_S = 150.0
#: An answer is bytes, or a sequence of bytes that are sent over and over until the client is gone.
Answer = bytes | list[bytes]
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Peer:
    """Answers each request on each connection with the next answer; after the last it closes."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self._answers = list(answers)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.connections = 0
        self.requests: list[bytes] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while self._answers:
            with suppress(OSError):
                sock, _ = self._listener.accept()
                self.connections += 1
                with sock:
                    self._answer(sock)

    def _answer(self, sock: socket.socket) -> None:
        while self._answers:
            data = b""
            while not data.endswith(b"body"):
                if not (part := sock.recv(65536)):
                    return
                data += part
            self.requests.append(data)
            answer = self._answers.pop(0)
            if isinstance(answer, bytes):
                sock.sendall(answer)
                if b"close" in answer:
                    return
            else:
                while not self._ended.wait(0.01):
                    for part in answer:
                        sock.sendall(part)

    def close(self) -> None:
        self._ended.set()
        self._answers.clear()
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port)).close()
        self._thread.join(PATIENCE_S)
        self._listener.close()


@contextmanager
def peer(*answers: Answer) -> Iterator[Peer]:
    found = Peer(answers)
    try:
        yield found
    finally:
        found.close()


def call(connection: HttpConnection, limit_s: float = PATIENCE_S) -> int:
    return connection.call("POST", "/hook?a=b", (("webhook-id", "7"),), b"body", limit_s)


def once(scheme: str, host: str, port: int, limit_s: float = PATIENCE_S) -> int:
    with closing(HttpConnection(scheme, host, port)) as connection:
        return call(connection, limit_s)


def test_a_request() -> None:
    with peer(OK) as found:
        assert once("http", "127.0.0.1", found.port) == 200
        assert found.requests == [
            b"POST /hook?a=b HTTP/1.1\r\nhost: 127.0.0.1:%d\r\naccept-encoding: identity\r\n"
            b"content-length: 4\r\nwebhook-id: 7\r\n\r\nbody" % found.port
        ]


@all_of(
    ("answers", "connections"),
    [
        ([OK, OK, OK], 1),
        # After these the connection cannot be used again.
        ([b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n", OK], 2),
        ([b"HTTP/1.0 200 OK\r\n\r\nclose", OK], 2),
        ([b"HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\nnot all of it", OK], 2),
        ([b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok, and more", OK], 2),
        ([b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nno number\r\n", OK], 2),
        ([b"HTTP/1.1 103 Early Hints\r\n\r\n" * 3 + OK, OK], 1),
    ],
)
def test_a_connection_is_kept_where_the_server_keeps_it(answers: list[bytes], connections: int) -> None:
    with peer(*answers) as found:
        with closing(HttpConnection("http", "127.0.0.1", found.port)) as connection:
            assert [call(connection) for _ in answers] == [200] * len(answers)
        assert (found.connections, len(found.requests)) == (connections, len(answers))


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b"HTTP/1.1 200 close", "it closed the connection without an answer"),
        (b"no HTTP\r\n\r\n", "what it answered is not HTTP"),
        (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 20_000, "no answer within 64 KiB"),
        ([b"HTTP/1.1 100 Continue\r\n\r\n" * 100], "no answer within 64 KiB"),
    ],
    ids=["half", "other", "head", "interim"],
)
def test_what_is_no_answer(answer: Answer, problem: str) -> None:
    with peer(answer, OK) as found, pytest.raises(CallError, match=f"^{problem}$"):
        once("http", "127.0.0.1", found.port)


@pytest.mark.parametrize(
    "drops",
    [[b""], [b"H"], [b"HTTP/1.1 200 OK\r\n", b"a"], [b"HTTP/1.1 100 Continue\r\n\r\n"]],
    ids=["silent", "byte by byte", "header by header", "interim"],
)
def test_the_deadline_is_that_of_the_whole_call(monkeypatch: pytest.MonkeyPatch, drops: list[bytes]) -> None:
    """Something arrives within each wait, and the answer never."""
    monkeypatch.setattr(outgoing, "MOST_BYTES", 1 << 30)
    with peer(drops) as found, pytest.raises(TimeoutError):
        once("http", "127.0.0.1", found.port, 0.3)


def test_a_status_counts_whatever_follows_it() -> None:
    with peer([b"HTTP/1.1 204 No\r\n\r\n", b"x"]) as found:
        assert once("http", "127.0.0.1", found.port) == 204


def test_a_name_that_is_looked_up_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: released.wait(PATIENCE_S))
    with pytest.raises(TimeoutError):
        once("http", "slow.example", 80, 0.1)
    released.set()


def test_a_name_that_no_resolver_takes() -> None:
    with pytest.raises(OSError, match=r"idna|label"):
        once("http", "a" * 64 + ".example", 80)


def test_the_next_address_of_a_name_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    with peer(OK) as found, socket.create_server(("127.0.0.1", 0)) as other:
        dead = other.getsockname()
        other.close()
        stream = socket.SOCK_STREAM
        addresses = [
            (socket.AF_INET, stream, 6, "", address) for address in (dead, ("127.0.0.1", found.port))
        ]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses)
        assert once("http", "two.example", 80) == 200
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses[:1])
        with pytest.raises(ConnectionRefusedError):
            once("http", "one.example", 80)
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [])
        with pytest.raises(OSError, match=r"^no address$"):
            once("http", "none.example", 80)


def test_the_handshake_of_tls_is_within_the_deadline() -> None:
    with peer(OK) as found, pytest.raises(TimeoutError):
        once("https", "127.0.0.1", found.port, 0.3)


HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n"


def fetch(port: int, limit_s: float = PATIENCE_S) -> tuple[int, bytes]:
    return HttpConnection("http", "127.0.0.1", port).fetch("POST", "/", (), b"body", limit_s)


def test_an_answer_with_its_body() -> None:
    with peer(OK, HEAD % 200_000 + bytes(200_000)) as server:
        assert fetch(server.port) == (200, b"ok")
        assert fetch(server.port) == (200, bytes(200_000))
        assert server.connections == 2


def test_a_body_is_within_the_deadline_and_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each is a part of a body that does not end.
    with peer([HEAD % 10**12]) as server, pytest.raises(TimeoutError):
        fetch(server.port, 0.3)
    monkeypatch.setattr(outgoing, "MOST_BODY", 1 << 20)
    with (
        peer([HEAD % 10**12 + bytes(1 << 16)]) as server,
        pytest.raises(CallError, match=r"^an answer of more than 1 MiB$"),
    ):
        fetch(server.port)


def test_a_body_that_is_cut() -> None:
    with (
        peer(HEAD % 7 + b"close") as server,
        pytest.raises(CallError, match=r"^what it answered is not HTTP$"),
    ):
        fetch(server.port)
