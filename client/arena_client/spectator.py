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
from arena_protocol import messages as wire
from arena_protocol.link import Link, Trace
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
        # Without a token any name may watch; with one it is that of a registered spectator.
        role = wire.SPECTATOR if token is None else None
        self._link = Link(
            wire.Hello(wire.VERSION, name, token=token, role=role, contest=contest), trace=trace
        )
        self._link.opened()
        self._target = target
        self._games: dict[str, GameView] = {}

    def data_to_send(self) -> bytes:
        """Return the bytes to send to the server now, and forget them."""
        return self._link.data_to_send()

    def receive(self, data: bytes) -> Iterator[Update]:
        """Take bytes from the server; `b""` means that the connection was closed."""
        if not data and not self.finished:
            raise ClientError(self._closed())
        for line, message in self._link.receive(data):
            if self.finished:
                return
            update = None if message is None else self._handle(line, message)
            if update is not None:
                yield update

    @property
    def welcomed(self) -> bool:
        """Whether the server has accepted the log-in."""
        return self._link.welcomed

    def timeout_message(self) -> str:
        """Return why the log-in took too long."""
        if not self._link.is_greeted:
            return SILENT
        return "the server did not answer the log-in; is it stopped or overloaded? Watch again later"

    def _closed(self) -> str:
        if not self._link.is_greeted:
            return f"the server closed the connection; {SILENT}"
        return (
            "the server closed the connection: it has ended, or this spectator read too slowly; watch again"
        )

    def _handle(self, line: bytes, message: wire.ServerMessage) -> Update | None:
        match message:
            case wire.Welcome():
                self._link.send(wire.Watch(self._target))
            case wire.Error("no-such-game"):
                text = f"game {self._target} is not being played now; without a game id all games are shown"
                raise ClientError(text, code=message.code)
            case wire.Error():
                raise self._link.refused(message)
            case wire.Bye():
                self.finished = True
            case wire.Game():
                return self._start(line, message)
            case _:
                return self._advance(line, message)
        return None

    def _start(self, line: bytes, message: wire.Game) -> Update:
        if message.seat:
            raise ClientError(f"{self._link.name} is offered a game; watch under a name that does not play")
        try:
            # A GameView belongs to a seat; a spectator uses that of the first one.
            game = GameView.of(replace(message, seat=1))
        except ClientError as error:
            raise self._link.broken(str(error), line) from None
        self._games[game.game_id] = game
        return Update(message, game)

    def _advance(self, line: bytes, message: wire.ServerMessage) -> Update | None:
        """Apply a message about a game; None if the game's GAME was not received."""
        known = self._games.get(_game_id(message) or "")
        if known is None:
            return None
        try:
            game = known.after(message)
        except ClientError as error:
            raise self._link.broken(str(error), line) from None
        if isinstance(message, wire.Over):
            del self._games[game.game_id]
            self.finished = self._target != ALL_GAMES
        else:
            self._games[game.game_id] = game
        return Update(message, game)


def _game_id(message: wire.ServerMessage) -> str | None:
    found: str | None = getattr(message, "game_id", None) or getattr(message, "game", None)
    return found
