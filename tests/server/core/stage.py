"""A stage for small scenes: a contest, a clock that stands still, and what everybody heard.

Every TURN is handed over at once, every portion taken at once, and every record durable at
once, unless a scene says otherwise. Secrets are numbered words, so that a transcript can be
read and compared.
"""

from __future__ import annotations

import re
from itertools import count
from textwrap import dedent

from arena_protocol.record import FaultRecord, GameRecord
from arena_protocol.verify import verify
from arena_server.core.config import ContestPlan, Entrant
from arena_server.core.contest import Contest
from arena_server.core.effects import (
    ChunkMark,
    Close,
    Effect,
    Finished,
    Journal,
    Marker,
    Mute,
    Note,
    Send,
    Store,
    Unmute,
)
from arena_server.core.events import Event, Flushed, Lost, Opened, Overlong, Received, Stop, Stored, Tick
from arena_server.core.journal import Live, Past, PastGame

MS = 1_000_000

#: Two columns can never make a run within four plies of an empty board.
SHORT = {"plies": 4, "start": "empty", "lookahead": 2}


def secrets() -> object:
    """A source of secrets that are none: id1, key2, ..."""
    numbers = count(1)
    return lambda length: f"{'key' if length > 8 else 'id'}{next(numbers)}"


class Stage:
    def __init__(
        self, *entrants: str | Entrant, options: dict[str, object] | None = None, **plan: object
    ) -> None:
        given = {
            "name": "scene",
            "seed": 7,
            "games_per_pair": 2,
            "spectator_delay_ms": 0,
            "options": SHORT if options is None else options,
        } | plan
        bots = [Entrant(bot) if isinstance(bot, str) else bot for bot in entrants]
        self.plan = ContestPlan(**given)  # type: ignore[arg-type]
        self.contest = Contest(self.plan, bots, secrets(), 0)  # type: ignore[arg-type]
        self.now = 0
        self.hands = True
        self.takes = True
        self.stores = True
        self.conns: dict[str, int] = {}
        self.scripts: dict[int, list[str]] = {}
        self.records: dict[str, GameRecord] = {}
        self.turns: dict[int, Marker] = {}
        self.effects: list[Effect] = []
        self.past = Past()
        self._numbers = count(1)

    # -- what happens

    def event(self, event: Event) -> list[Effect]:
        """Handle an event and carry out what it leads to."""
        effects = self.contest.handle(event, self.now)
        self.effects += effects
        for effect in effects:
            self._carry_out(effect)
        return effects

    def _carry_out(self, effect: Effect) -> None:
        if isinstance(effect, Send):
            self._script(effect.conn, effect.data)
            if effect.marker is not None:
                self.turns[effect.conn] = effect.marker
                if self.takes if isinstance(effect.marker, ChunkMark) else self.hands:
                    self.hand(effect.conn)
        elif isinstance(effect, Store):
            assert effect.game_id not in self.records
            verify(effect.record)
            self.records[effect.game_id] = effect.record
            if self.stores:
                self.event(Stored(effect.game_id))

    def _script(self, conn: int, data: bytes) -> None:
        assert data.endswith(b"\n")
        for line in data.decode("ascii").splitlines():
            self.scripts.setdefault(conn, []).append(f"S  {line}")

    def open(self, name: str) -> int:
        """A new connection, known by `name` from now on."""
        conn = next(self._numbers)
        self.conns[name] = conn
        self.event(Opened(conn, f"peer-{conn}"))
        return conn

    def log_in(self, name: str, options: str = "", conn: str | None = None) -> None:
        self.open(conn or name)
        self.say(conn or name, f"HELLO 1 {name}{options}")

    def say(self, name: str, *lines: str, arrived: int | None = None) -> None:
        """Lines of `name`, that arrive now, or were there at `arrived` already."""
        conn = self.conns[name]
        for line in lines:
            self.scripts.setdefault(conn, []).append(f"C  {line}")
            stamp = self.now if arrived is None else arrived
            self.event(Received(conn, line.encode("latin-1"), stamp))

    def overlong(self, name: str, head: bytes = b"") -> None:
        self.scripts[self.conns[name]].append("C  (a line too long)")
        self.event(Overlong(self.conns[name], self.now, head))

    def hand(self, conn: int) -> None:
        self.event(Flushed(conn, self.turns[conn], self.now))

    def take(self, name: str) -> None:
        """The socket has taken a portion, and whatever comes of that, to the end."""
        self.takes = True
        self.hand(self.conns[name])

    def hang_up(self, name: str) -> None:
        self.event(Lost(self.conns[name], "gone"))

    def stored(self, game_id: str) -> None:
        self.event(Stored(game_id))

    def stop(self) -> None:
        self.event(Stop())

    def wait(self, milliseconds: float) -> None:
        """Let time pass; every deadline on the way gets its tick."""
        end = self.now + int(milliseconds * MS)
        while (deadline := self.contest.deadline) is not None and deadline <= end:
            self.now = max(self.now, deadline)
            self.event(Tick())
        self.now = end

    # -- what came of it

    def journal(self) -> tuple[Live, list[PastGame]]:
        """What is durable, if every write was."""
        live, results = Live(), list(self.past.results)
        live.add(self.past.entries)
        for effect in self.effects:
            if isinstance(effect, Journal):
                live.add(effect.entries)
        for game_id, record in self.records.items():
            if self.stores:
                number = int(game_id[1:])
                faults = tuple((record.names[f.seat - 1], f.kind) for f in record.faults if f.seat)
                results.append(
                    PastGame(number, record.names, record.totals, record.end, len(record.plies), faults)
                )
                live.forget(number)
        return live, results

    def heard(self, name: str) -> list[str]:
        """What `name` was told on its connection."""
        return [line[3:] for line in self.scripts[self.conns[name]] if line.startswith("S")]

    def last(self, name: str) -> str:
        return self.heard(name)[-1]

    def transcript(self, name: str, since: str = "ARENA") -> str:
        """What was said on the connection of `name`, from the first line of that verb on."""
        lines = [_readable(line) for line in self.scripts[self.conns[name]]]
        first = next(i for i, line in enumerate(lines) if line[3:].startswith(since))
        return "\n".join(lines[first:])

    def game(self, name: str, since: str = "START") -> str:
        """The transcript of the first game, to its OVER."""
        lines = self.transcript(name, since).splitlines()
        last = next((i for i, line in enumerate(lines) if line.startswith("S  OVER")), len(lines))
        return "\n".join(lines[: last + 1])

    def notes(self, event: str) -> list[dict[str, object]]:
        return [dict(note.fields) for note in self.effects if isinstance(note, Note) and note.event == event]

    def closed(self, name: str) -> bool:
        return Close(self.conns[name]) in self.effects

    def muted(self, name: str) -> bool:
        conn = self.conns[name]
        return self.effects.count(Mute(conn)) > self.effects.count(Unmute(conn))

    @property
    def finished(self) -> str | None:
        ends = [effect.reason for effect in self.effects if isinstance(effect, Finished)]
        assert len(ends) <= 1
        return ends[0] if ends else None


def _readable(line: str) -> str:
    """A line without what is long and checked elsewhere: nonces, and GAME beyond the names."""
    return re.sub(r"nonce=[0-9a-f]+", "nonce=...", re.sub(r"( names=\S+) .*", r"\1 ...", line))


def seated(*names: str, ready: bool = True, **more: object) -> Stage:
    """A stage on which these bots have their first game before them, or have started it."""
    stage = Stage(*names, **more)  # type: ignore[arg-type]
    for name in names:
        stage.log_in(name)
    if ready:
        for name in names:
            stage.say(name, "READY g1")
    return stage


def text(literal: str) -> str:
    """What a bot saw, as a test has it indented."""
    return dedent(literal).strip()


def faults(stage: Stage, game_id: str = "g1") -> tuple[FaultRecord, ...]:
    """What the record of a game says of faults."""
    return stage.records[game_id].faults


def finish(stage: Stage, milliseconds: int = 5) -> None:
    """The good bot, in seat 2, plays both its plies."""
    for _ in range(2):
        stage.wait(milliseconds)
        stage.say("good", "MOVE 9")
