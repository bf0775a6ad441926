"""One running game as the site knows it: what spectators may see in, events for browsers out.

    TranscriptSource, of a game in this process --messages, positions--> GameStream --events--> Channel
    LineSource, of a connection to a server     --messages, positions-->

Nothing is read of a game before a viewer comes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, Protocol

from arena_protocol import messages as wire
from arena_protocol.errors import ClientError, ProtocolError
from arena_protocol.games import printed_game, title_of
from arena_protocol.games.base import Game, GameError
from arena_protocol.view import GameView
from arena_server.core.transcript import Shown, Transcript
from arena_server.web.scenes import SceneWriter
from arena_server.web.security import small_number
from arena_server.web.streams import Channel, Viewer, encode_event

#: A browser that comes back and missed more events than this gets a snapshot instead.
MISSED: Final = 50

NS_PER_S: Final = 1e9

#: The lines that name their game by `game=`.
TAGGED: Final = frozenset((b"STATE", b"NEXT", b"PLAYED", b"ZOMBIE", b"INFO"))


def game_of(line: bytes) -> str | None:
    """The id of the game that a spectator's line is about."""
    verb, _, rest = line.partition(b" ")
    if verb in (b"GAME", b"START", b"OVER"):
        return rest.partition(b" ")[0].decode("latin-1") or None
    # The first one: a bot writes what it likes into the text at the end of INFO.
    _, tag, rest = line.partition(b" game=") if verb in TAGGED else (b"", b"", b"")
    return (rest.partition(b" ")[0].decode("latin-1") or None) if tag else None


class GameSource(Protocol):
    """What may be shown of one game. `over`: OVER may. What happens is shown `delay` (ns) later."""

    game_id: str
    delay: int
    over: bool

    def read(self) -> Iterable[Shown]:
        """What may be shown and has not been read."""


class TranscriptSource:
    """A game of this process, up to the line of its transcript that `show` was called with last."""

    def __init__(self, transcript: Transcript, delay: int) -> None:
        self.game_id = transcript.game_id
        self.delay = delay
        self.over = False
        self._transcript = transcript
        self._next = self._end = 0
        #: The referee's position behind the lines that have been read.
        self._position: Any = None

    def show(self, end: int) -> None:
        """The lines before line `end` may be shown."""
        self._end = end
        # In this order: another thread adds OVER, and then sets `closed`.
        self.over = self._transcript.closed and end == len(self._transcript.lines)

    def read(self) -> Iterable[Shown]:
        begin, self._next = self._next, self._end
        shown, self._position = self._transcript.shown(begin, self._end, self._position)
        return shown


class LineSource:
    """A game whose lines come from a server; they are parsed when they are read.

    Lines that make no sense are skipped.
    """

    def __init__(self, game_id: str) -> None:
        self.game_id = game_id
        self.delay = 0  # the server has kept them back
        self.over = False
        self._pending: list[tuple[int, bytes]] = []
        self._view: GameView[Any] | None = None

    def add(self, line: bytes, at: int) -> None:
        """Take a line that came at the moment `at` (ns)."""
        self._pending.append((at, line))
        if line.startswith(b"OVER "):
            self.over = True

    def read(self) -> Iterable[Shown]:
        pending, self._pending = self._pending, []
        for at, line in pending:
            with suppress(ProtocolError, ClientError):
                message = wire.parse_server(line)
                if message is not None:
                    yield Shown(at, message, self._fold(message))

    def _fold(self, message: wire.ServerMessage) -> Any:
        """The position after a message that changes it. Raises ClientError."""
        if isinstance(message, wire.Game):
            # A view belongs to a seat; a spectator uses that of the first one.
            self._view = GameView.of(replace(message, seat=message.seat or 1))
        elif self._view is not None:
            self._view = view = self._view.after(message)
            if isinstance(message, wire.State | wire.Next | wire.Played) and view.is_dealt:
                return view.position
        return None


class GameStream:
    """One running game. `read` catches up with its source; the rest is what is known then."""

    def __init__(
        self,
        source: GameSource,
        epoch: str,
        clock: Callable[[], float] = time.monotonic,
        channel: Channel | None = None,
    ) -> None:
        self.source = source
        self.game_id = source.game_id
        self.channel = Channel() if channel is None else channel
        self.changed = True
        self._epoch = epoch
        self._clock = clock
        self._info: dict[str, Any] = {}
        #: The seat that the lines are sent to; 0 for a spectator's.
        self._seat = 0
        self._rules: Game[Any] | None = None
        self._scenes: SceneWriter | None = None
        self._position: Any = None
        self._played: list[dict[str, Any]] = []
        self._faults: list[dict[str, Any]] = []
        self._infos: list[dict[str, Any]] = []
        self._end: dict[str, Any] | None = None
        self._started = False
        self._zombies: set[int] = set()
        self._events: list[bytes] = []
        #: When the clock began to run that runs now, as far as it is known.
        self._at = clock()

    @property
    def over(self) -> bool:
        return self.source.over

    @property
    def plies(self) -> int:
        """The plies that have been read."""
        return len(self._played)

    def read(self) -> None:
        """Read what came, and publish the events."""
        first = len(self._events)
        for shown in self.source.read():
            with suppress(GameError):  # a game, or a version of it, that is not known here
                event = self._event(shown)
                if event is not None:
                    kind, data = event
                    encoded = encode_event(kind, data, f"{self._epoch}-{len(self._events) + 1}")
                    self._events.append(encoded)
        if len(self._events) > first:
            self.channel.publish(b"".join(self._events[first:]))

    def _event(self, shown: Shown) -> tuple[str, dict[str, Any]] | None:
        at, message, position = shown
        if position is not None:
            self._position = position
        match message:
            case wire.Game():
                self._info = game_json(message)
                self._seat = message.seat
                self._rules = printed_game(message.game, message.options, message.seats)
                self._scenes = SceneWriter(self._rules)
            case wire.State(text):
                self._begin(board=text)
            case wire.Next(text):
                self._begin(sequence=text)
            case wire.Start():
                self._started, self._at = True, (at + self.source.delay) / NS_PER_S
                return "started", {}
            case wire.Played() if self._position is not None:
                self._at = (at + self.source.delay) / NS_PER_S
                return "played", self._play(message)
            case wire.Zombie():
                seat = message.seat or self._seat
                fault = {
                    "seat": seat,
                    "ply": message.ply,
                    "kind": message.reason,
                    "line": (message.line or b"").hex(),
                }
                self._faults.append(fault)
                self._zombies.add(seat)
                return "zombie", fault
            case wire.Info(seat=int()):
                info = info_json(message)
                self._infos.append(info)
                return "info", info
            case wire.Over():
                self._end = {
                    "end": message.end,
                    "totals": list(message.total),
                    "nonce": message.nonce,
                    "sequence": message.sequence,
                }
                return "over", self._end
        return None

    def _begin(self, **texts: str) -> None:
        """Take the texts before the first ply, with the scene of their position."""
        self._info |= texts
        if self._scenes is not None and self._position is not None:
            self._info |= self._scenes.start(self._position)

    def _play(self, message: wire.Played) -> dict[str, Any]:
        assert self._scenes is not None
        ply = {
            "ply": message.ply,
            "seat": message.seat,
            "move": message.move,
            "time_ms": message.time,
            "clock": list(message.clock),
            "points": message.points,
            "total": list(message.total),
            "reveal": message.reveal,
            "zombie": message.seat in self._zombies,
            **self._scenes.after(self._position, message.move),
        }
        self._played.append(ply)
        return ply | {"state": self.state()}

    def state(self) -> str:
        """The position as STATE prints it."""
        if self._rules is None or self._position is None:
            return ""
        return self._rules.state_text(self._position)

    def moves(self) -> list[tuple[int, str]]:
        """Seat and move of each ply."""
        self.read()
        return [(ply["seat"], ply["move"]) for ply in self._played]

    def legal_moves(self) -> list[str]:
        """The legal moves of the position; none before STATE."""
        self.read()
        if self._rules is None or self._position is None:
            return []
        return list(self._rules.legal_moves(self._position))

    def snapshot(self) -> dict[str, Any]:
        """Everything that has been shown of the game."""
        self.read()
        return {
            "game": self._info,
            "started": self._started,
            "plies": self._played,
            "faults": self._faults,
            "infos": self._infos,
            "state": self.state(),
            "over": self._end,
            "since_ms": self.since_ms(),
        }

    def since_ms(self) -> int:
        """How long the clock of the seat to move has run, in milliseconds; a note does not stop it."""
        return int(1000 * (self._clock() - self._at))

    def join(self, viewer: Viewer, last_id: str | None) -> list[bytes]:
        """Subscribe a viewer: what it missed if that is little, else a snapshot; then a sync."""
        self.read()
        self.channel.viewers.add(viewer)
        epoch, _, number = (last_id or "").rpartition("-")
        seen = small_number(number) if epoch == self._epoch else None
        if seen is not None and max(0, len(self._events) - MISSED) <= seen <= len(self._events):
            return [*self._events[seen:], self.sync()]
        here = f"{self._epoch}-{len(self._events)}"
        return [encode_event("snapshot", self.snapshot(), here)]

    def sync(self) -> bytes:
        """A sign of life, by which clocks are set right."""
        return encode_event("sync", {"since_ms": self.since_ms(), "plies": self.plies})

    def summary(self) -> dict[str, Any]:
        """The game as the wall shows it."""
        self.read()
        totals = self._played[-1]["total"] if self._played else [0] * len(self._info.get("names", ()))
        clocks = self._played[-1]["clock"] if self._played else None
        last = self._played[-1] if self._played else None
        return {
            "game_id": self.game_id,
            "game": self._info.get("game"),
            "options": self._info.get("options"),
            "names": self._info.get("names"),
            "state": self.state(),
            "ply": self.plies,
            "last": None if last is None else {"seat": last["seat"], "move": last["move"]},
            "visible": self._sequence_visible(),
            "totals": totals if self._end is None else self._end["totals"],
            "clock": clocks,
            "clock_ms": self._info.get("clock_ms"),
            "to_move": self._to_move(),
            "zombies": sorted(self._zombies),
            "end": None if self._end is None else self._end["end"],
            **({} if self._scenes is None else self._scenes.small()),
        }

    def _to_move(self) -> int | None:
        """The seat whose clock runs; None before the game and after it."""
        if self._rules is None or self._position is None or not self._started or self._end is not None:
            return None
        return self._rules.to_move(self._position) if self._rules.end(self._position) is None else None

    def _sequence_visible(self) -> str:
        return getattr(self._position, "visible", "")

    def line_item(self) -> dict[str, Any]:
        """The game in the list of running ones; of its lines only the first is parsed."""
        if not self._info:
            self.read()
        return {"game_id": self.game_id, "names": self._info.get("names")}


class LineStream(GameStream):
    """A game whose lines are added one by one; with viewers each is published at once."""

    def __init__(
        self,
        game_id: str,
        epoch: str,
        channel: Channel,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lines = LineSource(game_id)
        super().__init__(self._lines, epoch, clock, channel)

    def add(self, line: bytes) -> None:
        """Take one line."""
        self._lines.add(line, int(self._clock() * NS_PER_S))
        if self.channel.viewers:
            self.read()


def game_json(message: wire.Game) -> dict[str, Any]:
    return {
        "game_id": message.game_id,
        "game": message.game,
        "game_title": title_of(message.game),
        "options": dict(message.options),
        "names": list(message.names),
        "clock_ms": message.clock,
        "increment_ms": message.increment,
        "zombie": message.zombie,
        "commit": message.commit,
        "board": "",
        "sequence": "",
    }


def info_json(message: wire.Info) -> dict[str, Any]:
    """A note in the types of JSON, without what it does not say: a game may have ten thousands."""
    values = ((key, getattr(message, key)) for key in ("depth", "eval", "nodes", "line", "text"))
    return {
        "seat": message.seat,
        "ply": message.ply,
        **{key: value for key, value in values if value is not None},
    }
