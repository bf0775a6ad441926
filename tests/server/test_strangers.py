"""`arena watch` where something else listens: one line that says what to do, and an end."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from arena_cli import watch
from arena_cli.spectator import Spectator
from arena_client.errors import SILENT
from arena_client.transport import Veil
from arena_server.errors import ArenaError

from .programs import PATIENCE_S, Outcome, inside

Stranger = Callable[[socket.socket], None]


@contextmanager
def listening(stranger: Stranger) -> Iterator[int]:
    """A port where `stranger` has one visitor, whose end it waits for if it does not hang up."""

    def attend() -> None:
        visitor, _ = listener.accept()
        with visitor, suppress(OSError):
            visitor.settimeout(PATIENCE_S)
            stranger(visitor)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=attend, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(PATIENCE_S)


def wait_for_the_end(visitor: socket.socket) -> None:
    while visitor.recv(4096):
        pass


def says(data: bytes) -> Stranger:
    """Speaks first, and then waits."""

    def speak(visitor: socket.socket) -> None:
        visitor.sendall(data)
        wait_for_the_end(visitor)

    return speak


def visit(port: int, *options: str) -> Outcome:
    return inside("watch", "--connect", f"127.0.0.1:{port}", *options)


@pytest.mark.parametrize(
    ("stranger", "line"),
    [
        (wait_for_the_end, SILENT),
        (lambda visitor: None, f"the server closed the connection; {SILENT}"),
        (
            says(b"ARENA 1 stopped/1\n"),
            "the server did not let us in; is it stopped or overloaded? Watch again later",
        ),
        (
            says(b"SSH-2.0-OpenSSH_9.2\r\n"),
            "the server does not keep to the protocol: unexpected: a server says ARENA first; "
            "is it an arena server?",
        ),
        (
            says(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
            "the server does not keep to the protocol: unexpected: a server says ARENA first; "
            "is it an arena server?",
        ),
    ],
    ids=["silent", "closing", "stopped", "ssh", "http"],
)
def test_a_stranger(monkeypatch: pytest.MonkeyPatch, stranger: Stranger, line: str) -> None:
    monkeypatch.setattr(watch, "GREETING_S", 0.2)
    with listening(stranger) as port:
        outcome = visit(port)
    assert (outcome.code, outcome.out, outcome.line) == (1, "", f"arena: {line}")


def test_a_plain_port_spoken_to_in_tls() -> None:
    with listening(says(b"ARENA 1 plain/1\n")) as port:
        outcome = visit(port, "--tls")
    assert outcome.code == 1
    assert outcome.line.startswith("arena: cannot speak TLS with 127.0.0.1: no TLS connection: ")
    assert outcome.line.endswith("; is it an arena server, and does it want TLS?")


def test_a_link_that_died_is_not_taken_for_silence() -> None:
    class Dead:
        """A socket whose peer was given up by the system."""

        def settimeout(self, seconds: float | None) -> None:
            pass

        def sendall(self, data: bytes) -> None:
            pass

        def recv(self, size: int) -> bytes:
            raise TimeoutError(110, "Connection timed out")

    spectator = Spectator("spectator", None, "*")
    with pytest.raises(ArenaError, match=r"^the connection was lost: Connection timed out; watch again$"):
        watch.watch(Dead(), spectator, lambda sights: None, Veil(None, "here"))  # type: ignore[arg-type]
