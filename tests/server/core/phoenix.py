"""A referee that dies at any write to its disk, and its bots, who come back: all in virtual time.

What was written stays, what was not carried out is lost with the process. The bots answer by
the game and the ply alone, so that a contest ends the same however often it is interrupted.
They keep their own record of all they were told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from arena_protocol.record import GameRecord
from arena_protocol.verify import verify
from arena_server.core.config import ContestPlan, Entrant
from arena_server.core.contest import Contest
from arena_server.core.deal import number_of
from arena_server.core.effects import Close, Effect, Finished, Journal, Send, Store
from arena_server.core.events import Event, Flushed, Opened, Received, Stored, Tick
from arena_server.core.journal import Entry, Live, Past, PastGame
from arena_server.core.standings import Row

MS = 1_000_000


class CrashError(Exception):
    """The process is killed."""


@dataclass
class Disk:
    """What survives. The `fatal` write is the last of the process; `kept` tells whether it is made."""

    results: list[PastGame] = field(default_factory=list)
    records: dict[str, GameRecord] = field(default_factory=dict)
    live: Live = field(default_factory=Live)
    writes: int = 0
    fatal: dict[int, bool] = field(default_factory=dict)

    def write(self, effect: Journal | Store) -> None:
        self.writes += 1
        if self.fatal.get(self.writes, True):
            self._keep(effect)
        if self.writes in self.fatal:
            raise CrashError

    def _keep(self, effect: Journal | Store) -> None:
        if isinstance(effect, Journal):
            self.live.add(effect.entries)
            return
        record, number = effect.record, number_of(effect.game_id)
        verify(record)
        assert effect.game_id not in self.records, "a second result"
        self.records[effect.game_id] = record
        faults = tuple((record.names[fault.seat - 1], fault.kind) for fault in record.faults if fault.seat)
        self.results.append(
            PastGame(number, record.names, record.totals, record.end, len(record.plies), faults)
        )
        self.live.forget(number)

    @property
    def past(self) -> Past:
        return Past(tuple(self.results), tuple(self.live))


class Bot:
    """Plays by game and ply alone; `errs` has the (game, ply) at which it says what is not allowed."""

    def __init__(self, name: str, errs: frozenset[tuple[str, int]] = frozenset()) -> None:
        self.name = name
        self.key = ""
        self.errs = errs
        self.game = ""
        self.played: dict[tuple[str, int], str] = {}
        self.overs: dict[str, str] = {}
        self.farewell = ""

    def answer(self, line: str) -> Iterator[str]:
        verb, *words = line.split()
        if verb == "ARENA":
            yield f"HELLO 1 {self.name}" + (f" resume={self.key}" if self.key else "")
        elif verb == "ERROR" and words[0] == "token":
            self.key = ""
        elif verb == "WELCOME":
            self.key = words[2].removeprefix("resume=")
        elif verb == "GAME":
            self.game = words[0]
            yield f"READY {words[0]}"
        elif verb == "TURN":
            place = self.game, int(words[0])
            yield "MOVE 0" if place in self.errs else f"MOVE {1 + sum(map(ord, self.game)) * place[1] % 15}"
        elif verb == "PLAYED":
            self.note_played(int(words[0]), line)
        elif verb == "OVER":
            assert words[0] not in self.overs, "a result told twice"
            self.overs[words[0]] = line
        elif verb == "BYE":
            self.farewell = words[0]

    def note_played(self, ply: int, line: str) -> None:
        """A ply that is told again is told the same."""
        assert self.played.setdefault((self.game, ply), line) == line


class Phoenix:
    """One contest over as many lives of its server as it takes."""

    def __init__(self, plan: ContestPlan, bots: list[Bot], fatal: dict[int, bool] | None = None) -> None:
        self.plan = plan
        self.bots = {bot.name: bot for bot in bots}
        self.disk = Disk(fatal=fatal or {})
        self.lives = 0
        self.now = 0
        self._secrets = count(1)
        self._numbers = count(1)
        self.finished = ""

    def run(self) -> Phoenix:
        while not self.finished:
            self.lives += 1
            # A new process on a machine that has just been started: its clock begins anew.
            self.now = 1000 * MS if self.lives % 2 else 5 * MS
            try:
                self._live()
            except CrashError:
                continue
        return self

    def _live(self) -> None:
        past = self.disk.past if self.lives > 1 else None
        entrants = [Entrant(name) for name in self.bots]
        self.contest = Contest(self.plan, entrants, lambda _: f"s{next(self._secrets)}", self.now, past)
        self._conns: dict[int, Bot] = {}
        self._events: deque[Event] = deque([Tick()])
        self._drain()
        for bot in self.bots.values():
            self._connect(bot)
            self._drain()
        while not self.finished:
            deadline = self.contest.deadline
            assert deadline is not None, "nothing will ever happen again"
            self.now = max(self.now, deadline)
            self._events.append(Tick())
            self._drain()

    def _connect(self, bot: Bot) -> None:
        conn = next(self._numbers)
        self._conns[conn] = bot
        self._events.append(Opened(conn, bot.name))

    def _drain(self) -> None:
        while self._events:
            self.now += 10_000
            for effect in self.contest.handle(self._events.popleft(), self.now):
                self._carry_out(effect)

    def _carry_out(self, effect: Effect) -> None:
        if isinstance(effect, Journal | Store):
            self.disk.write(effect)
            if isinstance(effect, Store):
                self._events.append(Stored(effect.game_id))
        elif isinstance(effect, Send) and effect.conn in self._conns:
            self._send(effect)
        elif isinstance(effect, Close):
            bot = self._conns.pop(effect.conn, None)
            if bot is not None and not bot.farewell:
                self._connect(bot)
        elif isinstance(effect, Finished):
            self.finished = effect.reason

    def _send(self, effect: Send) -> None:
        if effect.marker is not None:
            self._events.append(Flushed(effect.conn, effect.marker, self.now))
        bot = self._conns[effect.conn]
        for line in effect.data.decode("ascii").splitlines():
            for answer in bot.answer(line):
                self._events.append(Received(effect.conn, answer.encode("ascii"), self.now + 10_000))

    @property
    def standings(self) -> tuple[Row, ...]:
        return self.contest.progress().standings


def entries_of(effects: list[Effect]) -> list[Entry]:
    """What these effects would have in the journal."""
    return [entry for effect in effects if isinstance(effect, Journal) for entry in effect.entries]
