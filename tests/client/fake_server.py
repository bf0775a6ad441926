"""A scripted server on loopback: one blocking thread that follows a script per connection.

It has no event loop, so the same script serves both clients. A step that fails raises in the
thread, and `check` raises it again in the test. The time limit only keeps a broken test from
hanging; nothing is measured.
"""

from __future__ import annotations

import select
import socket
import struct
import threading
from collections.abc import Callable, Iterator

LIMIT = 20.0

#: Seconds without progress after which a socket counts as full. A shorter time only makes a test easier.
UNIT = 0.5

#: Small, so that the buffers are full soon.
BUFFER = 8192


class Connection:
    """The server's end of one connection, as blocking calls of the script."""

    def __init__(self, sock: socket.socket) -> None:
        sock.settimeout(LIMIT)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        self.sock = sock
        self._lines = sock.makefile("rb")

    def send_lines(self, *lines: str) -> None:
        self.send("".join(f"{line}\n" for line in lines).encode())

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def read_line(self) -> str:
        line = self._lines.readline()
        assert line.endswith(b"\n"), f"a whole line, not {line!r}"
        return line[:-1].decode()

    def expect(self, line: str) -> None:
        found = self.read_line()
        assert found == line, f"expected {line!r}, found {found!r}"

    def expect_end(self) -> None:
        """The client closed or reset the connection and sent nothing more."""
        try:
            rest = self._lines.read()
        except ConnectionResetError:
            return
        assert rest == b"", f"nothing more, not {rest!r}"

    def expect_reset(self) -> None:
        """The client reset the connection."""
        try:
            self._lines.read()
        except ConnectionResetError:
            return
        raise AssertionError("a reset, not an orderly end")

    def log_in(self, name: str = "me", resume: str = "r1") -> str:
        """Send ARENA, read HELLO, send WELCOME; return the HELLO."""
        self.send_lines("ARENA 1 fake/1")
        hello = self.read_line()
        assert hello.startswith(f"HELLO 1 {name}"), hello
        self.send_lines(f"WELCOME {name} session=s1 resume={resume}")
        return hello

    def sync(self, token: str = "sync") -> None:
        """Wait until the client has acted on all lines sent so far."""
        self.send_lines(f"PING {token}")
        self.expect(f"PONG {token}")

    def fill(self, line: str) -> tuple[int, bytes]:
        """Send a line repeatedly without reading, until the socket takes no more.

        Returns the number of lines begun, and the unsent rest of the last one.
        """
        data, times = f"{line}\n".encode(), 0
        rest = b""
        while select.select([], [self.sock], [], UNIT)[1]:
            if not rest:
                rest, times = data, times + 1
                assert times < 100_000, "the client reads without bound"
            rest = rest[self.sock.send(rest, socket.MSG_DONTWAIT) :]
        return times, rest

    def read_all(self) -> bytes:
        """Return all bytes up to the end of the connection."""
        received = b""
        try:
            while data := self._lines.read1(1 << 16):
                received += data
        except ConnectionResetError:
            pass
        return received

    def has_sent(self) -> bool:
        """Whether a byte of the client is waiting."""
        return bool(select.select([self.sock], [], [], 0)[0])

    def close(self) -> None:
        self._lines.close()
        self.sock.close()

    def reset(self) -> None:
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()


Script = Callable[[Connection], None]


class FakeServer:
    """Listens on loopback and gives each new connection to the next script."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        self._listener.settimeout(LIMIT)
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None

    @property
    def port(self) -> int:
        port = self._listener.getsockname()[1]
        assert isinstance(port, int)
        return port

    def follow(self, *scripts: Script) -> None:
        """Serve one connection per script, one after the other, then stop listening."""
        self._thread = threading.Thread(target=self._serve, args=(scripts,), daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Wait for the end of the scripts and raise their failure."""
        if self._thread is not None:
            self._thread.join(LIMIT)
            assert not self._thread.is_alive(), "the script still waits"
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        self._listener.close()

    def _serve(self, scripts: tuple[Script, ...]) -> None:
        for script in scripts:
            try:
                connection = Connection(self._listener.accept()[0])
            except OSError as error:
                self._failure = AssertionError(f"no connection for {script}: {error}")
                return
            try:
                script(connection)
            except BaseException as error:
                self._failure = error
                return
            finally:
                connection.close()
        self._listener.close()


def serving() -> Iterator[FakeServer]:
    """A server for one test; use as a fixture."""
    server = FakeServer()
    yield server
    server.close()
    server.check()


# One short game of insertion.
BOARD = "53351/34233/13552/44215/44526"
OFFER = (
    "GAME g1 insertion seat=1 seats=2 names=me,rival "
    "plies=4 colours=6 lookahead=2 clock=20000 increment=0 zombie=6"
)
DEALT = (f"STATE {BOARD}", "NEXT 61")
START = "START g1"
TURN_1 = "TURN 1 clock=20000,20000 lag=0 credit=0"
PLAYED_1 = "PLAYED 1 seat=1 move=4 time=3 clock=19997,20000 points=30 total=30,0 reveal=6"
PLAYED_2 = "PLAYED 2 seat=2 move=6 time=1 clock=19997,19999 points=0 total=30,0 reveal=3"
TURN_3 = "TURN 3 clock=19997,19999 lag=0 credit=0"
PLAYED_3 = "PLAYED 3 seat=1 move=4 time=2 clock=19995,19999 points=30 total=60,0"
PLAYED_4 = "PLAYED 4 seat=2 move=6 time=1 clock=19995,19998 points=0 total=60,0"
OVER = "OVER g1 total=60,0 end=complete"
BYE = "BYE reason=finished"


def play_game(connection: Connection) -> None:
    """Play the whole game with a bot that always plays 4."""
    connection.send_lines(OFFER, *DEALT)
    connection.expect("READY g1")
    connection.send_lines(START, TURN_1)
    connection.expect("MOVE 4")
    connection.send_lines(PLAYED_1, PLAYED_2, TURN_3)
    connection.expect("MOVE 4")
    connection.send_lines(PLAYED_3, PLAYED_4, OVER)


def ask_once(connection: Connection) -> None:
    """A script that asks for one move, after which the client has to leave without an answer."""
    connection.log_in()
    connection.send_lines(OFFER, *DEALT)
    connection.expect("READY g1")
    connection.send_lines(START, TURN_1)
    connection.expect_end()
