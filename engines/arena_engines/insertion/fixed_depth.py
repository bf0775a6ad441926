"""What all engines that search to a fixed depth share: from a situation to a task for a kernel.

A subclass names its kernel and runs it; texts, roles of the plies, the limits of the depth, the switch
on the clock and the zombie guess are here. It must not know: how a tree is searched.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

from arena_engines.engine import Analysis, Engine, EngineError, Eval, Parameter, Position
from arena_engines.insertion.eval import MAX_DEPTH
from arena_engines.insertion.strategy import COOPERATIVE, FIXED, Strategy
from arena_engines.insertion.zombies import depth_among, zombies
from arena_engines.jit import compiled
from arena_protocol.games.insertion import Insertion
from arena_protocol.games.insertion.game import MAX_PLIES
from arena_protocol.games.insertion.game import Position as State
from arena_protocol.games.insertion.text import MAX_COLOURS, Planes

InsertionPosition = Position[Insertion, State]

#: The two bits of a ply's role: another seat moves; and it can only play the zombie's move.
THEIRS = 0b01
FORCED = 0b10

#: The seed's clock: after 17 of its 20 seconds it searched one ply less deep.
LOW_CLOCK = 3 / 20


class Task(NamedTuple):
    """One search: everything that a kernel needs, as integers."""

    planes: Planes
    pictures: int
    roles: int
    depth: int


class Found(NamedTuple):
    """What a kernel found: the move, what the line comes to, and the moves made."""

    move: int
    eval: Eval
    nodes: int


def depth_parameter(default: int) -> Parameter:
    """Return the parameter `depth` with this default."""
    return Parameter("depth", default, 1, MAX_DEPTH)


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
    """An engine that searches to `depth`, less where pictures, plies or time run out.

    With three or four seats all others are one opponent: whoever of them moves minimises.
    """

    kernel: ClassVar[Callable[..., tuple[int, ...]]]

    def warm_up(self) -> None:
        """Compile or load the kernel."""
        self.compiled_kernel  # noqa: B018 - the look-up compiles

    @cached_property
    def compiled_kernel(self) -> Callable[..., Any]:
        """The kernel as machine code; the first look-up takes up to some seconds."""
        return compiled(self.kernel)

    @abstractmethod
    def run(self, task: Task, strategy: Strategy) -> Found:
        """Search one task."""

    def number(self, name: str) -> int:
        """Return the value of a parameter that is a number; 0 if this engine has none of the name."""
        return int(self.values.get(name) or 0)

    def strategy_for(self, position: InsertionPosition) -> Strategy:
        """Return the strategy to play by now."""
        return FIXED.get(str(self.values.get("strategy")), COOPERATIVE)

    def choose(self, position: InsertionPosition) -> int:
        """Return the best move at this depth; the first in natural order of equals."""
        return self.run(self.task_for(position), self.strategy_for(position)).move

    def task_for(self, position: InsertionPosition) -> Task:
        """Return the search for `choose`: depth by parameter, clock and zombies."""
        seat, seats = position.seat, position.rules.seats
        gone = zombies(position.moves, seats, seat, self.number("zombie"))
        depth = depth_on_clock(self.number("depth"), position.clock, position.bank)
        task = task_of(position, depth_among(depth, seats, len(gone)))
        forced = ((other - seat) % seats for other in gone)
        return task._replace(roles=pack_roles(seats, forced))

    def analyse(self, position: InsertionPosition, depth: int) -> Analysis:
        """Return the best move, its `Eval` and the cost of finding it."""
        task = task_of(position, depth)
        strategy = FIXED.get(str(self.values.get("strategy")), COOPERATIVE)
        self.warm_up()
        began = perf_counter()
        found = self.run(task, strategy)
        return Analysis(*found, perf_counter() - began)


def depth_on_clock(depth: int, clock: int | None, bank: int | None) -> int:
    """Take off one ply once 17/20 of the time bank is spent, and again once 17/20 of that rest is."""
    if clock is None or not bank:
        return depth
    left = clock / bank
    while depth > 1 and left < LOW_CLOCK:
        depth -= 1
        left /= LOW_CLOCK
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

    `forced` are the zombies, by how many seats after mine they sit (1 .. seats - 1).
    """
    round_ = [0] + [THEIRS] * (seats - 1)
    for turn in forced:
        round_[turn] |= FORCED
    return sum(round_[ply % seats] << 2 * ply for ply in range(MAX_DEPTH))
