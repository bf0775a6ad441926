"""Sequences of events as text, for the property tests and the fuzz target of `Contest.handle`.

    open                    line CONN BYTES         overlong CONN BYTES     lost CONN
    turn CONN GAME PLY      ping CONN NUMBER        chunk CONN              flush CONN
    wait MS                 stall MS                tick                    stop
    stored GAME             command VERB TARGET     hold                    release

One event a line. `flush` reports the oldest marker that the contest has sent; `turn`, `ping` and
`chunk` report any marker. After `hold` no marker and no record is reported by itself, after
`release` all are. Every sequence of bytes is a script: a line that is none of these is sent by
connection 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from arena_server.core.contest import Contest
from arena_server.core.effects import ChunkMark, PingMark, TurnMark
from arena_server.core.events import (
    Abandoned,
    Command,
    Event,
    Flushed,
    LineTooLong,
    Lost,
    Opened,
    Received,
    Stalled,
    Stop,
    Stored,
    Thawed,
    Tick,
)
from arena_server.terms.config import ContestConfig, Entrant

from .harness import MS, Harness

#: Numbers beyond this are cut: a script does not wait for years.
LARGEST = 10**7

#: From nothing to a game that has begun and a spectator who watches it.
PROLOGUE: tuple[bytes, ...] = (
    b"open", b"open", b"line 1 HELLO 1 ann", b"line 2 HELLO 1 bob", b"open", b"line 3 HELLO 1 eye",
    b"line 3 WATCH *", b"line 1 READY g3", b"line 2 READY g3",
)  # fmt: skip


class EventScript(Harness):
    """Three bots that play, one that watches, and limits so small that each of them is met."""

    def __init__(self, game: str) -> None:
        secrets = count(1)
        options = {"plies": 3, "start": "empty"} if game == "insertion" else {}
        config = ContestConfig(
            name="any", seed=1, game=game, options=options, clock_ms=100, ready_ms=300, login_ms=500,
            handover_ms=200, stall_ms=300, lag_quota_ms=50, absent_ms=5000, probation=2,
            out_of_turn_limit=1, flood_limit=4, spectator_delay_ms=60,
        )  # fmt: skip
        entrants = [
            Entrant("ann"),
            Entrant("bob", ponders=False),
            Entrant("eve"),
            Entrant("eye", plays=False),
        ]
        super().__init__(Contest(config, entrants, lambda _: f"s{next(secrets)}", 0))
        self._conns = count(1)
        self._numbers = count(1)

    def run(self, steps: Iterable[bytes]) -> EventScript:
        for step in steps:
            self.step(step)
        return self

    def step(self, step: bytes) -> None:
        verb, _, rest = step.partition(b" ")
        if verb == b"hold":
            self.flushes = self.takes = self.stores = False
        elif verb == b"release":
            self.flushes = self.takes = self.stores = True
            for conn in sorted(self.open):
                while self.markers.get(conn):
                    self.flush(conn)
        elif verb == b"flush":
            self.flush(_number(rest))
        else:
            if verb == b"wait":
                self.now += _number(rest) * MS
            self.event(self._event(verb, rest, step))
        self.contest.status.progress()
        self.contest.status.overview()

    def _event(self, verb: bytes, rest: bytes, step: bytes) -> Event:
        first, _, more = rest.partition(b" ")
        conn = _number(first)
        match verb:
            case b"open":
                return Opened(next(self._conns), "somewhere")
            case b"line":
                return Received(conn, more, self.now)
            case b"overlong":
                return LineTooLong(conn, self.now, more)
            case b"lost":
                return Lost(conn, "gone")
            case b"turn":
                game, _, ply = more.partition(b" ")
                return Flushed(conn, TurnMark(_number(game), _number(ply)), self.now)
            case b"ping":
                return Flushed(conn, PingMark(_number(more)), self.now)
            case b"chunk":
                return Flushed(conn, ChunkMark(), self.now)
            case b"stored":
                return Stored(rest.decode("latin-1"))
            case b"wait" | b"tick":
                return Tick()
            case b"stall":
                return Stalled(self.now - conn * MS, self.now)
            case b"command":
                order, target = first.decode("latin-1"), more.decode("latin-1")
                return Command(next(self._numbers), order, target)
            case b"stop":
                return Stop()
        return self._of_program(verb, first.decode("latin-1"), more) or Received(1, step, self.now)

    def _of_program(self, verb: bytes, bot: str, more: bytes) -> Event | None:
        match verb:
            case b"abandon":
                return Abandoned(bot, 1, more.decode("latin-1"))
            case b"thawed":
                return Thawed(bot, 1, _number(more))
        return None

    def end(self) -> None:
        """Stop the contest and store all that is to be stored: it has to end, with no game running."""
        self.step(b"release")
        self.step(b"stop")
        for game_id in list(self.records):
            self.event(Stored(game_id))
        self.wait(LARGEST)
        assert self.finished is not None
        assert self.contest.status.progress().running == 0


def _number(text: bytes) -> int:
    """The number that `text` is; 0 if it is none."""
    return min(int(text[:9]), LARGEST) if text[:9].isdigit() else 0
