"""Expectiminimax: minimax with chance nodes.

The value of a chance node is the mean over its outcomes; that of any other node is the best for the side to
move. Insertion beyond the visible pictures is such a tree. Values are fractions, so that means are exact and
ties stay ties.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Generic, NamedTuple, Protocol

from arena_engines import engine
from arena_engines.engine import Engine, Parameter, Position
from arena_engines.search.adapters import WithChance
from arena_engines.search.minimax import M, M_co, P, Tree
from arena_protocol.games.insertion import Insertion
from arena_protocol.games.insertion.game import Position as State


class ChanceTree(Tree[P, M], Protocol[P, M]):
    """A game of two sides with chance nodes."""

    def outcomes(self, position: P) -> Sequence[tuple[Fraction, P]]:
        """The outcomes of a chance node, each with its probability; empty if a side is to move."""
        ...


class Expected(NamedTuple, Generic[M_co]):
    """The expected value, the best move (None at a chance node or a leaf), the number of moves made."""

    value: Fraction
    move: M_co | None
    nodes: int


@dataclass(frozen=True, slots=True)
class ExpectedNode:
    """One made move or one outcome of a chance node, reported when its expected value is known.

    `path` holds the moves and, for outcomes, their number as text: `draw 3`.
    """

    path: tuple[Any, ...]
    value: Fraction
    probability: Fraction = Fraction(1)


Report = Callable[[ExpectedNode], None]


def expectiminimax(
    tree: ChanceTree[P, M],
    position: P,
    depth: int,
    report: Report = lambda node: None,
    path: tuple[Any, ...] = (),
) -> Expected[M]:
    """The expected value of `position` at `depth` plies; a chance node is no ply.

    `nodes` are made moves. `path` is how the position was reached, for `report` only.
    """
    outcomes = tree.outcomes(position) if depth > 0 else ()
    if outcomes:
        return _mean(tree, outcomes, depth, report, path)
    moves = tree.moves(position) if depth > 0 else ()
    if not moves:
        return Expected(Fraction(tree.horizon(position)), None, 0)
    side = 1 if tree.maximises(position) else -1
    best: Expected[M] | None = None
    nodes = 0
    for move in moves:
        child, gain = tree.play(position, move)
        rest = expectiminimax(tree, child, depth - 1, report, (*path, move))
        value = gain + rest.value
        nodes += 1 + rest.nodes
        report(ExpectedNode((*path, move), value))
        if best is None or side * value > side * best.value:
            best = Expected(value, move, 0)
    assert best is not None, "there was a move"
    return best._replace(nodes=nodes)


def _mean(
    tree: ChanceTree[P, M],
    outcomes: Sequence[tuple[Fraction, P]],
    depth: int,
    report: Report,
    path: tuple[Any, ...],
) -> Expected[M]:
    total = Fraction(0)
    nodes = 0
    for number, (probability, drawn) in enumerate(outcomes, start=1):
        here = (*path, f"draw {number}")
        found = expectiminimax(tree, drawn, depth, report, here)
        report(ExpectedNode(here, found.value, probability))
        total += probability * found.value
        nodes += found.nodes
    return Expected(total, None, nodes)


class Expectiminimax(Engine):
    """Expectiminimax: beyond the visible pictures every colour is expected with the same probability.

    Its own lead counts: points less those of all other seats. It searches `depth` plies. Slow and shallow: it
    shows the search.
    """

    game: ClassVar[str] = "insertion"
    name: ClassVar[str] = "expectiminimax"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("depth", 2, 1, 4),)

    def choose(self, position: Position[Insertion, State]) -> int:
        """The best move, the first of equals in natural order."""
        tree = WithChance(position.rules, position.seat, distinct=True)
        depth = int(self.values["depth"] or 1)
        found = expectiminimax(tree, position.state, depth)
        assert found.move is not None, "the picture to insert is visible"
        self.report = engine.Report(depth, round(found.value), found.nodes, (found.move,))
        return int(found.move)
