"""`arena watch` connected to something else than an arena server: it ends with one line."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from tests.server.programs import PATIENCE_S, Outcome, inside

from arena_cli import watch
from arena_client.errors import SILENT
from arena_client.spectator import Spectator
from arena_client.transport import TlsTransport
from arena_server.errors import ArenaError

Script = Callable[[socket.socket], None]


@contextmanager
def listening(script: Script) -> Iterator[int]:
    """A port where `script` serves one client."""

    def serve() -> None:
        client, _ = listener.accept()
        with client, suppress(OSError):
            client.settimeout(PATIENCE_S)
            script(client)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(PATIENCE_S)


def wait_for_the_end(client: socket.socket) -> None:
    while client.recv(4096):
        pass


def sends(data: bytes) -> Script:
    """Return a script that sends `data` and waits for the end of the connection."""

    def script(client: socket.socket) -> None:
        client.sendall(data)
        wait_for_the_end(client)

    return script


def watch_port(port: int, *options: str) -> Outcome:
    return inside("watch", "--connect", f"127.0.0.1:{port}", *options)


NO_ARENA = "the server broke the protocol: the first line of a server is ARENA: {}; is it an arena server?"


@pytest.mark.parametrize(
    ("script", "line"),
    [
        (wait_for_the_end, SILENT),
        (lambda client: None, f"the server closed the connection; {SILENT}"),
        (
            sends(b"ARENA 1 stopped/1\n"),
            "the server did not answer the log-in; is it stopped or overloaded? Watch again later",
        ),
        (
            sends(b"SSH-2.0-OpenSSH_9.2\r\n"),
            NO_ARENA.format("'SSH-2.0-OpenSSH_9.2'"),
        ),
        (
            sends(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
            NO_ARENA.format("'HTTP/1.1 400 Bad Request'"),
        ),
    ],
    ids=["silent", "closing", "stopped", "ssh", "http"],
)
def test_another_server(monkeypatch: pytest.MonkeyPatch, script: Script, line: str) -> None:
    monkeypatch.setattr(watch, "LOGIN_S", 0.2)
    with listening(script) as port:
        outcome = watch_port(port)
    assert (outcome.code, outcome.out, outcome.line) == (1, "", f"arena: {line}")


def test_tls_to_a_plain_port() -> None:
    with listening(sends(b"ARENA 1 plain/1\n")) as port:
        outcome = watch_port(port, "--tls")
    assert outcome.code == 1
    assert outcome.line.startswith("arena: cannot speak TLS with 127.0.0.1: no TLS connection: ")
    assert outcome.line.endswith("; is it an arena server, and does it use TLS?")


def test_a_dead_link_is_not_a_silent_server() -> None:
    class Dead:
        """A socket on which the system has given up its peer."""

        def settimeout(self, seconds: float | None) -> None:
            pass

        def sendall(self, data: bytes) -> None:
            pass

        def recv(self, size: int) -> bytes:
            raise TimeoutError(110, "Connection timed out")

    spectator = Spectator("spectator", None, "*")
    with pytest.raises(ArenaError, match=r"^the connection was lost: Connection timed out; watch again$"):
        watch.watch(Dead(), spectator, lambda updates: None, TlsTransport(None, "here"))  # type: ignore[arg-type]
