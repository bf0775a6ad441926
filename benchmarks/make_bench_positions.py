"""Write the positions of `arena bench search`: eight of each of five played games.

    python benchmarks/make_bench_positions.py      prints BENCH_SET of engines/arena_engines/analysis.py

The games are six-coloured, from full boards, between engines of different strength, so that the
boards are as full and as sparse as they are in a contest. Run it again only with a good reason: every
signature (`Nodes: N`) in the history refers to these positions.
"""

from __future__ import annotations

from collections.abc import Iterator

from arena_engines.engine import Engine, Position
from arena_engines.registry import create
from arena_protocol.games.insertion import Insertion

PAIRS = (
    ("champion:depth=5", "champion:depth=5"),
    ("champion:depth=5", "greedy"),
    ("champion:depth=5", "dummy"),
    ("champion:depth=3", "random:seed=1"),
    ("greedy", "random:seed=2"),
)
PLIES, LOOKAHEAD, EVERY, FIRST, PER_GAME = 120, 20, 11, 4, 8


def positions(seed: int, players: tuple[Engine, Engine]) -> Iterator[tuple[str, str]]:
    """Yield every position of one game, as board and visible sequence."""
    game = Insertion.from_options({"plies": PLIES, "lookahead": LOOKAHEAD})
    position = game.start(game.deal(seed))
    for ply in range(PLIES - LOOKAHEAD):
        board, visible = position.board, position.visible[:LOOKAHEAD]
        yield board, visible
        move = players[ply % 2].analyse(Position.at(game, board, visible), 5).move
        position = game.play(position, str(move)).position


def main() -> None:
    """Print the positions."""
    print("BENCH_SET: tuple[tuple[str, str], ...] = (")
    for seed, (one, other) in enumerate(PAIRS, start=1):
        chosen = list(positions(seed, (create(one), create(other))))[FIRST::EVERY][:PER_GAME]
        for board, visible in chosen:
            print(f'    ("{board}", "{visible}"),')
    print(")")


if __name__ == "__main__":
    main()
