"""A spectator's visit without any I/O: bytes in; lines to send, and what is to be seen, out.

The error contract: any bytes of a server lead to sights or ArenaError, nothing else.
It must not know: sockets, terminals, any particular game.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from arena_cli.render import NO_RIM, Scene
from arena_client.errors import SILENT, ClientError
from arena_client.view import GameView
from arena_protocol import messages as wire
from arena_protocol.errors import LocalProtocolError, ProtocolError
from arena_protocol.framing import SERVER_LINE_LIMIT, LineBuffer, Overlong
from arena_protocol.session import BEFORE_LOGIN, ClientSession, State
from arena_server.errors import ArenaError

EVERYTHING = "*"
_VERBS = {shape.type: shape.verb for shape in wire.TABLE}

#: One thing to be seen: a message about a game, and the game after it.
Sight = tuple[wire.ServerMessage, GameView]


class Spectator:
    """Watches game `target`, or every game (`*`); feed it with `receive`, send what `to_send` gives.

    `over` tells that there is nothing more to be seen. Raises ArenaError, from every method,
    with one line that says why it cannot go on.
    """

    def __init__(self, name: str, token: str | None, target: str) -> None:
        self.over = False
        self._name = name
        self._token = token
        self._target = target
        self._session = ClientSession()
        self._lines = LineBuffer(SERVER_LINE_LIMIT)
        self._games: dict[str, GameView] = {}
        self._out = b""

    def to_send(self) -> bytes:
        """What is to be sent to the server now."""
        out, self._out = self._out, b""
        return out

    def receive(self, data: bytes) -> Iterator[Sight]:
        """Take bytes of the server's; empty ones are the end of the connection."""
        if not data and not self.over:
            raise ArenaError(self._closed())
        for line in self._lines.feed(data):
            if self.over:
                return
            try:
                message = None if isinstance(line, Overlong) else self._session.receive(line)
                seen = None if message is None else self._heard(message)
            except (ProtocolError, ClientError) as error:
                hint = "; is it an arena server?" * (self._session.state is State.OPENED)
                raise ArenaError(f"the server does not keep to the protocol: {error}{hint}") from None
            if seen is not None:
                yield seen

    @property
    def welcomed(self) -> bool:
        """Whether the server has let us in."""
        return self._session.state not in BEFORE_LOGIN

    def unheard(self) -> str:
        """Why it goes no further, if the server took too long to let us in."""
        if self._session.state is State.OPENED:
            return SILENT
        return "the server did not let us in; is it stopped or overloaded? Watch again later"

    def _closed(self) -> str:
        if self._session.state is State.OPENED:
            return f"the server closed the connection; {SILENT}"
        return "the server closed the connection: it has ended, or we read too slowly; watch again"

    def _heard(self, message: wire.ServerMessage) -> Sight | None:
        match message:
            case wire.Arena():
                self._say(wire.Hello(wire.VERSION, self._name, token=self._token))
            case wire.Welcome():
                self._say(wire.Watch(self._target))
            case wire.Ping(token):
                self._say(wire.Pong(token))
            case wire.Error(code, text):
                raise ArenaError(self._refusal(code, text))
            case wire.Bye():
                self.over = True
            case _:
                return self._see(message)
        return None

    def _say(self, message: wire.ClientMessage) -> None:
        try:
            self._out += self._session.send(message)
        except LocalProtocolError as error:
            raise ArenaError(f"this cannot be said to a server: {error}") from None

    def _refusal(self, code: str, text: str) -> str:
        if code == "no-such-game":
            return f"no game {self._target} is being played now; without a game's id every game is shown"
        return f"the server refuses: {text} ({code})"

    def _see(self, message: wire.ServerMessage) -> Sight | None:
        """The message and the game it is about; None for a game that was never shown from its beginning."""
        if isinstance(message, wire.Game):
            if message.seat:
                raise ArenaError(f"{self._name} is offered a game; watch under a name that does not play")
            # A view is a seat's; a spectator looks over the shoulder of the first one.
            view = GameView.of(replace(message, seat=1))
        else:
            known = self._games.get(_game_of(message) or "")
            if known is None:
                return None
            view = known.after(message)
        self._games[view.game_id] = view
        if isinstance(message, wire.Over):
            del self._games[view.game_id]
            self.over = self._target != EVERYTHING
        return message, view


def _game_of(message: wire.ServerMessage) -> str | None:
    found: str | None = getattr(message, "game_id", None) or getattr(message, "game", None)
    return found


def scene(view: GameView) -> Scene:
    """The picture of a game as a spectator has it. Raises ClientError for moves against the rules."""
    names = " - ".join(view.names)
    plies = view.options.get("plies")
    of = f" of {plies}" if plies is not None else ""
    return Scene(
        title=f"{view.game_id}: {names}   ply {len(view.history)}{of}",
        deed=_deed(view),
        state=view.board,
        coming=view.visible,
        sides=list(zip(view.names, view.totals, view.clocks, strict=True)),
        end=None if view.over is None else view.over.end,
        rim=view.rules.rim() if view.rules is not None else NO_RIM,
    )


def _deed(view: GameView) -> str:
    last = view.last_move
    if last is None:
        return "the start"
    return f"{view.names[last.seat - 1]} plays {last.move}: {last.points} points in {last.time} ms"


def line_of(message: wire.ServerMessage, view: GameView) -> str | None:
    """What has happened in one line; None for what needs none."""
    match message:
        case wire.Game():
            return f"{view.game_id}: {' - '.join(view.names)}, {view.game}"
        case wire.Played(ply, seat, move, time, _, points, total):
            deed = f"{view.names[seat - 1]} plays {move}, {points} points, {time} ms"
            return f"{view.game_id} {ply}: {deed}, {' - '.join(map(str, total))}"
        case wire.Zombie(ply, reason, seat):
            who = view.names[seat - 1] if seat else "?"
            return f"{view.game_id} {ply}: {who} is a zombie: {reason}"
        case wire.Over(_, total, end):
            return f"{view.game_id}: over, {end}, {' - '.join(map(str, total))}"
    return None


def plain(message: wire.ServerMessage, view: GameView) -> dict[str, Any]:
    """A message as JSON has it, bytes as Latin-1; `id` is the game it is about."""
    fields = {
        key: value.decode("latin-1") if isinstance(value, bytes) else value
        for key, value in asdict(message).items()
        if value is not None
    }
    return {"id": view.game_id, "verb": _VERBS[type(message)], **fields}
