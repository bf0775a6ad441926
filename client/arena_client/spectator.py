"""A spectator without I/O: feed it the server's bytes, it returns what happened in the games.

    spectator = Spectator("spectator", None, "g1")
    for update in spectator.receive(data): ...
    sock.sendall(spectator.data_to_send())

Error contract: any bytes of a server lead to updates or to ClientError, nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from arena_client.errors import SILENT, ClientError
from arena_client.protocol import Trace
from arena_protocol import messages as wire
from arena_protocol.errors import LocalProtocolError, ProtocolError
from arena_protocol.framing import SERVER_LINE_LIMIT, LineReader, Overlong
from arena_protocol.session import BEFORE_LOGIN, ClientSession, State
from arena_protocol.view import GameView

#: The target that means every game of the contest.
ALL_GAMES = "*"


class Update(NamedTuple):
    """One message about a game, and the game's state after it."""

    message: wire.ServerMessage
    game: GameView


class Spectator:
    """Watches the game `target`, or every game (`ALL_GAMES`). `trace` receives every line.

    `finished` becomes True at the end of the target game, or at BYE. Every method raises
    ClientError, one line with the reason, if the spectator cannot go on.
    """

    def __init__(
        self,
        name: str,
        token: str | None,
        target: str,
        trace: Trace | None = None,
        contest: str | None = None,
    ) -> None:
        self.finished = False
        self._trace = trace
        self._name = name
        self._token = token
        self._contest = contest
        self._target = target
        self._session = ClientSession()
        self._lines = LineReader(SERVER_LINE_LIMIT)
        self._games: dict[str, GameView] = {}
        self._out = b""

    def data_to_send(self) -> bytes:
        """Return the bytes to send to the server now, and forget them."""
        out, self._out = self._out, b""
        return out

    def receive(self, data: bytes) -> Iterator[Update]:
        """Take bytes from the server; `b""` means that the connection was closed."""
        if not data and not self.finished:
            raise ClientError(self._closed())
        for line in self._lines.feed(data):
            if self.finished:
                return
            if self._trace is not None:
                self._trace("<", line.head if isinstance(line, Overlong) else line)
            try:
                message = None if isinstance(line, Overlong) else self._session.receive(line)
                update = None if message is None else self._handle(message)
            except ProtocolError as error:
                raise self._broken_protocol(error) from None
            if update is not None:
                yield update

    @property
    def welcomed(self) -> bool:
        """Whether the server has accepted the log-in."""
        return self._session.state not in BEFORE_LOGIN

    def timeout_message(self) -> str:
        """Return why the log-in took too long."""
        if self._session.state is State.OPENED:
            return SILENT
        return "the server did not answer the log-in; is it stopped or overloaded? Watch again later"

    def _closed(self) -> str:
        if self._session.state is State.OPENED:
            return f"the server closed the connection; {SILENT}"
        return (
            "the server closed the connection: it has ended, or this spectator read too slowly; watch again"
        )

    def _broken_protocol(self, error: Exception) -> ClientError:
        hint = "; is it an arena server?" if self._session.state is State.OPENED else ""
        return ClientError(f"the server breaks the protocol: {error}{hint}")

    def _handle(self, message: wire.ServerMessage) -> Update | None:
        match message:
            case wire.Arena():
                # Without a token any name may watch; with one it is that of a registered spectator.
                role = wire.SPECTATOR if self._token is None else None
                hello = wire.Hello(
                    wire.VERSION, self._name, token=self._token, role=role, contest=self._contest
                )
                self._send(hello)
            case wire.Welcome():
                self._send(wire.Watch(self._target))
            case wire.Ping(token):
                self._send(wire.Pong(token))
            case wire.Error(code, text):
                raise ClientError(self._refusal(code, text), code=code)
            case wire.Bye():
                self.finished = True
            case wire.Game():
                return self._start(message)
            case _:
                return self._advance(message)
        return None

    def _send(self, message: wire.ClientMessage) -> None:
        try:
            line = self._session.send(message)
        except LocalProtocolError as error:
            raise ClientError(f"the protocol cannot carry this: {error}") from None
        if self._trace is not None:
            self._trace(">", line[:-1])
        self._out += line

    def _refusal(self, code: str, text: str) -> str:
        if code == "no-such-game":
            return f"game {self._target} is not being played now; without a game id all games are shown"
        return f"the server refuses: {text} ({code})"

    def _start(self, message: wire.Game) -> Update:
        if message.seat:
            raise ClientError(f"{self._name} is offered a game; watch under a name that does not play")
        try:
            # A GameView belongs to a seat; a spectator uses that of the first one.
            game = GameView.of(replace(message, seat=1))
        except ClientError as error:
            raise self._broken_protocol(error) from None
        self._games[game.game_id] = game
        return Update(message, game)

    def _advance(self, message: wire.ServerMessage) -> Update | None:
        """Apply a message about a game; None if the game's GAME was not received."""
        known = self._games.get(_game_id(message) or "")
        if known is None:
            return None
        try:
            game = known.after(message)
        except ClientError as error:
            raise self._broken_protocol(error) from None
        if isinstance(message, wire.Over):
            del self._games[game.game_id]
            self.finished = self._target != ALL_GAMES
        else:
            self._games[game.game_id] = game
        return Update(message, game)


def _game_id(message: wire.ServerMessage) -> str | None:
    found: str | None = getattr(message, "game_id", None) or getattr(message, "game", None)
    return found
