"""What all engines that search to a fixed depth share: from a situation to a task for a kernel.

A subclass names its kernel and runs it; texts, roles of the plies, the limits of the depth and the
switch on the clock are here. It must not know: how a tree is searched.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from time import perf_counter
from typing import ClassVar, NamedTuple

from arena_engines.compiled import compiled
from arena_engines.engine import Analysis, Engine, EngineError, Situation
from arena_engines.insertion.eval import MAX_DEPTH, MY_CELL, THEIR_CELL, unpack
from arena_protocol.games.base import GameError
from arena_protocol.games.insertion.text import Planes, check_sequence, parse_board

#: The two bits of a ply's role: another seat moves; and it can only play the zombie's move.
THEIRS = 0b01
FORCED = 0b10
ZOMBIE_MOVE = 6

#: The seed's clock: after 17 of its 20 seconds it searched one ply less deep.
LOW_CLOCK = 3 / 20


class Task(NamedTuple):
    """One search: everything that a kernel needs, as integers."""

    planes: Planes
    pictures: int
    roles: int
    depth: int
    cells: tuple[int, int] = (MY_CELL, THEIR_CELL)


class Found(NamedTuple):
    """What a kernel returns."""

    value: int
    move: int
    nodes: int


class FixedDepth(Engine):
    """An engine that searches to `depth`, less where pictures, plies or time run out.

    With three or four seats all others are one opponent: whoever of them moves minimises.
    """

    kernel: ClassVar[Callable[..., tuple[int, int, int]]]

    def warm_up(self) -> None:
        """Compile or load the kernel."""
        self.compiled_kernel  # noqa: B018 - the look-up compiles

    @cached_property
    def compiled_kernel(self) -> Callable[..., tuple[int, int, int]]:
        """The kernel as machine code; the first look-up takes up to some seconds."""
        return compiled(self.kernel)

    @abstractmethod
    def run(self, task: Task) -> tuple[int, int, int]:
        """Return (value, move, nodes) of one task."""

    def choose(self, situation: Situation) -> int:
        """Return the best move at this depth; the first in natural order of equals."""
        depth = min(self.depth_for(situation), situation.plies_left)
        return Found(*self.run(task_of(situation.board, situation.visible, depth, situation.seats))).move

    def depth_for(self, situation: Situation) -> int:
        """Return the depth to search to if pictures and plies last."""
        return depth_on_clock(int(self.values["depth"] or 1), situation)

    def analyse(self, board: str, visible: str, depth: int) -> Analysis:
        """Return the best move of a two-seat game, its EVAL and the cost of finding it."""
        task = task_of(board, visible, depth, seats=2)
        self.warm_up()
        began = perf_counter()
        found = Found(*self.run(task))
        seconds = perf_counter() - began
        return Analysis(found.move, unpack(found.value), found.nodes, seconds)


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


def pack_roles(seats: int) -> int:
    """Pack the roles of MAX_DEPTH plies, two bits each, the first lowest: mine, then those of the others."""
    return sum(THEIRS << 2 * ply for ply in range(MAX_DEPTH) if ply % seats)
