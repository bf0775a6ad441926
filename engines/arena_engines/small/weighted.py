"""The engine `weighted`: a static evaluation of a small game with the weights on the command line.

`weighted:k=3/1/2` values a position at 3 Z1 + 1 Z2 + 2 Z3. The terms are of the kinds that seed 000 lists:
space, threats, shape, mobility, special situations; each is the number for seat 1 less the number for seat 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from arena_engines.engine import Engine, EngineError, Parameter
from arena_engines.small.openlines import HeuristicEngine, lines_of, open_lines
from arena_protocol.games.base import Game
from arena_protocol.games.disc import Disc, Turned
from arena_protocol.games.lastcoin import Heap, LastCoin
from arena_protocol.games.mnk import Marks, MarksGame, board_of

MAX_WEIGHT = 99


class Term(NamedTuple):
    """One Z: its name, what it counts, and its value for seat 1."""

    name: str
    counts: str
    value: Callable[[Any, Any], int]


@dataclass(frozen=True, slots=True)
class CellWeights(Parameter):
    """The weights, joined by `/`: `3/1/2`."""

    @property
    def expected(self) -> str:
        return f"numbers from -{MAX_WEIGHT} to {MAX_WEIGHT} joined by '/'"

    def parse(self, text: str) -> str:
        """Return the text unchanged. Raises EngineError naming what is expected."""
        parts = text.split("/")
        digits = [part.removeprefix("-") for part in parts]
        if not all(part.isascii() and part.isdigit() and len(part) <= 2 for part in digits):
            raise EngineError(f"{self.name}={text}: expected {self.expected}")
        return text


class Weighted(HeuristicEngine):
    """K1 Z1 + ... + Kn Zn with the weights `k`, searched to `depth` plies."""

    name = "weighted"

    @property
    def weights(self) -> tuple[int, ...]:
        return tuple(int(part) for part in str(self.values["k"]).split("/"))

    def __init__(self, values: Mapping[str, int | str | None] | None = None) -> None:
        super().__init__(values)
        names = [term.name for term in TERMS[self.game]]
        if len(self.weights) != len(names):
            wanted = f"expected {len(names)} weights ({', '.join(names)})"
            raise EngineError(f"engine weighted: k={self.values['k']}: {wanted}")

    def terms(self, rules: Game[Any], state: Any) -> tuple[int, ...]:
        return tuple(term.value(rules, state) for term in TERMS[self.game])


def weighted(game: str) -> type[Engine]:
    """The engine `weighted` of a game of TERMS."""
    default = "/".join("1" for _ in TERMS[game])
    facts = {
        "game": game,
        "parameters": (
            CellWeights("k", default),
            Parameter("depth", 1, 1, Weighted.max_depth, play_only=True),
        ),
        "eval_names": ("value", *(term.name for term in TERMS[game])),
        "__doc__": Weighted.__doc__,
        "__module__": __name__,
    }
    return type(Weighted.__name__, (Weighted,), facts)


def terms_table(engine: Weighted, rules: Game[Any], state: Any) -> str:
    """Return the weighted terms of a position and their sum as text."""
    rows = [f"{'term':<10} {'K':>4} {'Z':>4} {'K Z':>5}"]
    products = []
    for term, weight, number in zip(
        TERMS[engine.game], engine.weights, engine.terms(rules, state), strict=True
    ):
        products.append(weight * number)
        rows.append(f"{term.name:<10} {weight:>4} {number:>4} {products[-1]:>5}   {term.counts}")
    return "\n".join([*rows, f"E(P) = {sum(products)}"])


# ---- tic-tac-toe


def _space(rules: MarksGame, state: Marks) -> int:
    mine, theirs = open_lines(rules, state)
    return mine - theirs


def _line_threats(rules: MarksGame, state: Marks) -> int:
    return _almost(rules, state.x, state.o) - _almost(rules, state.o, state.x)


def _almost(rules: MarksGame, mine: int, theirs: int) -> int:
    lines = lines_of(rules.size, rules.win)
    return sum((line & mine).bit_count() == rules.win - 1 and not line & theirs for line in lines)


def _shape(rules: MarksGame, state: Marks) -> int:
    through = _lines_through(rules.size, rules.win)
    return sum(count * (bool(state.x & bit) - bool(state.o & bit)) for bit, count in through)


@cache
def _lines_through(size: int, win: int) -> tuple[tuple[int, int], ...]:
    lines = lines_of(size, win)
    return tuple((bit, sum(bool(line & bit) for line in lines)) for bit in board_of(size).cells.values())


# ---- the disc game and last coin; `_for_mover` gives a number for seat 1 from one for the seat to move


def _for_mover(number: int, seat: int) -> int:
    return number if seat == 1 else -number


def _can_end(rules: Disc, state: Turned) -> int:
    return _for_mover(int(state.total + max(state.reachable) >= rules.m), state.seat)


def _safe_moves(rules: Disc, state: Turned) -> int:
    after = [rules.play(state, move).position for move in rules.legal_moves(state)]
    safe = sum(rules.end(child) is not None or not _can_end(rules, child) for child in after)
    return _for_mover(safe, state.seat)


def _largest_segment(rules: Disc, state: Turned) -> int:
    return _for_mover(max(state.reachable), state.seat)


def _last_coin(rules: LastCoin, state: Heap) -> int:
    return _for_mover(-int(state.coins == 1), state.seat)


def _coin_moves(rules: LastCoin, state: Heap) -> int:
    return _for_mover(len(rules.legal_moves(state)), state.seat)


def _thirds(rules: LastCoin, state: Heap) -> int:
    return _for_mover(-1 if state.coins % 3 == 1 else 1, state.seat)


TERMS: Mapping[str, tuple[Term, ...]] = {
    "tictactoe": (
        Term("space", "lines without a mark of the other seat", _space),
        Term("threats", "such lines with one empty cell", _line_threats),
        Term("shape", "the lines through each mark", _shape),
    ),
    "disc": (
        Term("threats", "1 if the seat to move can end the game", _can_end),
        Term("mobility", "moves of the seat to move after which the other cannot end it", _safe_moves),
        Term("space", "the largest segment that the seat to move can turn up", _largest_segment),
    ),
    "lastcoin": (
        Term("threats", "-1 if one coin is left to the seat to move", _last_coin),
        Term("mobility", "moves of the seat to move", _coin_moves),
        Term("special", "-1 if the coins are 3 n + 1 for the seat to move, else 1", _thirds),
    ),
}
