"""Pictures of games: the tree of a search from a position, and the whole tree with who wins where.

It must not know: any particular game, drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena_engines.engine import EngineError
from arena_engines.explain.picture import Line, Picture, Shape, Sketch, Tone, Vertex, counted
from arena_engines.explain.searches import MAX_VERTICES, Method, Searched, search_picture
from arena_engines.search.games import TwoSides
from arena_engines.small.solver import Solver
from arena_protocol.games.base import Game


class _WithoutTwins(TwoSides):
    """A game in which, of moves that lead to the same position, only the first is tried."""

    def moves(self, position: Any) -> Sequence[str]:
        """List the moves that differ, in the game's natural order."""
        first: dict[Any, str] = {}
        for move in super().moves(position):
            first.setdefault(self.game.play(position, move).position, move)
        return list(first.values())


def game_tree(rules: Game[Any], position: Any, depth: int, method: Method = "alphabeta") -> Searched:
    """Draw a search `depth` plies deep; a value is by how much the seat to move leads at the end of the line.

    Moves with the same effect are one. A game with hidden pictures is searched as far as they are known.
    Raises EngineError for a depth below 1, a game that is over, and a picture that would be too large.
    """
    if depth < 1:
        raise EngineError(f"depth={depth}: expected at least 1")
    if rules.end(position) is not None:
        raise EngineError("the game is over: there is no tree to draw")
    seat = rules.to_move(position)
    title = f"{rules.name}, seat {seat} to move: {rules.state_text(position)}"
    return search_picture(_WithoutTwins(rules, seat), position, depth, method, title=title)


def whole_tree(rules: Game[Any], position: Any) -> Picture:
    """Draw the whole tree of a small game, every position marked won, lost or drawn for seat 1.

    Positions from which seat 1 moves have the heavier outline; a vertex reached by two ways is drawn
    twice, as trees do. Raises EngineError if the tree has more than MAX_VERTICES vertices.
    """
    paths = _all_paths(rules, position)
    solver = Solver(rules)
    sketch = Sketch(f"{rules.name}, the whole tree from {rules.state_text(position)}")
    for path, reached in paths.items():
        sketch.add(_position_vertex(rules, solver, reached, " ".join(path)))
        moves = rules.legal_moves(reached)
        best = solver.best_move(reached) if moves else None
        for move in moves:
            line = Line.BEST if move == best else Line.PLAIN
            sketch.join(" ".join(path), " ".join((*path, move)), move, line)
    deepest = max(map(len, paths))
    size = f"{counted(len(paths), 'position')} on {counted(deepest, 'level')} below the root"
    sketch.caption.append(size)
    sketch.caption.append("won (green), lost (dark), drawn (yellow): for seat 1")
    sketch.caption.append("a heavy outline: seat 1 moves; a box: the game is over")
    return sketch.done()


def _all_paths(rules: Game[Any], position: Any) -> dict[tuple[str, ...], Any]:
    """Every path from here with the position it leads to, before anything is solved."""
    paths: dict[tuple[str, ...], Any] = {(): position}
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        path = waiting.pop()
        for move in rules.legal_moves(paths[path]):
            paths[*path, move] = rules.play(paths[path], move).position
            waiting.append((*path, move))
        if len(paths) > MAX_VERTICES:
            raise EngineError(f"the whole tree has more than {MAX_VERTICES} vertices: draw a search instead")
    return paths


_TONES = {1: Tone.WON, 0: Tone.DRAWN, -1: Tone.LOST}


def _position_vertex(rules: Game[Any], solver: Solver, position: Any, key: str) -> Vertex:
    mine = rules.to_move(position) == 1
    result = solver.outcome(position).result
    over = rules.end(position) is not None
    return Vertex(
        key,
        rules.state_text(position),
        shape=Shape.END if over else Shape.POSITION,
        tone=_TONES[result if mine else -result],
        heavy=mine,
    )
