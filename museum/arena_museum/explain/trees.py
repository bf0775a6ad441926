"""Pictures of search trees and of whole games; the alpha-beta example of seed 004."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from operator import add
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

from arena_engines.engine import EngineError
from arena_engines.search.adapters import AllSeats, TwoSides, WithChance
from arena_engines.search.alphabeta import alphabeta
from arena_engines.search.maxn import SharedNode, maxn
from arena_engines.search.minimax import Node, Tree, minimax
from arena_engines.small.solved import Solver
from arena_museum.explain.picture import MAX_VERTICES, Picture, Segment, Shape, Sketch, Tone, Vertex, counted
from arena_protocol.games.base import Game

P = TypeVar("P")
M = TypeVar("M")

Method = Literal["minimax", "alphabeta"]
#: The searches of a picture.
METHODS = ("alphabeta", "minimax", "maxn", "expectiminimax")


@dataclass(frozen=True, slots=True)
class Searched:
    """The picture and the counts of a search, as seed 004 counts: the root is not built."""

    picture: Picture
    built: int
    evaluated: int
    value: int


def search_picture(
    tree: Tree[P, M],
    root: P,
    depth: int,
    method: Method = "alphabeta",
    *,
    title: str = "",
    text: Callable[[P], str] = lambda position: "",
    named: bool = True,
) -> Searched:
    """Search `root` and draw the tree: built vertices with their values, cut ones without.

    `text` is written into a vertex, the move on its edge if `named`. The value of the whole line of play
    stands beside every vertex, with `≥` or `≤` where a cut leaves it open. Raises EngineError for more than
    MAX_VERTICES vertices.
    """
    nodes: dict[tuple[Any, ...], Node] = {}

    def report(node: Node) -> None:
        nodes[node.path] = node
        _check_size(len(nodes))

    search = alphabeta if method == "alphabeta" else minimax
    found = search(tree, root, depth, report=report)
    sketch = Sketch(title)
    drawing = _Drawing(tree, nodes, sketch, text, named, found.line, depth)
    drawing.draw(root)
    counts = f"{len(nodes)} vertices built below the root, {drawing.evaluated} evaluated"
    sketch.caption.append(f"{method}: {counts}")
    return Searched(sketch.done(), len(nodes), drawing.evaluated, found.value)


class Span(NamedTuple):
    """Bounds of a value. A cut leaves one of them, or both, infinite."""

    low: float
    high: float

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.low}"
        if self.high == inf:
            return f"≥{self.low}"
        return f"≤{self.high}" if self.low == -inf else f"{self.low}..{self.high}"


@dataclass(slots=True)
class _Drawing:
    tree: Tree[Any, Any]
    nodes: dict[tuple[Any, ...], Node]
    sketch: Sketch
    text: Callable[[Any], str]
    named: bool
    best: tuple[Any, ...]
    depth: int
    evaluated: int = 0

    def draw(self, position: Any, path: tuple[Any, ...] = (), gained: int = 0) -> Span:
        """Add a vertex and all below it; return the bounds of its value."""
        if path and path not in self.nodes:
            self._vertex(position, path, "", self._shape(position), Tone.CUT)
            return Span(-inf, inf)
        moves = self.tree.moves(position) if len(path) < self.depth else ()
        if not moves:
            self.evaluated += 1
            value = gained + self.tree.horizon(position)
            self._vertex(position, path, str(value), Shape.END)
            return Span(value, value)
        shape = self._shape(position)
        self._vertex(position, path, "", shape)  # added before its children, completed after them
        spans = [self._below(position, path, move, gained) for move in moves]
        pick = max if shape is Shape.MAX else min
        span = Span(pick(each.low for each in spans), pick(each.high for each in spans))
        self._vertex(position, path, str(span), shape)
        return span

    def _below(self, position: Any, path: tuple[Any, ...], move: Any, gained: int) -> Span:
        deeper = (*path, move)
        looked_at, best = deeper in self.nodes, deeper == self.best[: len(deeper)]
        line = Segment.BEST if best else Segment.PLAIN if looked_at else Segment.CUT
        self.sketch.join(_key(path), _key(deeper), str(move) if self.named else "", line)
        child, gain = self.tree.play(position, move)
        return self.draw(child, deeper, gained + gain)

    def _vertex(
        self, position: Any, path: tuple[Any, ...], note: str, shape: Shape, tone: Tone = Tone.PLAIN
    ) -> None:
        text = "" if tone is Tone.CUT else self.text(position)
        if shape is Shape.END and not text:  # a leaf without text is drawn as its value
            text, note = note, ""
        heavy = path == self.best[: len(path)]
        self.sketch.vertices[_key(path)] = Vertex(_key(path), text, note, shape, tone, heavy)

    def _shape(self, position: Any) -> Shape:
        return Shape.MAX if self.tree.maximises(position) else Shape.MIN


def _key(path: tuple[Any, ...]) -> str:
    return " ".join(map(str, path))


def game_tree(rules: Game[Any], position: Any, depth: int, method: Method = "alphabeta") -> Searched:
    """Draw a search `depth` plies deep; a value is the lead of the seat to move at the end of the line.

    Moves with the same effect are drawn once. A game with hidden pictures is searched as far as they are
    visible. Raises EngineError for a depth below 1, a game that is over, and a picture that is too large.
    """
    title = _title(rules, position, depth)
    seat = rules.to_move(position)
    return search_picture(TwoSides(rules, seat, distinct=True), position, depth, method, title=title)


def _title(rules: Game[Any], position: Any, depth: int) -> str:
    if depth < 1:
        raise EngineError(f"depth={depth}: expected at least 1")
    if rules.end(position) is not None:
        raise EngineError("the game is over: there is no tree to draw")
    return f"{rules.name}, seat {rules.to_move(position)} to move: {rules.state_text(position)}"


def maxn_tree(rules: Game[Any], position: Any, depth: int) -> Picture:
    """Draw max^n: at every vertex the seat to move and what each seat gets in the whole line of play.

    Raises EngineError as `game_tree` does.
    """
    sketch = Sketch(_title(rules, position, depth))
    tree = AllSeats(rules, distinct=True)
    nodes: list[SharedNode] = []

    def report(node: SharedNode) -> None:
        nodes.append(node)
        _check_size(len(nodes))

    found = maxn(tree, position, depth, report)
    best = {found.line[:length] for length in range(len(found.line) + 1)}
    values = {node.path: node.values for node in nodes}
    sketch.caption.append(
        f"maxn: {len(nodes)} vertices built below the root; points of seats 1 to {rules.seats}"
    )
    waiting: list[tuple[tuple[str, ...], Any, tuple[int, ...]]] = [((), position, (0,) * rules.seats)]
    while waiting:
        path, reached, gained = waiting.pop()
        moves = tree.moves(reached) if len(path) < depth else ()
        totals = [values[*path, move] for move in moves]
        seat = tree.to_move(reached)
        rest = max(totals, key=lambda each: each[seat]) if totals else (0,) * rules.seats
        note = _vector(map(add, gained, rest))
        text, shape = (f"seat {seat + 1}", Shape.POSITION) if moves else ("", Shape.END)
        vertex = Vertex(_key(path), text or note, note if text else "", shape, heavy=path in best)
        sketch.add(vertex)
        for move in reversed(moves):
            child, points = tree.play(reached, move)
            waiting.append(((*path, move), child, tuple(map(add, gained, points))))
        for move in moves:
            line = Segment.BEST if (*path, move) in best else Segment.PLAIN
            sketch.join(_key(path), _key((*path, move)), move, line)
    return sketch.done()


def _vector(values: Iterable[int]) -> str:
    return f"({', '.join(map(str, values))})"


def chance_tree(rules: Game[Any], position: Any, depth: int) -> Picture:
    """Draw expectiminimax: chance vertices with the probability of each outcome, values as fractions.

    A value is the expected lead of the seat to move at the root. Raises EngineError as `game_tree` does.
    """
    sketch = Sketch(_title(rules, position, depth))
    tree = WithChance(rules, rules.to_move(position), distinct=True)
    drawing = _ChanceDrawing(tree, sketch, depth)
    drawing.draw(position, (), 0, depth)
    count = len(sketch.vertices) - 1
    sketch.caption.append(f"expectiminimax: {count} vertices built below the root")
    return sketch.done()


@dataclass(slots=True)
class _ChanceDrawing:
    tree: WithChance
    sketch: Sketch
    depth: int

    def draw(self, position: Any, path: tuple[str, ...], gained: int, depth: int) -> Fraction:
        """Add a vertex and all below it; return the expected value of the line of play through it."""
        outcomes = self.tree.outcomes(position) if depth else ()
        moves = () if outcomes or not depth else self.tree.moves(position)
        key = self.sketch.add(Vertex(_key(path), "", shape=Shape.END))  # completed below, after its children
        _check_size(len(self.sketch.vertices))
        if outcomes:
            value = Fraction(0)
            for number, (probability, drawn) in enumerate(outcomes, start=1):
                self.sketch.join(key, _key((*path, f"draw {number}")), f"{number}: {probability}")
                value += probability * self.draw(drawn, (*path, f"draw {number}"), gained, depth)
            shape = Shape.CHANCE
        elif moves:
            shape = Shape.MAX if self.tree.maximises(position) else Shape.MIN
            value = self._best(position, path, gained, depth, moves, shape)
        else:
            value, shape = Fraction(gained + self.tree.horizon(position)), Shape.END
        text, note = (str(value), "") if shape is Shape.END else ("", str(value))
        self.sketch.vertices[key] = Vertex(key, text, note, shape)
        return value

    def _best(
        self,
        position: Any,
        path: tuple[str, ...],
        gained: int,
        depth: int,
        moves: Sequence[str],
        shape: Shape,
    ) -> Fraction:
        values = []
        places = []
        for move in moves:
            child, gain = self.tree.play(position, move)
            places.append(len(self.sketch.edges))
            self.sketch.join(_key(path), _key((*path, move)), move)
            values.append(self.draw(child, (*path, move), gained + gain, depth - 1))
        best = max(values) if shape is Shape.MAX else min(values)
        place = places[values.index(best)]
        self.sketch.edges[place] = replace(self.sketch.edges[place], line=Segment.BEST)
        return best


def _check_size(count: int) -> None:
    if count > MAX_VERTICES:
        raise EngineError(f"the picture would have more than {MAX_VERTICES} vertices: ask for less depth")


def whole_tree(rules: Game[Any], position: Any) -> Picture:
    """Draw the whole tree of a small game, every position won, lost or drawn for seat 1.

    Positions where seat 1 moves have a heavy outline; a position reached by two paths is drawn twice.
    Raises EngineError for more than MAX_VERTICES vertices.
    """
    paths = _all_paths(rules, position)
    solver = Solver(rules)
    sketch = Sketch(f"{rules.name}, the whole tree from {rules.state_text(position)}")
    for path, reached in paths.items():
        sketch.add(_position_vertex(rules, solver, reached, " ".join(path)))
        moves = rules.legal_moves(reached)
        best = solver.best_move(reached) if moves else None
        for move in moves:
            line = Segment.BEST if move == best else Segment.PLAIN
            sketch.join(" ".join(path), " ".join((*path, move)), move, line)
    deepest = max(map(len, paths))
    size = f"{counted(len(paths), 'position')} on {counted(deepest, 'level')} below the root"
    sketch.caption.append(size)
    sketch.caption.append("won (green), lost (dark), drawn (yellow): for seat 1")
    sketch.caption.append("a heavy outline: seat 1 moves; a box: the game is over")
    return sketch.done()


def _all_paths(rules: Game[Any], position: Any) -> dict[tuple[str, ...], Any]:
    """Every path from `position` with the position at its end. Raises EngineError for too many."""
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


class SeedExample:
    """The tree of figures 4 and 5 of seed 004: 17 vertices and 10 evaluations, with alpha-beta 11 and 6.

    The figures are lost; the text gives the shape and the cuts. W0 (PLUS moves) has the children W1 and W4.
    Below W1, W2 has three leaves, the best of them 3, and the second leaf of W3, after a 4, is cut. Below W4,
    W5 has two leaves and the value 3, and W6 and W7 are cut. So W1 is the best move and W0 has the value 3.
    The values of the leaves behind the cuts are not in the text; those here agree with it.
    """

    depth: ClassVar[int] = 3
    children: ClassVar[dict[str, tuple[str, ...]]] = {
        "W0": ("W1", "W4"),
        "W1": ("W2", "W3"),
        "W2": ("a", "b", "c"),
        "W3": ("d", "e"),
        "W4": ("W5", "W6", "W7"),
        "W5": ("f", "g"),
        "W6": ("h", "i"),
        "W7": ("j",),
    }
    leaves: ClassVar[dict[str, int]] = {
        "a": 2, "b": 3, "c": 1, "d": 4, "e": 5, "f": 3, "g": 1, "h": 2, "i": 0, "j": 4,
    }  # fmt: skip

    def moves(self, position: str) -> Sequence[str]:
        """The children; a move has the name of its child."""
        return self.children.get(position, ())

    def play(self, position: str, move: str) -> tuple[str, int]:
        """The child; no move has a gain."""
        return move, 0

    def maximises(self, position: str) -> bool:
        """PLUS moves at W0 and two plies below it."""
        return position in ("W0", "W2", "W3", "W5", "W6", "W7")

    def horizon(self, position: str) -> int:
        """The static value of a leaf."""
        return self.leaves[position]


def seed_example(method: Method = "alphabeta") -> Searched:
    """Search the example of seed 004 and draw it."""

    def text(position: str) -> str:
        return position if position in SeedExample.children else ""

    return search_picture(
        SeedExample(),
        "W0",
        SeedExample.depth,
        method,
        title="The example of seed 004",
        text=text,
        named=False,
    )
