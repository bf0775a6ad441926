"""Games against the program of 1970 as text: the list of moves of M (the machine) and П (its opponent).

The paper prints "the whole sequence of moves of М and П" (section 4) and gives no sample. Here a line has the
number, the move of the side that began and the answer:

    XO 10x10, 3.5/3.5/3.5/3.5/4/4/5
     №   М X   П O
     1   e5    f6
     2   d6    g5
    М wins
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import zip_longest

from arena_protocol.games.base import GameError
from arena_protocol.games.mnk import SIZES, Marks, Xo

MACHINE, OPPONENT = "М", "П"
UNFINISHED = "unfinished"
_HEAD = re.compile(r"XO (\d{2})x(\d{2}), (\S+)")
_RESULTS = {1: "{} wins", 2: "{} wins", 0: "draw", None: UNFINISHED}


@dataclass(frozen=True, slots=True)
class PaperGame:
    """One game from the empty board; `moves` are the cells in order, X first."""

    size: int
    thresholds: str
    machine_begins: bool
    moves: tuple[str, ...] = ()

    @property
    def rules(self) -> Xo:
        return Xo(size=self.size)

    @property
    def sides(self) -> tuple[str, str]:
        """The letters of the side that began and of the other one."""
        return (MACHINE, OPPONENT) if self.machine_begins else (OPPONENT, MACHINE)

    def positions(self) -> list[Marks]:
        """The start and the position after each move. Raises GameError for an illegal move."""
        found = [self.rules.start(self.rules.deal(0))]
        for move in self.moves:
            found.append(self.rules.play(found[-1], move).position)
        return found

    def result(self) -> str:
        """`М wins`, `П wins`, `draw` or `unfinished`."""
        winner = self.rules.winner(self.positions()[-1])
        return _RESULTS[winner].format(self.sides[winner - 1] if winner else "")


def format_game(game: PaperGame) -> str:
    """Return the text of a game; `parse_game` reads it back."""
    first, second = game.sides
    rows = zip_longest(game.moves[::2], game.moves[1::2], fillvalue="")
    lines = [f"{number:>2}   {one:<5} {other}".rstrip() for number, (one, other) in enumerate(rows, start=1)]
    head = [f"XO {game.size}x{game.size}, {game.thresholds}", f" №   {first} X   {second} O"]
    return "\n".join([*head, *lines, game.result()]) + "\n"


def parse_game(text: str) -> PaperGame:
    """Read the text of a game. Raises GameError for a text that `format_game` did not write."""
    lines = text.splitlines()
    head = _HEAD.fullmatch(lines[0]) if lines else None
    if head is None or len(lines) < 3 or int(head[1]) not in SIZES:
        raise GameError("a game of XO begins with a line such as 'XO 10x10, 3.5/3.5/3.5/3.5/4/4/5'")
    moves = tuple(cell for line in lines[2:-1] for cell in line.split()[1:])
    game = PaperGame(int(head[1]), head[3], lines[1].split()[1:2] == [MACHINE], moves)
    for number, (found, expected) in enumerate(
        zip_longest(lines, format_game(game).splitlines(), fillvalue=""), start=1
    ):
        if found != expected:
            raise GameError(f"line {number} of a game of XO: expected {expected!r}, got {found!r}")
    return game
