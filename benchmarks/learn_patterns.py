"""Learn the worths of master's patterns beside a zombie from games that master's kernels play.

    python benchmarks/learn_patterns.py FILE [--rounds 25] [--games 2000] [--then 56] [--colours 6]

Without options FILE becomes patterns.npy of the engine, byte for byte, in 96 s of processor time. It is
replaced after every round of games by an array of int16: the worths of all kinds of each pattern, in 1 /
SCALE cells. The player makes the move of the most gain and worth; after the first rounds, in `--then`
rounds of an eighth of the games, it sees three pictures, its own, the zombie's and its next one, and makes
the first of the best two moves. After each move other such pictures are drawn: the gains and the worth
behind the best moves with these, less the mean gains, are what the board should have been worth. The worths
of its patterns take over a part of the difference, less the more their differences have cancelled out
(temporal coherence, Beal and Smith 1999).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from arena_engines.insertion.master.layout import Memory
from arena_engines.insertion.master.patterns import (
    KINDS,
    PATTERNS,
    SCALE,
    SIX,
    WORTHS_AT,
    new_memory,
    spread,
    worth_at,
)
from arena_engines.jit import compiled
from arena_protocol.games.insertion.rules import MOVES, POINTS_A_CELL, distinct_moves, play

#: Own moves of a game.
GAME = 100
#: The state: the generator, the mean gain of a move in 1 / MEAN_SCALE cells, a board's patterns.
GENERATOR, MEAN, BOARD = 0, 1, 2
MEAN_SCALE = 1 << 24
#: The mean gain follows with this part of each difference.
MEAN_RATE = 2e-5
#: It begins too high: while it falls, the worths of the patterns met fall too, and others are tried.
FIRST_MEAN = 1.8
FLOATS = "float64[::1]"
SIGNATURE = f"int64(int64, int64, int64, {FLOATS}, {FLOATS}, {FLOATS}, int64[::1], int64[::1])"


def draw(below: int, state: Memory) -> int:
    """Return a random number from 1 to `below`."""
    state[GENERATOR] = state[GENERATOR] * 6364136223846793005 + 1442695040888963407
    return 1 + (state[GENERATOR] >> 33 & 0x7FFFFFFF) % below


def worth(p0: int, p1: int, p2: int, worths: Memory, mem: Memory) -> float:
    """Return the worth of a board, in cells."""
    spread(p0, p1, p2, mem)
    total = 0.0
    for pattern in range(PATTERNS):
        total += worths[worth_at(pattern, mem) - WORTHS_AT]
    return total


def best_moves(
    p0: int,
    p1: int,
    p2: int,
    first: int,
    theirs: int,
    second: int,
    moves: int,
    worths: Memory,
    mem: Memory,
) -> tuple[float, int]:
    """Return gains and worth of my best one or two moves, in cells, and the first of them."""
    best, best_move = -1e18, 0
    distinct = distinct_moves(p0, p1, p2)
    for move in range(1, MOVES + 1):
        if distinct >> move & 1:
            q0, q1, q2, gain, _, _ = play(p0, p1, p2, move, first)
            if moves == 1:
                value = gain + worth(q0, q1, q2, worths, mem)
            else:
                q0, q1, q2, _, _, _ = play(q0, q1, q2, SIX, theirs)
                value = gain + best_moves(q0, q1, q2, second, theirs, second, moves - 1, worths, mem)[0]
            if value > best:
                best, best_move = value, move
    return best, best_move


def correct(difference: float, worths: Memory, sums: Memory, sizes: Memory, state: Memory) -> None:
    """Let the patterns of the board in the state take over their parts of a difference."""
    for pattern in range(PATTERNS):
        at = state[BOARD + pattern]
        rate = abs(sums[at]) / sizes[at] if sizes[at] > 0 else 1.0
        worths[at] += rate * difference / PATTERNS
        sums[at] += difference
        sizes[at] += abs(difference)


def learn(
    games: int,
    colours: int,
    moves: int,
    worths: Memory,
    sums: Memory,
    sizes: Memory,
    state: Memory,
    mem: Memory,
) -> int:
    """Play games from random boards and learn; return the cells removed.

    `worths`, `sums` and `sizes` of all differences: by pattern and kind.
    """
    cells = 0
    for _ in range(games):
        p0, p1, p2 = 0, 0, 0
        for cell in range(25):
            picture = draw(colours, state)
            p0 |= (picture & 1) << cell
            p1 |= (picture >> 1 & 1) << cell
            p2 |= (picture >> 2) << cell
        first = draw(colours, state)
        for _ in range(GAME):
            theirs, second = draw(colours, state), draw(colours, state)
            _, move = best_moves(p0, p1, p2, first, theirs, second, moves, worths, mem)
            p0, p1, p2, removed, _, _ = play(p0, p1, p2, move, first)
            cells += removed
            held = worth(p0, p1, p2, worths, mem)
            for pattern in range(PATTERNS):
                state[BOARD + pattern] = worth_at(pattern, mem) - WORTHS_AT
            # Other pictures than those of the game: the move was chosen with those in view.
            q0, q1, q2, _, _, _ = play(p0, p1, p2, SIX, draw(colours, state))
            pictures = draw(colours**3, state) - 1
            value, _ = best_moves(
                q0,
                q1,
                q2,
                1 + pictures % colours,
                1 + pictures // colours % colours,
                1 + pictures // colours // colours,
                moves,
                worths,
                mem,
            )
            difference = value - moves * state[MEAN] / MEAN_SCALE - held
            state[MEAN] += round(MEAN_RATE / moves * difference * MEAN_SCALE)
            correct(difference, worths, sums, sizes, state)
            p0, p1, p2, _, _, _ = play(p0, p1, p2, SIX, theirs)
            first = second
    return cells


def main() -> None:
    """Print the points of a game after every round."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--then", type=int, default=56)
    parser.add_argument("--colours", type=int, default=6)
    given = parser.parse_args()
    worths, sums, sizes = (np.zeros(PATTERNS * KINDS) for _ in range(3))
    state = np.zeros(BOARD + PATTERNS, dtype=np.int64)
    state[GENERATOR], state[MEAN] = 1, FIRST_MEAN * MEAN_SCALE
    mem = new_memory()
    kernel = compiled(learn, SIGNATURE)
    for number in range(1, given.rounds + given.then + 1):
        moves, games = (1, given.games) if number <= given.rounds else (2, max(1, given.games // 8))
        if number == given.rounds + 1:
            sums[:] = sizes[:] = 0
            state[MEAN] = FIRST_MEAN * MEAN_SCALE
        cells = kernel(games, given.colours, moves, worths, sums, sizes, state, mem)
        # All boards of one search have as many patterns: only differences count.
        kept = np.round((worths - worths.mean()) * SCALE).astype(np.int16)
        with given.file.open("wb") as file:
            np.save(file, kept)
        print(f"round {number}: {POINTS_A_CELL * cells / games:.0f} points a game", flush=True)


if __name__ == "__main__":
    main()
