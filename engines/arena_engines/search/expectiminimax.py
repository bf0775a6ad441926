"""Expectiminimax: minimax with nature at the table, who draws and wants nothing.

Where something is drawn the value of a position is the mean over the outcomes; where a side moves it is
the best for that side, as in minimax. Insertion needs it beyond the visible pictures: the seed's
"complicated way" with wildcards. Values are fractions, so that nothing is lost in the means and equal
stays equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, NamedTuple, Protocol

from arena_engines.search.tree import M, M_co, P, Tree


class ChanceTree(Tree[P, M], Protocol[P, M]):
    """A game of two sides in which something may be drawn before a side can move."""

    def outcomes(self, position: P) -> Sequence[tuple[Fraction, P]]:
        """List what may be drawn here, each with its probability; empty if a side is to move."""
        ...


class Expected(NamedTuple, Generic[M_co]):
    """The expected value, the best move (None where nature draws or the game ends), the moves made."""

    value: Fraction
    move: M_co | None
    nodes: int


@dataclass(frozen=True, slots=True)
class ExpectedNode:
    """One made move or one drawn outcome, told when its expected value is known.

    `path` holds the moves and, for what was drawn, the outcome's number as text: `draw 3`.
    """

    path: tuple[Any, ...]
    value: Fraction
    probability: Fraction = Fraction(1)


Told = Callable[[ExpectedNode], None]


def expectiminimax(
    tree: ChanceTree[P, M],
    position: P,
    depth: int,
    report: Told = lambda node: None,
    path: tuple[Any, ...] = (),
) -> Expected[M]:
    """Return the expected value of `position` when both sides play their best for `depth` plies.

    A draw is no ply. Nodes are made moves. `path` is for `report` alone.
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
    report: Told,
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
