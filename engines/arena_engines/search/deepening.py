"""Iterative deepening: search to depth 1, then 2, ... so that there is an answer whenever time is up.

Each round tries the root's moves in the order of the last round's values, so the best move is likely
first and the window narrow at once. The seed's author doubts that ordering the root alone is worth
much; search both ways and compare the nodes.

Ties still go to the first in natural order: a move that stands before the best one needs only to
equal it, so its window begins one lower (values are whole numbers).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from arena_engines.search.alphabeta import alphabeta
from arena_engines.search.tree import Found, M, Node, P, Report, Tree, silent


def deepen(tree: Tree[P, M], position: P, depth: int, report: Report = silent) -> Iterator[Found[M]]:
    """Yield the answer of depth 1, 2, ... `depth`: each is what `minimax` answers.

    The nodes are those of the one round. Whoever watches a clock stops asking when time is up.
    """
    natural = list(tree.moves(position)) if depth > 0 else []
    if not natural:
        yield Found(tree.horizon(position), (), 0)
        return
    order = list(range(len(natural)))
    for round_ in range(1, depth + 1):
        found, order = _round(tree, position, round_, natural, order, report)
        yield found


def _round(
    tree: Tree[P, M], position: P, depth: int, natural: list[M], order: list[int], report: Report
) -> tuple[Found[M], list[int]]:
    """One search of the root's moves in `order`; returns the answer and the better order."""
    side = 1 if tree.maximises(position) else -1
    values: dict[int, float] = {}
    best: Found[M] | None = None
    place = len(natural)
    nodes = 0
    for index in order:
        child, gain = tree.play(position, natural[index])
        low = -inf if best is None else side * best.value - (index < place)
        bound = side * low - gain
        window = (bound, inf) if side > 0 else (-inf, bound)
        rest = alphabeta(tree, child, depth - 1, window[0], window[1], _below(report, natural[index]))
        value = gain + rest.value
        nodes += 1 + rest.nodes
        shown = (low, inf) if side > 0 else (-inf, -low)
        report(Node((natural[index],), gain, value, *shown))
        values[index] = side * value
        if side * value > low:
            best = Found(value, (natural[index], *rest.line), 0)
            place = index
    assert best is not None, "there was a move"
    better = sorted(order, key=lambda index: (index != place, -values[index]))
    return best._replace(nodes=nodes), better


def _below(report: Report, move: M) -> Report:
    """Report the nodes below a root move with their whole path."""

    def told(node: Node) -> None:
        report(Node((move, *node.path), node.gain, node.value, node.low, node.high, node.cut))

    return told
