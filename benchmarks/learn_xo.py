"""Learn the static values of cells of the engine `xo` from its games against itself.

    python benchmarks/learn_xo.py play --games 1500 --seed 1 games1.npz
    python benchmarks/learn_xo.py fit games1.npz games2.npz ...

`play` searches every position with few nodes and stores the quiet ones, without five, open four and VCF: the
cells of each class for both sides, and what the mover may expect, between 0 and 1. That is the value of the
search mixed with what the next positions of the game turned out to be worth, up to a proof.
`fit` writes values.txt: the logistic regression of those expectations on the numbers of cells (Newton's
method), held towards BASE by a penalty, so that a class that hardly occurs keeps its value.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from arena_engines.xo.gomoku import board, patterns, searcher
from arena_engines.xo.gomoku.alphabeta import MATE
from arena_engines.xo.gomoku.searcher import Limits, Searcher
from arena_engines.xo.gomoku.values import FILE, class_name
from arena_protocol.games.mnk import board_of, has_line

#: What lines and ranks are worth before anything is learnt, to the side to move; WAITS of it if it waits.
LINE_BASE = (0, 5, 15, 50, 70, 210, 230, 550, 2000)
RANK_BASE = (0, 0, 300, 0, 600, 1000, 5000)
WAITS = 0.8
#: The static value at which a side wins about 73 % of the games.
SCALE = 1500
#: The penalty of the squared changes of the values, in units of SCALE.
RIDGE = 3e-4
ROUNDS = 6
#: Part of the moves that are any of the CHOICE best candidates, so that games differ.
RANDOM_MOVES, CHOICE = 0.12, 10
#: How much the value of the search counts beside the expectation of the next position.
SEARCHED = 0.3
SIZES = (14, 14, 13, 12, 11, 10)
LONGEST = 90
#: Positions of VCT at the root: a fraction of those of a game that counts.
ROOT_THREATS = 400

CLASSES = sorted({class_name(code) for code in range(patterns.CELL_CODES)})


class Quiet(NamedTuple):
    """A position: the numbers of cells of each class for the mover and, negative, for the other side."""

    cells: np.ndarray[Any, np.dtype[np.int16]]
    expectation: float


class Ply(NamedTuple):
    """A position of a game: its cells if it is quiet, its side, its value for X, whether chance moved."""

    cells: np.ndarray[Any, np.dtype[np.int16]] | None
    side: int
    value: float
    random: bool


def classes() -> np.ndarray[Any, np.dtype[np.intp]]:
    """The number in CLASSES of every cell code."""
    return np.array([CLASSES.index(class_name(code)) for code in range(patterns.CELL_CODES)])


def base() -> np.ndarray[Any, np.dtype[np.float64]]:
    """The values before anything is learnt: of all classes for the mover, then for the other side."""
    moving = []
    for name in CLASSES:
        code = sum(int(shape) * patterns.SHAPES**line for line, shape in enumerate(name))
        moving.append(sum(LINE_BASE[int(shape)] for shape in name) + RANK_BASE[patterns.cell_rank(code)])
    return np.array(moving + [WAITS * value for value in moving])


def quiet_cells(
    game: Searcher, side: int, class_of: np.ndarray[Any, np.dtype[np.intp]]
) -> np.ndarray[Any, np.dtype[np.int16]] | None:
    """The row of a position for `fit`, or None if a five, an open four or a VCF decides it."""
    if (game.ranks >= patterns.WINS_NEXT).any() or game.vcf(side):
        return None
    empty = game.grid[board.MARK] == patterns.EMPTY
    mine, theirs = (
        np.bincount(class_of[game.grid[board.CELL + each][empty]], minlength=len(CLASSES))
        for each in (side, 1 - side)
    )
    return np.concatenate([mine, -theirs]).astype(np.int16)


def opening(size: int, chance: random.Random) -> list[int]:
    """Up to six random marks near the middle."""
    half = chance.choice((2, 3, 3, 4))
    middle = range(size // 2 - half, size // 2 + half)
    return chance.sample([size * row + column for row in middle for column in middle], chance.randint(1, 6))


def play(game: Searcher, chance: random.Random, nodes: int, class_of: Any) -> list[Quiet]:
    """Play one game; the quiet positions of it with what their movers may expect."""
    bits = list(board_of(game.size).cells.values())
    moves = opening(game.size, chance)
    plies: list[Ply] = []
    result = 0.0
    while len(plies) < LONGEST and result == 0.0:
        side = len(moves) % 2
        game.set_position(moves[::2], moves[1::2])
        cells = quiet_cells(game, side, class_of)
        found = game.search(side, Limits(nodes=nodes))
        sign = -1 if side else 1
        any_move = not found.decided and chance.random() < RANDOM_MOVES
        cell = chance.choice(game.candidates()[:CHOICE]) if any_move else found.cell
        plies.append(Ply(cells, side, sign * expected(found.value), any_move))
        moves.append(cell)
        if found.decided or has_line(sum(bits[mark] for mark in moves[side::2]), game.size, 5):
            result = float(np.sign(found.value) * sign) if found.decided else float(sign)
    return expectations(plies, result)


def expected(value: int) -> float:
    """What the side to move may expect of this value, between -1 and 1."""
    return float(np.sign(value)) if abs(value) > MATE else float(np.tanh(value / (2 * SCALE)))


def expectations(plies: Sequence[Ply], result: float) -> list[Quiet]:
    """The quiet positions of a game with X's result (1, 0, -1), backwards from its end."""
    found = []
    follows = result
    for ply in reversed(plies):
        # A move of chance says nothing about the position before it.
        follows = ply.value if ply.random else SEARCHED * ply.value + (1 - SEARCHED) * follows
        if ply.cells is not None:
            found.append(Quiet(ply.cells, ((-follows if ply.side else follows) + 1) / 2))
    return found


def fit(cells: Any, expectation: Any) -> Any:
    """The values of all classes for the mover, then for the other side: a logistic regression by Newton."""
    start = base()
    used = np.flatnonzero(np.abs(cells).sum(axis=0))
    offset = (cells @ start / SCALE).astype(np.float64)
    rows = np.concatenate([offset[:, None], cells[:, used]], axis=1, dtype=np.float32)
    weights = np.zeros(rows.shape[1])
    weights[0] = 1.0  # the factor of BASE, free of the penalty
    penalty = np.full(rows.shape[1], 2 * RIDGE * len(rows))
    penalty[0] = 0.0
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-(rows @ weights)))
        gradient = rows.T @ (chance - expectation) + penalty * weights
        curved = rows * np.sqrt(chance * (1 - chance))[:, None].astype(np.float32)
        weights -= np.linalg.solve((curved.T @ curved).astype(np.float64) + np.diag(penalty), gradient)
    learnt = weights[0] * start
    learnt[used] += SCALE * weights[1:]
    return learnt


def deviance(cells: Any, expectation: Any, learnt: Any) -> float:
    """The mean cross entropy of the expectations under these values."""
    chance = np.clip(1 / (1 + np.exp(-(cells @ learnt) / SCALE)), 1e-9, 1 - 1e-9)
    return float(-(expectation * np.log(chance) + (1 - expectation) * np.log(1 - chance)).mean())


def write(learnt: Any, path: Path) -> None:
    """Write the values of all classes, rounded, a line each."""
    pairs = np.rint(learnt).astype(int).reshape(2, -1).T
    path.write_text(
        "".join(f"{name} {m} {w}\n" for name, (m, w) in zip(CLASSES, pairs, strict=True)), "ascii"
    )


def record(options: argparse.Namespace) -> str:
    """Play the games and store their quiet positions. Without VCT inside the search they take a tenth."""
    chance = random.Random(options.seed)
    class_of = classes()
    searcher.ROOT_THREATS = ROOT_THREATS
    games: dict[int, Searcher] = {}
    positions: list[Quiet] = []
    for _ in range(options.games):
        size = chance.choice(SIZES)
        if size not in games:
            games[size] = Searcher(size)
            games[size].attack_nodes = 0
        positions += play(games[size], chance, options.nodes, class_of)
    cells = np.array([position.cells for position in positions])
    np.savez_compressed(options.file, cells=cells, expectation=[each.expectation for each in positions])
    return f"{options.games} games, {len(positions)} quiet positions"


def learn(options: argparse.Namespace) -> str:
    """Fit the values to the positions of all files and write them; every tenth position is held back."""
    files = [np.load(name) for name in options.files]
    cells = np.concatenate([each["cells"] for each in files])
    expectation = np.concatenate([each["expectation"] for each in files])
    held = np.arange(len(cells)) >= 0.9 * len(cells)
    fitted = fit(cells[~held], expectation[~held])
    before, after = (deviance(cells[held], expectation[held], each) for each in (base(), fitted))
    write(fitted, options.output)
    return f"{len(cells)} positions; cross entropy of the last tenth {before:.4f} before, {after:.4f} after"


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Learn the static values of cells of `xo`.")
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("play", help="store the quiet positions of games of xo against itself")
    command.add_argument("file", type=Path)
    command.add_argument("--games", type=int, default=1500)
    command.add_argument("--nodes", type=int, default=200, help="alpha-beta nodes a move")
    command.add_argument("--seed", type=int, default=1)
    command.set_defaults(run=record)
    command = commands.add_parser("fit", help="write the values that fit the positions of these files best")
    command.add_argument("files", type=Path, nargs="+")
    command.add_argument("--output", type=Path, default=FILE)
    command.set_defaults(run=learn)
    return parser.parse_args(words)


def main() -> None:
    options = arguments()
    try:
        print(options.run(options))
    except OSError as error:
        sys.exit(f"learn_xo: {error}")


if __name__ == "__main__":
    main()
