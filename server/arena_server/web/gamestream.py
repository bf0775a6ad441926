"""One running game as the site knows it: a spectator's lines in, events for browsers out."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from arena_protocol import messages as wire
from arena_protocol.errors import ProtocolError
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, Game, GameError
from arena_server.web.scenes import SceneWriter
from arena_server.web.security import small_number
from arena_server.web.streams import Channel, Viewer, encode_event

#: A browser that comes back and missed more events than this gets a snapshot instead.
MISSED: Final = 50


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


class GameStream:
    """One running game. `read` catches up with its lines; the rest is what is known then."""

    def __init__(
        self,
        game_id: str,
        epoch: str,
        clock: Callable[[], float] = time.monotonic,
        channel: Channel | None = None,
        *,
        eager: bool = True,
    ) -> None:
        """With `eager`, lines of a game with viewers are parsed and published one by one."""
        self.game_id = game_id
        self.channel = Channel() if channel is None else channel
        self.plies = 0
        self.over = False
        self.changed = True
        self._epoch = epoch
        self._clock = clock
        self._pending: list[bytes] = []
        self._info: dict[str, Any] = {}
        #: The seat that the lines are sent to; 0 for a spectator's.
        self._seat = 0
        self._rules: Game[Any] | None = None
        self._scenes: SceneWriter | None = None
        self._position: Any = None
        self._sequence = ""
        self._played: list[dict[str, Any]] = []
        self._faults: list[dict[str, Any]] = []
        self._infos: list[dict[str, Any]] = []
        self._end: dict[str, Any] | None = None
        self._started = False
        self._events: list[bytes] = []
        self._eager = eager
        #: When the clock began to run that runs now, as far as it is known.
        self._at = clock()

    def add(self, line: bytes) -> None:
        """Take one line; it is parsed at the next `read`."""
        self._pending.append(line)
        self.changed = True
        if line.startswith(b"PLAYED "):
            self.plies += 1
            self._at = self._clock()
        elif line.startswith(b"START "):
            self._at = self._clock()
        elif line.startswith(b"OVER "):
            self.over = True
        if self._eager and self.channel.viewers:
            self.read()

    def read(self) -> None:
        """Parse what came, and publish the events. Lines that make no sense are skipped."""
        pending, self._pending = self._pending, []
        first = len(self._events)
        for line in pending:
            with suppress(ProtocolError, GameError):
                message = wire.parse_server(line)
                event = None if message is None else self._event(message)
                if event is not None:
                    kind, data = event
                    encoded = encode_event(kind, data, f"{self._epoch}-{len(self._events) + 1}")
                    self._events.append(encoded)
        if len(self._events) > first:
            self.channel.publish(b"".join(self._events[first:]))

    def _event(self, message: wire.ServerMessage) -> tuple[str, dict[str, Any]] | None:
        match message:
            case wire.Game():
                self._info = plain_game(message)
                self._seat = message.seat
                self._rules = make_game(message.game, {**message.options, "seats": message.seats})
                self._scenes = SceneWriter(self._rules)
            case wire.State(text):
                self._begin(board=text)
            case wire.Next(text):
                self._sequence = text
                self._begin(sequence=text)
            case wire.Start():
                self._started = True
                return "started", {}
            case wire.Played() if self._position is not None:
                return "played", self._play(message)
            case wire.Zombie():
                fault = {
                    "seat": message.seat or self._seat,
                    "ply": message.ply,
                    "kind": message.reason,
                    "line": (message.line or b"").hex(),
                }
                self._faults.append(fault)
                return "zombie", fault
            case wire.Info(seat=int()):
                info = plain_info(message)
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
        """Take the position before the first ply, from STATE and then from NEXT."""
        if self._rules is not None and self._scenes is not None:
            self._info |= texts
            self._position = self._rules.start(Deal(self._info["board"], self._sequence))
            self._info |= self._scenes.start(self._position)

    def _play(self, message: wire.Played) -> dict[str, Any]:
        assert self._rules is not None
        assert self._scenes is not None
        self._position = self._rules.play(self._position, message.move).position
        if message.reveal is not None:
            self._position = self._rules.extend(self._position, message.reveal)
        ply = {
            "ply": message.ply,
            "seat": message.seat,
            "move": message.move,
            "time_ms": message.time,
            "clock": list(message.clock),
            "points": message.points,
            "total": list(message.total),
            "reveal": message.reveal,
            "zombie": any(fault["seat"] == message.seat for fault in self._faults),
            **self._scenes.after(self._position, message.move),
        }
        self._played.append(ply)
        return ply | {"state": self.state()}

    def state(self) -> str:
        """The position as STATE prints it."""
        if self._rules is None or self._position is None:
            return ""
        return self._rules.state_text(self._position)

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
            "zombies": sorted({fault["seat"] for fault in self._faults}),
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


def plain_game(message: wire.Game) -> dict[str, Any]:
    return {
        "game_id": message.game_id,
        "game": message.game,
        "options": dict(message.options),
        "names": list(message.names),
        "clock_ms": message.clock,
        "increment_ms": message.increment,
        "zombie": message.zombie,
        "commit": message.commit,
        "board": "",
        "sequence": "",
    }


def plain_info(message: wire.Info) -> dict[str, Any]:
    """A note in the types of JSON, without what it does not say: a game may have ten thousands."""
    values = ((key, getattr(message, key)) for key in ("depth", "eval", "nodes", "line", "text"))
    return {
        "seat": message.seat,
        "ply": message.ply,
        **{key: value for key, value in values if value is not None},
    }
