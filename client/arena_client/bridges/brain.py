"""The brain's side of the Gomocup protocol, without I/O: commands in, answers out.

Any function that chooses a cell of XO becomes a brain. Source: plastovicka.github.io/protocl2en.htm;
`manager` is the other side. Coordinates are `x,y` from 0, y 0 the top row; a cell is `a1`, bottom left.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import BinaryIO

from arena_protocol.games import make_game
from arena_protocol.games.base import GameError
from arena_protocol.games.mnk import Marks, Xo, board_of
from arena_protocol.text import unmarked

#: Chooses a cell. The last arguments are the milliseconds for all moves to come, and for this move; None:
#: unlimited.
Choose = Callable[[Xo, Marks, int | None, int | None], str]

#: time_left of a match without a limit.
UNLIMITED = 2**31 - 1
#: Bits of INFO rule that are not XO: exactly five, renju, caro. 2, a continuous game, concerns managers.
_OTHER_RULES = 1 | 4 | 8

_PAIR = re.compile(r"\s*(\d{1,3})\s*,\s*(\d{1,3})\s*")
_FIELD = re.compile(r"\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*([123])\s*")
OWN, THEIRS = 1, 2


class Refusal(Exception):  # noqa: N818 - an answer to the manager
    """A command that cannot be followed; the text goes behind ERROR."""


class Brain:
    """A brain around `choose`. `about` is its answer to ABOUT; `warm_up` prepares for a board, at START."""

    def __init__(self, choose: Choose, about: str, warm_up: Callable[[Xo], None] = lambda _: None) -> None:
        #: Whether END has come.
        self.finished = False
        self._choose = choose
        self._about = about
        self._warm_up = warm_up
        self._rules: Xo | None = None
        self._stones: dict[str, int] = {}
        self._board: list[str] | None = None
        self._info: dict[str, int] = {}

    def command(self, line: str) -> str | None:
        """Follow one line of the manager; return the answer, None if there is none."""
        line = " ".join(line.split())  # a CR inside a line would end an answer that quotes it
        if self._board is not None:
            return self._collect(line)
        word, _, rest = line.partition(" ")
        if not word:
            return None
        follow = {
            "START": self._start,
            "RECTSTART": self._rectstart,
            "RESTART": self._restart,
            "BEGIN": self._begin,
            "TURN": self._turn,
            "BOARD": self._begin_board,
            "TAKEBACK": self._takeback,
            "INFO": self._take_info,
            "ABOUT": lambda _: self._about,
            "END": self._end,
        }.get(word.upper())
        if follow is None:
            return f"UNKNOWN {word[:40]}"
        try:
            return follow(rest)
        except Refusal as refusal:
            return f"ERROR {refusal}"

    # -- the board -----------------------------------------------------------------------------------

    def _start(self, rest: str) -> str:
        try:
            rules = make_game("xo", {"size": rest})
        except GameError as error:
            self._rules = None
            raise Refusal(str(error)) from None
        assert isinstance(rules, Xo), "make_game gives the game that was asked for"
        self._rules = rules
        self._stones = {}
        self._warm_up(rules)
        return "OK"

    def _rectstart(self, rest: str) -> str:
        width, height = _pair(rest)
        if width != height:
            raise Refusal(f"the board is square, not {width} x {height}")
        return self._start(str(width))

    def _restart(self, _: str) -> str:
        self._game()
        self._stones = {}
        return "OK"

    def _takeback(self, rest: str) -> str:
        cell = self._cell(*_pair(rest))
        if self._stones.pop(cell, None) is None:
            raise Refusal(f"there is no stone at {rest}")
        return "OK"

    def _begin_board(self, _: str) -> None:
        self._game()
        self._board = []

    def _collect(self, line: str) -> str | None:
        """Keep a line of BOARD; at DONE set the board up and move."""
        assert self._board is not None, "BOARD has come"
        if line.upper() != "DONE":
            if line:
                self._board.append(line)
            return None
        fields, self._board = self._board, None
        try:
            self._stones = {}
            for text in fields:
                self._put_field(text)
            return self._move()
        except Refusal as refusal:
            return f"ERROR {refusal}"

    def _put_field(self, text: str) -> None:
        found = _FIELD.fullmatch(text)
        if found is None:
            raise Refusal(f"expected X,Y,1 or X,Y,2 in BOARD, got {text[:40]}")
        if found[3] == "3":
            raise Refusal("a continuous game is not supported")
        self._put(int(found[1]), int(found[2]), int(found[3]))

    def _put(self, x: int, y: int, owner: int) -> None:
        cell = self._cell(x, y)
        if cell in self._stones:
            raise Refusal(f"{x},{y} is taken")
        self._stones[cell] = owner

    def _cell(self, x: int, y: int) -> str:
        size = self._game().size
        if x >= size or y >= size:
            raise Refusal(f"{x},{y} is not on a board of {size} x {size}")
        return f"{chr(ord('a') + x)}{size - y}"

    def _game(self) -> Xo:
        if self._rules is None:
            raise Refusal("START comes first")
        return self._rules

    # -- moves ---------------------------------------------------------------------------------------

    def _begin(self, _: str) -> str:
        if self._stones:
            raise Refusal("BEGIN is for an empty board")
        return self._move()

    def _turn(self, rest: str) -> str:
        self._put(*_pair(rest), THEIRS)
        return self._move()

    def _move(self) -> str:
        """Choose, place the stone and answer."""
        rules, state = self._game(), self._state()
        if self._info.get("rule", 0) & _OTHER_RULES:
            raise Refusal("only freestyle is supported: five or more in a row win")
        if rules.end(state) is not None:
            raise Refusal("the game is over")
        cell = self._choose(rules, state, self._match_time(), self._turn_time())
        self._stones[cell] = OWN
        return f"{ord(cell[0]) - ord('a')},{rules.size - int(cell[1:])}"

    def _state(self) -> Marks:
        """The position; X is the side that began, so ours if both have as many stones."""
        bits = board_of(self._game().size).cells
        planes = [
            sum(bits[cell] for cell, who in self._stones.items() if who == owner) for owner in (OWN, THEIRS)
        ]
        own, theirs = (plane.bit_count() for plane in planes)
        if own == theirs:
            return Marks(x=planes[0], o=planes[1])
        if theirs == own + 1:
            return Marks(x=planes[1], o=planes[0])
        raise Refusal(f"it is not our turn with {own} own stones and {theirs} of the rival")

    def _match_time(self) -> int | None:
        """The time for all moves to come."""
        if self._info.get("timeout_match", 0) <= 0 and "time_left" not in self._info:
            return None
        left = self._info.get("time_left", self._info.get("timeout_match", 0))
        return max(1, left) if left < UNLIMITED else None

    def _turn_time(self) -> int | None:
        return max(1, self._info["timeout_turn"]) if "timeout_turn" in self._info else None

    # -- INFO, END ------------------------------------------------------------------------------------

    def _take_info(self, rest: str) -> None:
        """Keep a number; other values and unknown keys are ignored."""
        key, _, value = rest.partition(" ")
        if re.fullmatch(r"-?\d{1,12}", value):
            self._info[key.lower()] = int(value)

    def _end(self, _: str) -> None:
        self.finished = True


def _pair(text: str) -> tuple[int, int]:
    found = _PAIR.fullmatch(text)
    if found is None:
        raise Refusal(f"expected X,Y, got {text[:40] or 'nothing'}")
    return int(found[1]), int(found[2])


def serve(brain: Brain, commands: BinaryIO, answers: BinaryIO) -> None:
    """Follow the commands up to END or the end of the stream; each answer is flushed."""
    for number, line in enumerate(commands):
        reply = brain.command((line if number else unmarked(line)).decode("ascii", "replace"))
        if reply is not None:
            answers.write(f"{reply}\r\n".encode("ascii", "replace"))
            answers.flush()
        if brain.finished:
            return
