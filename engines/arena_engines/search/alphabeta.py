"""Alpha-beta in negamax form, and iterative deepening over it.

The window (low, high) holds the values that still matter to an ancestor. Seen from the side to move, a value
>= high is never allowed by the other side, so the remaining moves need not be tried; a value <= low is no
improvement on another choice of this side.

A move's gain shifts the window: a child's value counts from the child on, not from the root.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from arena_engines.search.minimax import Found, M, Node, P, Report, Tree, silent


def alphabeta(
    tree: Tree[P, M],
    position: P,
    depth: int,
    low: float = -inf,
    high: float = inf,
    report: Report = silent,
) -> Found[M]:
    """What `minimax` returns, or a bound of it if the value lies outside (low, high).

    `low`, `high` and the value are those of the maximising side.
    """
    side = _side(tree, position)
    window = (low, high) if side > 0 else (-high, -low)
    found = _negamax(tree, position, depth, *window, report, ())
    return found._replace(value=side * found.value)


def _negamax(
    tree: Tree[P, M], position: P, depth: int, low: float, high: float, report: Report, path: tuple[M, ...]
) -> Found[M]:
    """The same from the side to move: high values are good for the side that moves here."""
    side = _side(tree, position)
    moves = tree.moves(position) if depth > 0 else ()
    best: Found[M] | None = Found(side * tree.horizon(position), (), 0) if not moves else None
    nodes = 0
    for move in moves:
        child, points = tree.play(position, move)
        gain = side * points
        same = side == _side(tree, child)
        window = (low - gain, high - gain) if same else (gain - high, gain - low)
        rest = _negamax(tree, child, depth - 1, *window, report, (*path, move))
        value = gain + (rest.value if same else -rest.value)
        nodes += 1 + rest.nodes
        seen = (low, high) if side > 0 else (-high, -low)
        report(Node((*path, move), points, side * value, *seen, cut=value >= high))
        if best is None or value > best.value:
            best = Found(value, (move, *rest.line), 0)
        low = max(low, value)
        if value >= high:
            break
    assert best is not None, "there was a move"
    return best._replace(nodes=nodes)


def _side(tree: Tree[P, M], position: P) -> int:
    return 1 if tree.maximises(position) else -1


def deepen(tree: Tree[P, M], position: P, depth: int, report: Report = silent) -> Iterator[Found[M]]:
    """Yield the results of depth 1, 2, ... `depth`, each equal to that of `minimax`.

    Each iteration tries the root's moves in the order of the last iteration's values. `nodes` are those of
    the one iteration. A caller with a clock stops iterating when its time is up.
    """
    natural = list(tree.moves(position)) if depth > 0 else []
    if not natural:
        yield Found(tree.horizon(position), (), 0)
        return
    order = list(range(len(natural)))
    for iteration in range(1, depth + 1):
        found, order = _iterate(tree, position, iteration, natural, order, report)
        yield found


def _iterate(
    tree: Tree[P, M], position: P, depth: int, natural: list[M], order: list[int], report: Report
) -> tuple[Found[M], list[int]]:
    """Search the root's moves in `order`; return the result and the order for the next iteration."""
    side = _side(tree, position)
    values: dict[int, float] = {}
    best: Found[M] | None = None
    place = len(natural)
    nodes = 0
    for index in order:
        child, gain = tree.play(position, natural[index])
        # A move that stands before the best one in natural order wins ties, so its window begins one lower.
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
    """A `Report` for the nodes below a root move, with the move put in front of their paths."""

    def with_move(node: Node) -> None:
        report(Node((move, *node.path), node.gain, node.value, node.low, node.high, node.cut))

    return with_move
