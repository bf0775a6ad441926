"""Alpha-beta in negamax form: the answer of minimax without the lines that cannot matter.

The window (low, high) holds the values that still make a difference to somebody above. Seen from
the side to move, a value >= high will never be allowed by the other side, so the rest of the moves
need not be tried; a value <= low is no improvement on what this side has elsewhere.

Gains on the way shift the window: a move that gains g leaves its child the window minus g. So a
node's value counts from the node on and does not depend on the path that led there.
"""

from __future__ import annotations

from math import inf

from arena_engines.search.tree import Found, M, Node, P, Report, Tree, silent


def alphabeta(
    tree: Tree[P, M],
    position: P,
    depth: int,
    low: float = -inf,
    high: float = inf,
    report: Report = silent,
) -> Found[M]:
    """Return what `minimax` returns, or a bound of it if the value lies outside (low, high).

    `low`, `high` and the value are those of the maximising side.
    """
    side = _side(tree, position)
    window = (low, high) if side > 0 else (-high, -low)
    found = _negamax(tree, position, depth, *window, report, ())
    return found._replace(value=side * found.value)


def _negamax(
    tree: Tree[P, M], position: P, depth: int, low: float, high: float, report: Report, path: tuple[M, ...]
) -> Found[M]:
    """Do the same, seen from the side to move: high values are good for whoever moves here."""
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
