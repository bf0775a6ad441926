"""What all engines that search to a fixed depth share: from a situation to a task for a kernel.

A subclass names its kernel and runs it; texts, roles of the plies, the limits of the depth, the switch
on the clock and the zombie guess are here. It must not know: how a tree is searched.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from functools import cached_property
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

from arena_engines.compiled import compiled
from arena_engines.engine import Analysis, Engine, EngineError, Eval, Parameter, Situation
from arena_engines.insertion.eval import MAX_DEPTH
from arena_engines.insertion.strategy import COOPERATIVE, FIXED, Strategy
from arena_engines.insertion.zombies import depth_among, zombies
from arena_protocol.games.base import GameError
from arena_protocol.games.insertion.board import Planes, check_sequence, parse_board

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


class FixedDepth(Engine):
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

    def strategy_for(self, situation: Situation) -> Strategy:
        """Return the strategy to play by now."""
        return FIXED.get(str(self.values.get("strategy")), COOPERATIVE)

    def choose(self, situation: Situation) -> int:
        """Return the best move at this depth; the first in natural order of equals."""
        return self.run(self.task_for(situation), self.strategy_for(situation)).move

    def task_for(self, situation: Situation) -> Task:
        """Return the search that this situation calls for."""
        gone = zombies(situation.moves, situation.seats, situation.seat, self.number("zombie"))
        depth = depth_on_clock(self.number("depth"), situation)
        depth = min(depth_among(depth, situation.seats, len(gone)), situation.plies_left)
        task = task_of(situation.board, situation.visible, depth, situation.seats)
        forced = ((seat - situation.seat) % situation.seats for seat in gone)
        return task._replace(roles=pack_roles(situation.seats, forced))

    def analyse(self, board: str, visible: str, depth: int) -> Analysis:
        """Return the best move of a two-seat game, its EVAL and the cost of finding it."""
        task = task_of(board, visible, depth, seats=2)
        strategy = FIXED.get(str(self.values.get("strategy")), COOPERATIVE)
        self.warm_up()
        began = perf_counter()
        found = self.run(task, strategy)
        return Analysis(*found, perf_counter() - began)


def depth_on_clock(depth: int, situation: Situation) -> int:
    """Take off one ply once 17/20 of the time bank is spent, and again once 17/20 of that rest is."""
    if situation.clock is None or not situation.bank:
        return depth
    left = situation.clock / situation.bank
    while depth > 1 and left < LOW_CLOCK:
        depth -= 1
        left /= LOW_CLOCK
    return depth


def task_of(board: str, visible: str, depth: int, seats: int) -> Task:
    """Return the task of these texts, `depth` limited to the visible pictures and to MAX_DEPTH.

    Raises EngineError for texts that are no position, and for no visible picture or depth below 1.
    """
    if depth < 1:
        raise EngineError(f"depth={depth}: expected at least 1")
    if not visible:
        raise EngineError("no picture is visible: there is nothing to insert")
    depth = min(depth, len(visible), MAX_DEPTH)
    try:
        planes = parse_board(board)
        pictures = check_sequence(visible)[:depth]
    except GameError as error:
        raise EngineError(str(error)) from error
    return Task(planes, pack_pictures(pictures), pack_roles(seats), depth)


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
