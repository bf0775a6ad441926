"""The base of engines that search to a fixed depth: from a position to one call of a kernel.

A subclass names its kernel and runs it on a `Task`. Shared here: packed pictures and roles, the limits of the
depth, one ply less when the clock runs low, and the guess which opponents are zombies. The referee does not
announce zombies, but a zombie plays nothing but 6: after `zombie` sixes in a row a seat's plies have one move
instead of up to fifteen, and the depth grows by the plies that cost nothing (seed 001 takes 5 or 6 sixes).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from time import perf_counter, thread_time
from typing import Any, ClassVar, NamedTuple

from arena_engines.engine import Analysis, Engine, EngineError, Eval, Parameter, Position, Report
from arena_engines.insertion.evaluation import (
    COOPERATIVE,
    FIXED,
    FORCED,
    INFINITY,
    MAX_DEPTH,
    THEIRS,
    ZOMBIE_MOVE,
    Strategy,
)
from arena_engines.insertion.wildcards import expected
from arena_engines.jit import compiled
from arena_protocol.games.insertion import Insertion
from arena_protocol.games.insertion.board import MAX_COLOURS, Planes
from arena_protocol.games.insertion.game import MAX_PLIES
from arena_protocol.games.insertion.game import Position as State

InsertionPosition = Position[Insertion, State]

#: The open window of a search.
WINDOW = (-INFINITY, INFINITY)

#: Consecutive sixes that make a zombie; 0 disables the guess.
ZOMBIE = Parameter("zombie", 6, 0, 100, play_only=True)

#: The percentage of the bank after which the depth falls by one; 100 disables the switch. Seed 001 searched
#: one ply less after 17 of its 20 seconds.
SWITCH = Parameter("switch", 85, 1, 100, play_only=True)

#: Plies searched beyond the visible pictures, by expected values (wildcards.py).
WILDCARDS = Parameter("wildcards", 0, 0, 3, play_only=True)


#: The moves of a ply; how many times as long a ply more is expected to take under a limit of the move. The
#: champion's nodes grow 4.6 times in the median, 9.3 times at the 95th percentile, 18.8 was the most of 200
#: (bench positions, 3 to 8 plies): a ply less costs a few points, a limit overstepped the game.
WIDTH, GROWTH = 15, 20.0


class Task(NamedTuple):
    """One search as the kernels take it.

    planes: three bitboards of 25 bits; pictures: colours, 3 bits a ply; roles: 2 bits a ply (THEIRS, FORCED);
    the ply to be played is in the lowest bits of both. depth: plies over known pictures, 1..MAX_DEPTH;
    wildcards: plies after those, over unknown ones.
    """

    planes: Planes
    pictures: int
    roles: int
    depth: int
    wildcards: int = 0


class PlacedValue(NamedTuple):
    """The result of a search: the move, the tiers of its line, and the moves made."""

    move: int
    eval: Eval
    nodes: int


def depth_parameter(default: int) -> Parameter:
    return Parameter("depth", default, 1, MAX_DEPTH, play_only=True)


class InsertionEngine(Engine):
    """A player of insertion with an analysis."""

    game: ClassVar[str] = "insertion"
    max_depth: ClassVar[int] = MAX_DEPTH
    analysis_options: ClassVar[Mapping[str, object]] = {"colours": MAX_COLOURS, "plies": MAX_PLIES}

    @abstractmethod
    def choose(self, position: InsertionPosition) -> int:
        """Return the move to play, 1..15."""

    @abstractmethod
    def analyse(self, position: InsertionPosition, depth: int) -> Analysis:
        """Return the best move, its `Eval` and the cost; the visible pictures limit the depth.

        Raises EngineError for no visible picture and for a depth below 1.
        """


class FixedDepth(InsertionEngine):
    """An engine that searches to `depth`, less where pictures or time run out.

    With three or four seats all others are one opponent: every other seat minimises.
    """

    kernel: ClassVar[Callable[..., tuple[int, ...]]]

    def warm_up(self) -> None:
        """Compile or load the kernel."""
        self.compiled_kernel  # noqa: B018 - the look-up compiles
        if self.number("wildcards"):
            compiled(expected)

    @cached_property
    def compiled_kernel(self) -> Callable[..., Any]:
        """The kernel as machine code; the first look-up takes up to some seconds."""
        return compiled(self.kernel)

    @abstractmethod
    def run(self, task: Task, strategy: Strategy) -> PlacedValue:
        """Search one task."""

    def number(self, name: str) -> int:
        """Return the value of an integer parameter; 0 if this engine has none of the name."""
        return int(self.values.get(name) or 0)

    def strategy_for(self, position: InsertionPosition) -> Strategy:
        return FIXED.get(str(self.values.get("strategy")), COOPERATIVE)

    def choose(self, position: InsertionPosition) -> int:
        """Return the best move; of equal moves the first in natural order."""
        task, strategy = self.task_for(position), self.strategy_for(position)
        found = None
        if position.move_limit is not None:
            task, found = self.within(task, strategy, position.longest(None), position.rules.colours)
        if task.wildcards:
            return self.expect(task, strategy, position.rules.colours)
        found = found or self.run(task, strategy)
        lead = found.eval.mine - found.eval.theirs
        self.report = Report(task.depth, lead, found.nodes, (found.move,))
        return found.move

    def within(
        self, task: Task, strategy: Strategy, limit_ms: float, colours: int
    ) -> tuple[Task, PlacedValue]:
        """The deepest search of at most `task` that is expected to end within `limit_ms`, and what it found.

        A kernel cannot be stopped: the next ply is searched if `GROWTH` times the time of the last is left.
        Without the time for wildcards the task has none.
        """
        began = last = perf_counter()
        took = 0.0
        reached, found = task, None
        for depth in range(1, task.depth + 1):
            if found is not None and last - began + GROWTH * took > limit_ms / 1000:
                break
            reached = task._replace(depth=depth, wildcards=0)
            found = self.run(reached, strategy)
            now = perf_counter()
            took, last = now - last, now
        assert found is not None, "a task has a depth of 1 at least"
        more = took * (colours * WIDTH) ** task.wildcards
        fits = reached.depth == task.depth and last - began + more <= limit_ms / 1000
        return reached._replace(wildcards=task.wildcards if fits else 0), found

    def expect(self, task: Task, strategy: Strategy, colours: int) -> int:
        """Return the best move by expected values over the wildcards of the task."""
        plies = task.depth, task.depth + task.wildcards
        kernel = compiled(expected)
        found = kernel(*task.planes, task.pictures, task.roles, *plies, colours, *WINDOW, *strategy.cells)
        move = int(found[1])
        self.report = Report(plies[1], line=(move,))
        return move

    def task_for(self, position: InsertionPosition) -> Task:
        """Return the search for `choose`: its depth follows from the parameter, the clock and zombies."""
        seat, seats = position.seat, position.rules.seats
        gone = zombies(position.moves, seats, seat, self.number("zombie"))
        depth = depth_on_clock(self.number("depth"), position.clock, position.bank, self.number("switch"))
        depth = depth_with_zombies(depth, seats, len(gone))
        task = task_of(position, depth)
        forced = ((other - seat) % seats for other in gone)
        unknown = position.rules.plies - len(position.state.sequence)
        # What the depth wants beyond the visible pictures, as far as the game still has plies.
        wildcards = min(depth - task.depth, self.number("wildcards"), unknown, MAX_DEPTH - task.depth)
        return task._replace(roles=pack_roles(seats, forced), wildcards=wildcards)

    def analyse(self, position: InsertionPosition, depth: int) -> Analysis:
        """Return the best move, its `Eval` and the cost of finding it."""
        task = task_of(position, depth)
        strategy = FIXED.get(str(self.values.get("strategy")), COOPERATIVE)
        self.warm_up()
        began = thread_time()
        found = self.run(task, strategy)
        return Analysis(*found, task.depth, thread_time() - began)


def zombies(moves: Sequence[str], seats: int, seat: int, sixes: int) -> frozenset[int]:
    """Return the other seats whose last `sixes` moves were all 6; none if `sixes` is 0.

    `moves` are those of the whole game, seat 1 first. A seat that has made fewer moves is no zombie.
    """
    if sixes == 0:
        return frozenset()
    others = (other for other in range(1, seats + 1) if other != seat)
    return frozenset(other for other in others if _plays_six(moves[other - 1 :: seats], sixes))


def _plays_six(moves: Sequence[str], sixes: int) -> bool:
    return len(moves) >= sixes and all(int(move) == ZOMBIE_MOVE for move in moves[-sixes:])


def depth_with_zombies(depth: int, seats: int, found: int) -> int:
    """Return the depth that costs what `depth` costs without zombies: twice as much with one of two seats.

    Zombies' plies add no branches, so the branches of the other seats spread over more plies.
    """
    return depth * seats // (seats - found)


def depth_on_clock(depth: int, clock: int | None, bank: int | None, switch: int = 85) -> int:
    """Subtract one ply when `switch` percent of the bank is spent, and again when as much of that rest is.

    Without a clock the depth stays.
    """
    low = (100 - switch) / 100
    if clock is None or not bank or not low:
        return depth
    left = clock / bank
    while depth > 1 and left < low:
        depth -= 1
        left /= low
    return depth


def task_of(position: InsertionPosition, depth: int) -> Task:
    """Return the search of this position, `depth` limited to the visible pictures and to MAX_DEPTH.

    Raises EngineError for no visible picture and for a depth below 1.
    """
    visible = position.state.visible
    if depth < 1:
        raise EngineError(f"depth={depth}: expected at least 1")
    if not visible:
        raise EngineError("no picture is visible: there is nothing to insert")
    depth = min(depth, len(visible), MAX_DEPTH)
    return Task(
        position.state.planes, pack_pictures(visible[:depth]), pack_roles(position.rules.seats), depth
    )


def pack_pictures(pictures: str) -> int:
    """Pack the colours of up to MAX_DEPTH plies, three bits each, the first lowest."""
    return sum(int(colour) << 3 * ply for ply, colour in enumerate(pictures))


def pack_roles(seats: int, forced: Iterable[int] = ()) -> int:
    """Pack the roles of MAX_DEPTH plies, two bits each, the first lowest: mine, then those of the others.

    `forced` are the zombies, by how many seats after mine they sit (1..seats - 1).
    """
    round_ = [0] + [THEIRS] * (seats - 1)
    for turn in forced:
        round_[turn] |= FORCED
    return sum(round_[ply % seats] << 2 * ply for ply in range(MAX_DEPTH))
