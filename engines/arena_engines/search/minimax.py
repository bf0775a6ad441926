"""Minimax: try everything. The definition that every other search must agree with.

Each side takes what is best for it, the first in natural order of equals; nothing is left out,
so nothing can be wrong but the price: the nodes are the product of the moves at each ply.
"""

from __future__ import annotations

from arena_engines.search.tree import Found, M, Node, P, Report, Tree, silent


def minimax(
    tree: Tree[P, M], position: P, depth: int, report: Report = silent, path: tuple[M, ...] = ()
) -> Found[M]:
    """Return the value of `position` seen `depth` plies ahead, with its line of best play.

    `path` is how the position was reached, for `report` alone.
    """
    moves = tree.moves(position) if depth > 0 else ()
    if not moves:
        return Found(tree.horizon(position), (), 0)
    highest = tree.maximises(position)
    best: Found[M] | None = None
    nodes = 0
    for move in moves:
        child, gain = tree.play(position, move)
        rest = minimax(tree, child, depth - 1, report, (*path, move))
        value = gain + rest.value
        nodes += 1 + rest.nodes
        report(Node((*path, move), gain, value))
        if best is None or (value > best.value if highest else value < best.value):
            best = Found(value, (move, *rest.line), 0)
    assert best is not None, "there was a move"
    return best._replace(nodes=nodes)
