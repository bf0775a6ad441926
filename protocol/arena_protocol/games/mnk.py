"""Games of m marks in a line on a square board for two seats: tic-tac-toe and XO (five in a row).

X is seat 1. A plane holds bit (size + 1) * row + column of every marked cell, row 0 at the
bottom. The extra column at the end of each row is never marked, so no line runs round an edge:

    size 3:   8  9 10 | 11        a3 b3 c3
              4  5  6 |  7        a2 b2 c2
              0  1  2 |  3        a1 b1 c1

XO is the game of the 1970 paper on a board of 10 x 10 to 14 x 14; five or more marks win.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import ClassVar, Self

from arena_protocol.games.base import (
    DRAW,
    Deal,
    DecidedGame,
    GameError,
    Step,
    draw_bytes,
    draw_some,
    drawn_board,
    given_boards,
    whole_number,
)
from arena_protocol.games.scene import WON_LINE, BoardLayout, Scene, grid, rows_scene


@dataclass(frozen=True, slots=True)
class Marks:
    """The cells of X and of O as two planes of bits."""

    x: int
    o: int


@dataclass(frozen=True, slots=True)
class Board:
    """The cells of one size: name to bit in scan order (a1, b1, ...), and the union of all bits."""

    cells: dict[str, int]
    full: int


@cache
def board_of(size: int) -> Board:
    """Return the cells of a board of size x size."""
    cells = {
        # A row has a bit more than cells, which stays 0: a line cannot go on in the next row.
        f"{chr(ord('a') + column)}{row + 1}": 1 << (size + 1) * row + column
        for row in range(size)
        for column in range(size)
    }
    return Board(cells, sum(cells.values()))


def has_line(plane: int, size: int, length: int) -> bool:
    """Whether `plane` has `length` or more neighbouring marks in a row, a column or a diagonal."""
    for stride in (1, size, size + 1, size + 2):
        line = plane
        for _ in range(length - 1):
            line &= line >> stride
        if line:
            return True
    return False


@lru_cache(maxsize=1024)  # a ply asks six times: legal, points, over, and the pages again
def _winner(x: int, o: int, size: int, length: int) -> int | None:
    if has_line(x, size, length):
        return 1
    if has_line(o, size, length):
        return 2
    return DRAW if x | o == board_of(size).full else None


def line_cells(plane: int, size: int, length: int) -> int:
    """The marks of `plane` that stand in a line of `length` or more, as a plane."""
    found = 0
    for stride in (1, size, size + 1, size + 2):
        starts = plane
        for _ in range(length - 1):
            starts &= starts >> stride
        for step in range(length):
            found |= starts << stride * step
    return found


def format_marks(position: Marks, size: int) -> str:
    """Return the rows from the top down joined by `/`, `.` for an empty cell."""
    text = ""
    for bit in board_of(size).cells.values():
        text += "x" if position.x & bit else "o" if position.o & bit else "."
    return "/".join([text[start : start + size] for start in reversed(range(0, size * size, size))])


def parse_marks(text: str, size: int) -> Marks:
    """Return the planes of a text of `format_marks`.

    Raises GameError for a wrong number of rows or cells, another character, or counts of marks
    that X moving first cannot produce.
    """
    rows = text.split("/")
    if [len(row) for row in rows] != [size] * size:
        raise GameError(f"a board is {size} rows of {size} cells joined by '/', not {text!r}")
    unknown = text.strip(".xo/")
    if unknown:
        raise GameError(f"a cell of the board is '.', 'x' or 'o', not {unknown[0]!r}")
    cells = "".join(reversed(rows))
    x, o = _plane(cells, size, "x"), _plane(cells, size, "o")
    # The counts say who is to move.
    if x.bit_count() - o.bit_count() not in (0, 1):
        raise GameError(f"x has as many marks as o or one more, not {x.bit_count()} and {o.bit_count()}")
    return Marks(x, o)


def _plane(cells: str, size: int, mark: str) -> int:
    bits = board_of(size).cells.values()
    return sum(bit for bit, cell in zip(bits, cells, strict=True) if cell == mark)


@cache
def marks_layout(size: int) -> BoardLayout:
    """Column letters below, row numbers on the left; a click marks a cell."""
    letters = tuple(chr(ord("a") + column) for column in range(size))
    numbers = tuple(str(row) for row in range(size, 0, -1))
    moves = tuple(letter + number for number in numbers for letter in letters)
    return grid(size, size, moves=moves, bottom=letters, left=numbers)


class MarksGame(DecidedGame[Marks]):
    """A game won by `win` or more marks in a line on a board of `size` x `size`; X moves first."""

    size: int
    win: int
    boards: tuple[str, ...]

    def brief(self) -> str:
        return f"Seat 1 has x and begins. A move is an empty cell, such as b2; {self.win} in a line win."

    def scene(self, position: Marks) -> Scene:
        """The board with the names of its cells; the marks of a line that has won are marked."""
        layout = marks_layout(self.size)
        line = line_cells(position.x, self.size, self.win) | line_cells(position.o, self.size, self.win)
        if not line:
            return rows_scene(self.state_text(position), layout)
        # Cells in the order of the scene: the top row is the last one of the board.
        bits = board_of(self.size).cells
        places = tuple(place for place, cell in enumerate(layout.cells) if bits[cell.move] & line)
        return rows_scene(self.state_text(position), layout, marks=((WON_LINE, places),))

    @abstractmethod
    def deal(self, seed: int) -> Deal:
        """The start that this seed fixes."""

    def start(self, deal: Deal) -> Marks:
        """Parse STATE. Raises GameError for a bad text, or if both sides have a line."""
        position = parse_marks(deal.board, self.size)
        if all(has_line(plane, self.size, self.win) for plane in (position.x, position.o)):
            raise GameError(f"x and o cannot both have {self.win} in a line: {deal.board!r}")
        return position

    def state_text(self, position: Marks) -> str:
        """The board; the counts of marks give the seat to move."""
        return format_marks(position, self.size)

    def _checked(self) -> Self:
        """Return self. Raises GameError if a given board is not the start of a game."""
        for board in self.boards:
            if self.winner(self.start(Deal(board))) is not None:
                raise GameError(f"{self.name}: board is the start of a game, and this one is over: {board!r}")
        return self

    def to_move(self, position: Marks) -> int:
        """Seat 1 (X) while the counts are equal."""
        return 1 if position.x.bit_count() == position.o.bit_count() else 2

    def winner(self, position: Marks) -> int | None:
        """The seat that has a line; DRAW if the board is full without one."""
        return _winner(position.x, position.o, self.size, self.win)

    def legal_moves(self, position: Marks) -> tuple[str, ...]:
        """The empty cells in scan order: a1, b1, ... then a2, ..."""
        if self.winner(position) is not None:
            return ()
        taken = position.x | position.o
        return tuple(name for name, bit in board_of(self.size).cells.items() if not bit & taken)

    def is_legal(self, position: Marks, move: str) -> bool:
        """Whether `move` is an empty cell and the game is not over."""
        bit = board_of(self.size).cells.get(move)
        return bit is not None and not bit & (position.x | position.o) and self.winner(position) is None

    def play(self, position: Marks, move: str) -> Step[Marks]:
        """Mark a cell. Raises GameError if the game is over or `move` is not an empty cell."""
        bit = self._empty_cell(position, move)
        x_moves = self.to_move(position) == 1
        after = Marks(position.x | bit, position.o) if x_moves else Marks(position.x, position.o | bit)
        return Step(after, self.totals(after)[0 if x_moves else 1])

    def _empty_cell(self, position: Marks, move: str) -> int:
        board = board_of(self.size)
        bit = board.cells.get(move)
        if self.winner(position) is not None:
            raise GameError("the game is over")
        if bit is None:
            raise GameError(
                f"a move of {self.name} is a cell from a1 to {list(board.cells)[-1]}, not {move!r}"
            )
        if bit & (position.x | position.o):
            raise GameError(f"{move} is taken")
        return bit


@dataclass(frozen=True)
class TicTacToe(MarksGame):
    """Tic-tac-toe on 3 x 3 or 4 x 4; by default a line of the whole side wins.

    Games start from the empty board, or from one of the given `boards`.
    """

    name: ClassVar[str] = "tictactoe"
    title: ClassVar[str] = "Tic-tac-toe"
    zombie_move: ClassVar[str | None] = None
    OPTIONS: ClassVar[frozenset[str]] = frozenset({"seats", "size", "win", "board"})

    size: int = 3
    win: int = 3
    boards: tuple[str, ...] = ()

    @classmethod
    def from_options(cls, options: Mapping[str, object]) -> TicTacToe:
        """Build from the options of GAME or of a configuration. Raises GameError, naming the option."""
        whole_number(cls.name, options, "seats", 2, 2, 2)
        size = whole_number(cls.name, options, "size", cls.size, 3, 4)
        win = whole_number(cls.name, options, "win", size, 3, size)
        return cls(size, win, given_boards(cls.name, options))._checked()

    def options(self) -> dict[str, str]:
        printed = {"size": str(self.size), "win": str(self.win)}
        return printed | {"board": "|".join(self.boards)} if self.boards else printed

    def deal(self, seed: int) -> Deal:
        """The empty board, or the given one that the seed draws."""
        if self.boards:
            return Deal(drawn_board(self.name, self.boards, seed))
        return Deal(format_marks(Marks(0, 0), self.size))


SIZES = range(10, 15)
WIN = 5
#: Fewer marks than a five of both colours needs: no opening is a finished game.
MAX_OPENING = 8
#: Openings are drawn from the central square of this side, where marks matter.
OPENING_SIDE = 6


@dataclass(frozen=True)
class Xo(MarksGame):
    """XO. At the start `opening` marks, X and O in turn, are on the board, or it is one of `boards`.

    The paper's game has none. A contest of deterministic programs needs some, with seats swapped.
    """

    name: ClassVar[str] = "xo"
    title: ClassVar[str] = "XO"
    zombie_move: ClassVar[str | None] = None
    OPTIONS: ClassVar[frozenset[str]] = frozenset({"seats", "size", "win", "opening", "board"})

    size: int = SIZES[0]
    opening: int = 0
    boards: tuple[str, ...] = ()
    win: int = field(default=WIN, init=False)

    @classmethod
    def from_options(cls, options: Mapping[str, object]) -> Xo:
        """Build from the options of GAME or of a configuration. Raises GameError, naming the option."""
        whole_number(cls.name, options, "seats", 2, 2, 2)
        whole_number(cls.name, options, "win", WIN, WIN, WIN)
        if "board" in options and "opening" in options:
            raise GameError("xo: give either opening or board, not both")
        return cls(
            size=whole_number(cls.name, options, "size", cls.size, SIZES[0], SIZES[-1]),
            opening=whole_number(cls.name, options, "opening", cls.opening, 0, MAX_OPENING),
            boards=given_boards(cls.name, options),
        )._checked()

    def options(self) -> dict[str, str]:
        printed = {"size": str(self.size), "win": str(self.win)}
        if self.boards:
            printed["board"] = "|".join(self.boards)
        return printed | {"opening": str(self.opening)} if self.opening else printed

    def deal(self, seed: int) -> Deal:
        """The given board that the seed draws, or one with an opening: X has the first, third, ... cell."""
        if self.boards:
            return Deal(drawn_board(self.name, self.boards, seed))
        drawn = draw_some(draw_bytes(self.name, seed), self._middle(), self.opening)
        return Deal(format_marks(Marks(sum(drawn[::2]), sum(drawn[1::2])), self.size))

    def _middle(self) -> list[int]:
        cells = list(board_of(self.size).cells.values())
        low = (self.size - OPENING_SIDE) // 2
        middle = range(low, low + OPENING_SIDE)
        return [cells[self.size * row + column] for row in middle for column in middle]
