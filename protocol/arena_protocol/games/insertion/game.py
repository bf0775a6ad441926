"""Insertion as a plug-in: the rules of `rules.py` with seats, options, the sequence and points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import ClassVar, NamedTuple

from arena_protocol.games.base import (
    Deal,
    Game,
    GameError,
    Step,
    drawn_board,
    given_boards,
    whole_number,
)
from arena_protocol.games.insertion import rules
from arena_protocol.games.insertion.board import (
    MAX_COLOURS,
    SIDE,
    Planes,
    check_sequence,
    draw_deal,
    format_board,
    parse_board,
)
from arena_protocol.games.scene import Scene, grid, rows_scene

#: The moves, clockwise along the rim from the bottom left.
MOVES = tuple(str(number) for number in range(1, rules.MOVES + 1))
STARTS = ("full", "partial", "empty")

#: OVER has the whole sequence in one line of at most 65,536 bytes.
MAX_PLIES = 60_000
MAX_LOOKAHEAD = 999_999_999

#: The board with the fifteen moves around it.
LAYOUT = grid(
    SIDE,
    SIDE,
    top=MOVES[5:10],
    right=MOVES[10:],
    left=MOVES[4::-1],
    styles=tuple((str(colour), f"tile-{colour}") for colour in range(1, MAX_COLOURS + 1)),
    arrows=True,
)

#: How each move inserts its picture, and in which row or column: `rules.insert` without a call a ply.
_INSERTS = {
    move: (rules.push_left, number - 1)
    if number <= 5
    else (rules.drop, number - 6)
    if number <= 10
    else (rules.push_right, 15 - number)
    for number, move in enumerate(MOVES, start=1)
}
_COLOUR = {str(colour): colour for colour in range(1, MAX_COLOURS + 1)}
#: A named tuple without its Python constructor, at half the cost.
_new = tuple.__new__


class Position(NamedTuple):
    """The board, the known pictures and the points; immutable.

    `sequence` holds every known picture from ply 1 on: all of them at the referee, those of NEXT
    and `reveal=` at a client. `played` is the number of plies played.
    """

    planes: Planes
    sequence: str
    played: int
    totals: tuple[int, ...]

    @property
    def board(self) -> str:
        """The board as STATE prints it."""
        return format_board(self.planes)

    @property
    def seat(self) -> int:
        """The seat to move (1, 2, ...)."""
        return self.played % len(self.totals) + 1

    @property
    def visible(self) -> str:
        """The known pictures that are not inserted yet; the first one is inserted next."""
        return self.sequence[self.played :]

    @property
    def picture(self) -> int | None:
        """The colour to insert next; None if it is unknown or no ply is left."""
        return int(self.visible[0]) if self.played < len(self.sequence) else None

    @property
    def distinct_moves(self) -> tuple[str, ...]:
        """The moves without those whose effect equals that of a lower-numbered one."""
        distinct = rules.distinct_moves(*self.planes)
        return tuple(move for number, move in enumerate(MOVES, start=1) if distinct >> number & 1)

    def gain(self, move: str | int) -> int:
        """The points for `move`. Raises GameError as `Insertion.play` does."""
        move = str(move)
        self._check(move)
        _, _, _, removed, _, _ = rules.play(*self.planes, int(move), _COLOUR[self.sequence[self.played]])
        return rules.POINTS_A_CELL * removed

    def _check(self, move: str) -> None:
        """Raise GameError for a move that there is not, or for one whose picture is not known."""
        if move not in _INSERTS:
            raise GameError(f"a move of insertion is a number from 1 to {rules.MOVES}, not {move!r}")
        if self.played >= len(self.sequence):
            raise GameError(f"the picture of ply {self.played + 1} is not known")


#: `position.played`, in a third of the time.
_played: Callable[[Position], int] = itemgetter(Position._fields.index("played"))


@dataclass(frozen=True)
class Insertion(Game[Position]):
    """Insertion with its options. Build it by `from_options`, which checks the values.

    `start_kind` is `full`, `partial` or `empty`; a given `board`, or several joined by `|`, replaces it.
    """

    name: ClassVar[str] = "insertion"
    title: ClassVar[str] = "Insertion"
    zombie_move: ClassVar[str | None] = "6"
    OPTIONS: ClassVar[frozenset[str]] = frozenset(
        {"seats", "plies", "colours", "lookahead", "start", "board"}
    )

    seats: int = 2
    plies: int = 200
    colours: int = 6
    lookahead: int = 20
    start_kind: str = "full"
    board: str | None = None

    @classmethod
    def from_options(cls, options: Mapping[str, object]) -> Insertion:
        """Build from the options of GAME or of a configuration. Raises GameError, naming the option."""
        colours = whole_number(cls.name, options, "colours", cls.colours, 3, MAX_COLOURS)
        return cls(
            seats=whole_number(cls.name, options, "seats", cls.seats, 2, 4),
            plies=whole_number(cls.name, options, "plies", cls.plies, 1, MAX_PLIES),
            colours=colours,
            lookahead=whole_number(cls.name, options, "lookahead", cls.lookahead, 1, MAX_LOOKAHEAD),
            start_kind=_start_kind(options),
            board=_given_board(options, colours),
        )

    def options(self) -> dict[str, str]:
        """The options as GAME prints them; `start` and `board` only if they are not the default."""
        printed = {"plies": str(self.plies), "colours": str(self.colours), "lookahead": str(self.lookahead)}
        if self.board is not None:
            printed["board"] = self.board
        elif self.start_kind != Insertion.start_kind:
            printed["start"] = self.start_kind
        return printed

    def brief(self) -> str:
        return (
            "A move is a number of the rim, where the next picture goes in: 1-5 push from the left, "
            "6-10 drop, 11-15 push from the right. Three or more of a colour in a line go, 10 points a cell."
        )

    def scene(self, position: Position) -> Scene:
        """The board, and of the known pictures as many as NEXT shows."""
        return rows_scene(position.board, LAYOUT, coming=position.visible[: self.lookahead])

    def deal(self, seed: int) -> Deal:
        """The start board and the sequence for this seed; see `board.draw_deal`."""
        start: str | Planes = self.start_kind
        if self.board is not None:
            start = parse_board(drawn_board(self.name, self.board.split("|"), seed))
        planes, sequence = draw_deal(seed, start, self.colours, self.plies)
        return Deal(format_board(planes), sequence)

    def start(self, deal: Deal) -> Position:
        """The position before the first ply; a client passes the pictures of NEXT as the sequence."""
        planes = _parse_start(deal.board, self.colours)
        sequence = self._checked(deal.sequence)
        return Position(planes, sequence, 0, (0,) * self.seats)

    def _checked(self, sequence: str) -> str:
        if len(sequence) > self.plies:
            raise GameError(f"a game of {self.plies} plies has at most as many pictures, not {len(sequence)}")
        return check_sequence(sequence, self.colours)

    def state_text(self, position: Position) -> str:
        return position.board

    def preview(self, deal: Deal) -> str:
        """The first `lookahead` pictures, or all if there are fewer."""
        return deal.sequence[: self.lookahead]

    def reveal(self, deal: Deal, ply: int) -> str | None:
        """Picture number ply + `lookahead`, if there is one."""
        at = ply + self.lookahead - 1
        return deal.sequence[at] if at < len(deal.sequence) else None

    def extend(self, position: Position, revealed: str) -> Position:
        """The position with `revealed` added to the known pictures. Raises GameError for a bad text."""
        sequence = position.sequence + check_sequence(revealed, self.colours)
        return Position(position.planes, self._checked(sequence), position.played, position.totals)

    def seen(self, position: Position) -> Position:
        """The position with the pictures of NEXT and of each `reveal` so far."""
        planes, sequence, played, totals = position
        return _new(Position, (planes, sequence[: played + self.lookahead], played, totals))

    def to_move(self, position: Position) -> int:
        return position.played % self.seats + 1

    def legal_moves(self, position: Position) -> tuple[str, ...]:
        """All 15 moves until the last ply has been played."""
        return MOVES if position.played < self.plies else ()

    def is_legal(self, position: Position, move: str) -> bool:
        """Whether `move` is `1` to `15` without leading zeros, and a ply is left."""
        return move in _INSERTS and _played(position) < self.plies

    def play(self, position: Position, move: str) -> Step[Position]:
        """Insert the next picture. Raises GameError for a bad move, no ply left, or an unknown picture."""
        return _new(Step, self.advance(position, move)[:2])

    def advance(self, position: Position, move: str) -> tuple[Position, int, tuple[int, ...], int]:
        (p0, p1, p2), sequence, played, totals = position
        if played >= self.plies:
            raise GameError(f"the game is over: all {self.plies} plies are played")
        if move not in _INSERTS or played >= len(sequence):
            position._check(move)
        insert, at = _INSERTS[move]
        p0, p1, p2, _ = insert(p0, p1, p2, at, _COLOUR[sequence[played]])
        points = 0
        if rules.runs(p0, p1, p2):  # most plies remove nothing
            p0, p1, p2, removed, _ = rules.settle(p0, p1, p2)
            points = rules.POINTS_A_CELL * removed
            seat = played % self.seats
            totals = (*totals[:seat], totals[seat] + points, *totals[seat + 1 :])
        played += 1
        following = played % self.seats + 1 if played < self.plies else 0
        return _new(Position, ((p0, p1, p2), sequence, played, totals)), points, totals, following

    def waves(self, position: Position, move: str) -> int:
        """How often runs are removed, those that the removal before has brought together included."""
        planes, sequence, played, _ = position
        return rules.play(*planes, int(move), _COLOUR[sequence[played]])[-1]

    def totals(self, position: Position) -> tuple[int, ...]:
        return position.totals

    def end(self, position: Position) -> str | None:
        """`complete` after the last ply; insertion has no other end."""
        return "complete" if position.played >= self.plies else None


def _start_kind(options: Mapping[str, object]) -> str:
    kind = options.get("start", Insertion.start_kind)
    if not isinstance(kind, str) or kind not in STARTS:
        raise GameError(f"insertion: start is one of {', '.join(STARTS)}, not {kind!r}")
    return kind


def _given_board(options: Mapping[str, object], colours: int) -> str | None:
    boards = given_boards(Insertion.name, options)
    if boards and "start" in options:
        raise GameError("insertion: give either start or board, not both")
    for board in boards:
        _parse_start(board, colours)
    return "|".join(boards) or None


def _parse_start(text: str, colours: int) -> Planes:
    planes = parse_board(text, colours)
    if rules.runs(*planes):
        raise GameError(f"a start board has no run of three or more of one colour: {text!r}")
    return planes
