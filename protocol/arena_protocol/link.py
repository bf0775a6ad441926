"""The log-in of a client without I/O: ARENA, HELLO, keys, PING, refusals and BYE, over many connections.

    opened -ARENA-> HELLO with the token, or with the last key -WELCOME-> lines of the contest -BYE-> `bye`
                            ERROR: `refusal`, or ClientError      BYE reason=slow, BYE again=: `refusal`
    closed, and opened again

A shell calls `opened`, then for every chunk `receive` and `data_to_send`; `closed` at the end of the
connection. All clients log in by it, so how they treat a refusal or a spent key is decided once.

Error contract: any bytes of a server lead to lines or ClientError, nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from arena_protocol.errors import ByeReason, ClientError, ErrorCode, LocalProtocolError, ProtocolError
from arena_protocol.framing import SERVER_LINE_LIMIT, LineReader, Overlong
from arena_protocol.messages import (
    VERSION,
    Arena,
    Bye,
    ClientMessage,
    Error,
    Hello,
    Ping,
    Pong,
    Quit,
    ServerMessage,
    Welcome,
    encode,
    parse_server,
)
from arena_protocol.session import LOGGED_IN, ClientSession, State

#: ERRORs before WELCOME after which another try may succeed.
TEMPORARY: Final = frozenset({ErrorCode.FULL, ErrorCode.RATE})

#: The verbs that a link acts on after WELCOME.
_OWN: Final = (b"PING", b"BYE")

#: Called with `<` (received) or `>` (sent) and a line without its line end.
Trace = Callable[[str, bytes], None]


class ServerLine(NamedTuple):
    """A line of the server and its message.

    That is None for a blank line, for a verb that this version does not know, and, of a link that is not
    `checked`, for every line that it does not act on.
    """

    line: bytes
    message: ServerMessage | None


class Link:
    """One client's log-in. `hello` has its token; the keys of WELCOME are kept and used here.

    With `checked` every line after WELCOME is parsed and has to be due, on both sides. Without, what is
    neither PING nor BYE is passed on as it came, and anything may be sent. `trace` receives every line.
    Raises ClientError if HELLO cannot carry what it has.
    """

    def __init__(self, hello: Hello, *, checked: bool = True, trace: Trace | None = None) -> None:
        #: The reason of the BYE that ends the contest for this client.
        self.bye: str | None = None
        #: Whether this connection was logged in.
        self.welcomed = False
        #: Why the server ends this connection, where another one may succeed; and the wait (s) that it wants.
        self.refusal: str | None = None
        self.retry_after_s = 0.0
        #: Whether this connection ended by BYE with `again=`: another contest may have this bot.
        self.awaits_next = False
        #: Whether QUIT is sent, or will be at WELCOME.
        self.leaving = False
        self._hello = hello
        self._checked = checked
        self._trace = trace
        self._key: str | None = None
        self._resuming = False
        #: Whether a connection was ever logged in.
        self._known = False
        self._session: ClientSession | None = None
        self._lines = LineReader(SERVER_LINE_LIMIT)
        self._out = bytearray()
        try:
            encode(hello)
        except LocalProtocolError as error:
            raise ClientError(f"this log-in cannot be sent: {error}") from error

    @property
    def name(self) -> str:
        return self._hello.name

    @property
    def is_greeted(self) -> bool:
        """Whether this connection has had the first line of an arena server."""
        return self._session is not None and self._session.state is not State.OPENED

    @property
    def is_logged_in(self) -> bool:
        """Whether lines for the contest may be sent now."""
        return self._session is not None and self._session.state in LOGGED_IN

    def opened(self) -> None:
        """Begin a connection; the server sends the first line."""
        self._session = ClientSession()
        self._lines = LineReader(SERVER_LINE_LIMIT)
        self._out.clear()
        self.welcomed = False
        self.refusal = None
        self.retry_after_s = 0.0
        self.awaits_next = False

    def closed(self) -> None:
        """End the connection: until the next one nothing can be sent."""
        self._session = None
        self._out.clear()

    def data_to_send(self) -> bytes:
        """Return the bytes to send now, and forget them."""
        data = bytes(self._out)
        self._out.clear()
        return data

    def receive(self, data: bytes) -> Iterator[ServerLine]:
        """Act on bytes of the server, and yield each line after that; nothing follows `bye`.

        Raises ClientError if another connection would not help: a broken protocol, or a refusal for good.
        """
        for line in self._lines.feed(data):
            if self.bye is not None:
                return
            overlong = isinstance(line, Overlong)
            text = line.head if isinstance(line, Overlong) else line
            if self._trace is not None:
                self._trace("<", text)
            if overlong:
                raise ClientError(
                    f"the server sent a line of more than {SERVER_LINE_LIMIT} bytes: {_quoted(text)}"
                )
            yield ServerLine(text, self._take(text))

    def send(self, message: ClientMessage) -> None:
        """Send a message. Raises ClientError for one that has no form, or, if `checked`, is not due."""
        try:
            if self._checked or not self.is_logged_in:
                assert self._session is not None, "nothing is sent between two connections"
                line = self._session.send(message)
            else:
                line = encode(message)
        except LocalProtocolError as error:
            raise ClientError(f"the protocol cannot carry this: {error}") from error
        self.send_line(line[:-1])

    def send_line(self, line: bytes) -> None:
        """Send a line as it is, without a line end; it does not count as the answer that is due."""
        if self._trace is not None:
            self._trace(">", line)
        self._out += line + b"\n"

    def quit(self) -> None:
        """Leave the contest by QUIT: now, or as soon as a connection is logged in."""
        self.leaving = True
        if self.is_logged_in:
            self.send(Quit())

    def begin_again(self) -> None:
        """After the BYE to `quit`: the next connection logs in by the token, as the first one did."""
        self.bye, self.leaving, self._key = None, False, None
        self.refusal = f"the server sent BYE: {ByeReason.QUIT.meaning}"

    def _take(self, line: bytes) -> ServerMessage | None:
        passed_on = self.welcomed and not self._checked
        if passed_on and line.partition(b" ")[0] not in _OWN:
            return None
        assert self._session is not None, "call opened() first"
        try:
            message = parse_server(line) if passed_on else self._session.receive(line)
        except ProtocolError as error:
            raise self.broken(error.text, line) from error
        match message:
            case Arena(version):
                self._greet(version)
            case Welcome(resume=key):
                self.welcomed = self._known = True
                self._key = key
                if self.leaving:
                    self.send(Quit())
            case Ping(token):
                self.send(Pong(token))
            case Bye(ByeReason.SLOW):
                # The contest goes on without this connection: come back.
                self.refusal = f"the server sent BYE: {ByeReason.SLOW.meaning}"
            case Bye(reason, again) if again is not None and self._goes_on:
                self.refusal = f"the contest is over ({reason}), and another one may follow"
                self.retry_after_s = again / 1000
                self.awaits_next = True
                self._key, self._known = None, False  # they are of the contest that is over
            case Bye(reason):
                self.bye = reason
            case Error() if not self.welcomed:
                self._refuse(message)
        return message

    @property
    def _goes_on(self) -> bool:
        """Whether this client plays in the contests that follow: it has not named one, and is not leaving."""
        return self._hello.contest is None and not self.leaving

    def _greet(self, version: int) -> None:
        if version != VERSION:
            raise ClientError(
                f"the server has version {version} of the protocol, this client {VERSION}",
                code=ErrorCode.VERSION,
            )
        self._resuming = self._key is not None
        self.send(replace(self._hello, token=None, resume=self._key) if self._resuming else self._hello)

    def _refuse(self, error: Error) -> None:
        if self._resuming and error.code == ErrorCode.TOKEN:
            self._key = None  # used or expired: log in by name and token
        # After a log-in, a taken name is our own old connection, which the server has not closed yet.
        elif error.code not in TEMPORARY and not (self._known and error.code == ErrorCode.NAME_TAKEN):
            raise self.refused(error)
        self.refusal = f"{error.code}: {error.text}"
        self.retry_after_s = (error.retry_after or 0) / 1000

    def refused(self, error: Error) -> ClientError:
        """The error of a client that does not try again after this ERROR."""
        return ClientError(f"the server refuses {self.name}: {error.code}: {error.text}", code=error.code)

    def broken(self, why: str, line: bytes) -> ClientError:
        """The error of a client that cannot read this line."""
        hint = "" if self.is_greeted else "; is it an arena server?"
        return ClientError(f"the server broke the protocol: {why}: {_quoted(line)}{hint}")


def _quoted(line: bytes) -> str:
    """The beginning of a line of the server for an error text."""
    return repr(line[:80])[1:]
