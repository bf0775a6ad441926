"""A server that is killed at chosen writes to its disk, and bots that come back, in virtual time.

What was written stays, what was not carried out is lost with the process. The bots answer by
the game and the ply alone, so that a contest ends the same however often it is interrupted.
They keep their own record of all they received.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from arena_protocol.record import GameRecord
from arena_server.core.contest import Contest
from arena_server.core.deal import number_of
from arena_server.core.effects import Effect, Journal, Marker, Store
from arena_server.core.events import Event, Opened, Received, Tick
from arena_server.core.journal import Live, Past
from arena_server.stats.results import PastGame
from arena_server.stats.standings import Row
from arena_server.terms.config import ContestConfig, Entrant

from .harness import MS, Harness, past_game


class CrashError(Exception):
    """The process is killed."""


@dataclass
class Disk:
    """What survives. A `fatal` write is the last of its process; the value says whether it is made."""

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
        assert effect.game_id not in self.records, "a second result"
        self.records[effect.game_id] = effect.record
        self.results.append(past_game(effect.record, self.live))
        self.live.forget(number_of(effect.game_id))

    @property
    def past(self) -> Past:
        return Past(tuple(self.results), tuple(self.live))


class Bot:
    """Plays by game and ply alone; `errs` has the (game, ply) at which it sends an illegal move."""

    def __init__(self, name: str, errs: frozenset[tuple[str, int]] = frozenset(), slot: int = 1) -> None:
        self.name = name
        self.slot = slot
        self.key = ""
        self.errs = errs
        self.game = ""
        self.played: dict[tuple[str, int], str] = {}
        self.overs: dict[str, str] = {}
        self.bye = ""

    def answer(self, line: str) -> Iterator[str]:
        verb, *words = line.split()
        if verb == "ARENA":
            yield f"HELLO 1 {self.name}" + (f" resume={self.key}" if self.key else f" slot={self.slot}")
        elif verb == "ERROR":
            raise AssertionError(f"{self.name} with the key {self.key or 'none'}: {line}")
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
            assert words[0] not in self.overs, "a second OVER of one game"
            self.overs[words[0]] = line
        elif verb == "BYE":
            self.bye = words[0]

    def note_played(self, ply: int, line: str) -> None:
        """A ply that is sent again is the same."""
        assert self.played.setdefault((self.game, ply), line) == line


class Process(Harness):
    """One life of the server; each event takes 10 us, and an answer as long to arrive."""

    def __init__(self, contest: Contest, now: int, disk: Disk, bots: list[Bot], conns: Iterator[int]) -> None:
        super().__init__(contest, now)
        self._disk = disk
        self._conns = conns
        self._bots: dict[int, Bot] = {}
        self.event(Tick())
        for bot in bots:
            self._connect(bot)
            self.drain()

    def run(self) -> None:
        while not self.finished:
            deadline = self.machine.deadline
            assert deadline is not None, "nothing will ever happen again"
            self.now = max(self.now, deadline)
            self.event(Tick())

    def _connect(self, bot: Bot) -> None:
        conn = next(self._conns)
        self._bots[conn] = bot
        self._events.append(Opened(conn, bot.name))

    def _handle(self, event: Event) -> list[Effect]:
        self.now += 10_000
        return super()._handle(event)

    def write(self, effect: Journal | Store) -> None:
        self._disk.write(effect)

    def sent(self, conn: int, data: bytes, marker: Marker | None) -> None:
        for line in data.decode("ascii").splitlines():
            for answer in self._bots[conn].answer(line):
                self._events.append(Received(conn, answer.encode("ascii"), self.now + 10_000))

    def closed(self, conn: int) -> None:
        bot = self._bots.pop(conn)
        if not bot.bye:
            self._connect(bot)


class CrashHarness:
    """One contest over as many lives of its server as it takes."""

    def __init__(self, config: ContestConfig, bots: list[Bot], fatal: dict[int, bool] | None = None) -> None:
        self.config = config
        #: The bots of slot 1 by name, and the others by name and slot.
        self.bots = {bot.name if bot.slot == 1 else f"{bot.name}/{bot.slot}": bot for bot in bots}
        self.disk = Disk(fatal=fatal or {})
        self.lives = 0
        self.finished = ""
        self.standings: tuple[Row, ...] = ()
        self._secrets = count(1)
        self._conns = count(1)

    def run(self) -> CrashHarness:
        while not self.finished:
            self.lives += 1
            try:
                self._live()
            except CrashError:
                continue
        return self

    def _live(self) -> None:
        # A new process on a machine that has just been started: its clock starts from another value.
        now = 1000 * MS if self.lives % 2 else 5 * MS
        past = self.disk.past if self.lives > 1 else None
        slots = Counter(bot.name for bot in self.bots.values())
        entrants = [Entrant(name, concurrency=slots[name]) for name in slots]
        contest = Contest(self.config, entrants, lambda _: f"s{next(self._secrets)}", now, past)
        process = Process(contest, now, self.disk, list(self.bots.values()), self._conns)
        process.run()
        self.finished = process.finished or ""
        self.standings = contest.status.progress().standings
