"""Programs of one game that compute by turns share a core, so that no message has to wake another one.

    a game begins -> begun: a first reading of its programs
    its record    -> over: what each of them did since its last reading
                     all by turns -> bound to one core, the referee too if it has no other game
                     else         -> bound to none

A program that computes in several threads or processes, or while its clock stands, is never bound: it would
take the time of its opponent. One that has to wait for its core is not either:
another program uses that.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from arena_server.places.cores import own_cores
from arena_server.places.process_time import GroupWork

NS_PER_MS = 1_000_000
#: What a program may do in a game while its clock stands, and in a ply: its charge is rounded down.
GAME_NS, PLY_NS = 5 * NS_PER_MS, NS_PER_MS
#: What other threads than its busiest one may do in a game, and the part of its work that they may do.
BESIDE_NS, BESIDE = NS_PER_MS, 0.05
#: What it may wait for its core in a ply, for each game there: the referee, which has just sent it a line,
#: has to end first. And the part of its work that it may wait besides.
WAIT_NS, WAITING = NS_PER_MS // 4, 0.05
#: The work of a ply below which the referee alone keeps a core busy: another one costs more than it gives.
LIGHT_NS = 40_000
#: How often a program is looked at, at the most: a reading takes 0.2 ms, and 2 ms among 1,000 processes.
INTERVAL_NS = 500 * NS_PER_MS
#: How long a program that had to wait is bound to no core.
CROWDED_NS = 10_000 * NS_PER_MS

#: The name and the slot of its bot.
Program = tuple[str, int]


@dataclass(slots=True)
class Stint:
    """What a program has played since its last reading: its plies were charged `charged` ms."""

    games: int = 0
    plies: int = 0
    charged: int = 0

    def is_serial(self, spent: int, busiest: int) -> bool:
        """Whether one thread did the work that was `spent` (ns), and did it while the clock ran."""
        by_one = self.plies > 0 and spent - busiest <= self.games * BESIDE_NS + BESIDE * spent
        return by_one and spent <= self.charged * NS_PER_MS + self.games * GAME_NS + self.plies * PLY_NS

    def is_crowded(self, waited: int, spent: int, games: int) -> bool:
        """Whether more than the referee and these `games` at once kept its core from it on its clock."""
        # It may wait for its opponent's turn to end with a line that does not ask it, and it may sleep.
        lost = min(waited, self.charged * NS_PER_MS - spent)
        return lost > self.games * GAME_NS + self.plies * WAIT_NS * games + WAITING * spent


@dataclass(slots=True)
class _BotProcesses:
    """The processes of a program: their last reading, and the core that they are bound to."""

    group: int
    work: GroupWork
    read_at: int
    played: Stint = field(default_factory=Stint)
    judged: bool = False
    serial: bool = False
    light: bool = False
    crowded_until: int = 0
    core: int | None = None


class SharedCores:
    """Binds these programs, and the thread that makes it; with one core, and without Linux, it does nothing.

    `group_of` returns the session of a program, None for one that has none on this machine.
    """

    def __init__(
        self,
        programs: Collection[Program],
        group_of: Callable[[str, int], int | None],
        *,
        read: Callable[[int], GroupWork | None] = GroupWork.read,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._number = len(programs)
        #: Whether one game is played at a time.
        self._alone = all(slot == 1 for _, slot in programs)
        self._group_of = group_of
        self._read = read
        self._clock = clock
        self._cores = own_cores()
        self._programs: dict[Program, _BotProcesses] = {}
        self._games: dict[str, Sequence[Program]] = {}
        #: The core of this thread.
        self._own: int | None = None

    def begun(self, game: str, players: Sequence[Program]) -> None:
        """A game of these programs begins."""
        if len(self._cores) < 2:
            return
        self._games[game] = players
        for player in players:
            known, group = self._programs.get(player), self._group_of(*player)
            if known is None or known.group != group:  # it was started, perhaps again
                self._programs.pop(player, None)
                if group is not None and (work := self._read(group)) is not None:
                    self._programs[player] = _BotProcesses(group, work, self._clock())
        self._bind(players)

    def over(self, game: str, charged: Sequence[int], plies: int) -> int | None:
        """A game is over, whose seats were charged these ms; returns the core on which it was played.

        None: its programs were not bound.
        """
        players = self._games.pop(game, ())
        programs = [self._programs.get(player) for player in players]
        cores = {None if program is None else program.core for program in programs}
        due = False
        for program, charge in zip(programs, charged, strict=False):
            if program is not None:
                program.played.games += 1
                program.played.plies += -(-plies // len(players))
                program.played.charged += charge
                due |= not program.judged or self._clock() - program.read_at >= INTERVAL_NS
        if due:  # all of them: who has just stopped to compute by turns is not bound by what it did before
            for player, program in zip(players, programs, strict=True):
                if program is not None:
                    self._look(player, program)
            self._bind(players)
        return cores.pop() if len(cores) == 1 else None

    def _look(self, player: Program, program: _BotProcesses) -> None:
        """Read what a program did."""
        now, played, before = self._clock(), program.played, program.work
        work = self._read(program.group) if self._group_of(*player) == program.group else None
        if work is None:
            del self._programs[player]
            return
        spent, busiest = work.since(before)
        program.judged, program.serial = True, played.is_serial(spent, busiest)
        program.light = spent <= played.plies * LIGHT_NS
        if played.is_crowded(work.waited - before.waited, spent, self._games_on(program.core)):
            program.crowded_until = now + CROWDED_NS
        program.work, program.read_at, program.played = work, now, Stint()

    def _games_on(self, core: int | None) -> int:
        """How many games may be played on a core at once."""
        return 1 if core is None else -(-sum(each.core == core for each in self._programs.values()) // 2)

    def _bind(self, players: Sequence[Program]) -> None:
        """Bind the programs of a game to a core, or to none."""
        game = [program for player in players if (program := self._programs.get(player)) is not None]
        core, together = None, self._alone
        if game and len(game) == len(players) and all(self._may_share(each) for each in game):
            everyone = self._programs.values()
            light = all(each.light and self._may_share(each) for each in everyone)
            together |= light and len(everyone) == self._number
            core = self._core_of(game, together)
        for program in game:
            if program.core != core:
                self._move(program, core)
        self._move_self(core if together else None)

    def _may_share(self, program: _BotProcesses) -> bool:
        return program.serial and program.crowded_until <= self._clock()

    def _core_of(self, game: Sequence[_BotProcesses], together: bool) -> int:
        """The core of a game: that of all if they are `together`, else one that has the fewest others."""
        if together and self._own is not None:
            return self._own
        others = [each.core for each in self._programs.values() if each not in game]
        own, last = [each.core for each in game], game[0].work.core
        return min(self._cores, key=lambda core: (others.count(core), core not in own, core != last))

    def _move(self, program: _BotProcesses, core: int | None) -> None:
        """Bind the threads of a program, but one that has chosen its cores itself.

        On a core that it shares it is a batch program (sched(7)): a line that it gets interrupts neither its
        opponent nor the referee, which is about to start its clock.
        """
        known, policy = self._where(program.core)
        cores, wanted = self._where(core)
        work = self._read(program.group)
        program.core = core
        for thread in () if work is None else work.threads:
            with suppress(OSError):  # it has just ended, or is another user's
                if os.sched_getaffinity(thread) == known:
                    os.sched_setaffinity(thread, cores)
                    if os.sched_getscheduler(thread) == policy:
                        os.sched_setscheduler(thread, wanted, os.sched_param(0))

    def _where(self, core: int | None) -> tuple[set[int], int]:
        """The cores and the policy of what is bound to a core, or to none."""
        return (set(self._cores), os.SCHED_OTHER) if core is None else ({core}, os.SCHED_BATCH)

    def _move_self(self, core: int | None) -> None:
        if core != self._own:
            self._own = core
            os.sched_setaffinity(0, self._cores if core is None else [core])

    def close(self) -> None:
        """Let this thread use all cores again."""
        self._move_self(None)
