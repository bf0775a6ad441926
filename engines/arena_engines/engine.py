"""The engine interface: a name, parameters, a choice of a move, and for some an analysis.

    registry.create("champion:depth=5") -> Engine
    engine.warm_up()                          compile now; no clock runs yet
    engine.choose(position) -> move           the position is what a seat may know
    engine.analyse(position, depth) -> Analysis

`Position` is the same type for every game: the game's plug-in, its position value, and the clock. An engine
of one game names both types, as in `Position[Xo, Marks]`; an engine that needs the plug-in only takes
`AnyPosition`. Importing this file imports neither numba nor the client.
"""

from __future__ import annotations

import math
import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

from arena_protocol.errors import UserError
from arena_protocol.games.base import Deal, Game

#: A bank of an hour and more (in milliseconds) stands for no clock: often a person waits for the move.
UNTIMED_BANK = 3_600_000
#: Milliseconds for a move with such a bank.
UNTIMED_MOVE = 2_000
#: The part of a move limit that is planned with, and what it is reduced by in milliseconds: the referee
#: charges the wire and a late timer to the mover.
LIMIT_SHARE, LIMIT_OVERHEAD = 0.9, 5.0

Rules = TypeVar("Rules", bound=Game[Any])
State = TypeVar("State")


class EngineError(UserError, ValueError):
    """A wrong engine, parameter, value or position; the text is one clear line."""

    exit_code = 2

    def __init__(self, text: str) -> None:
        super().__init__(" ".join(text.split()))  # quoted input may contain line ends


class Eval(NamedTuple):
    """The value of a line of play of insertion: my points, deleted cells, the others' points."""

    mine: int
    deleted: int
    theirs: int


class Analysis(NamedTuple):
    """The answer to one position.

    `move` is in the game's notation (insertion: its number), `eval` the engine's terms (insertion: `Eval`),
    `nodes` the moves made, those at the horizon included, `depth` the plies searched, fewer than asked for
    if the pictures end, `seconds` the processor time of the search alone.
    """

    move: int | str
    eval: tuple[int, ...]
    nodes: int
    depth: int
    seconds: float = 0.0


class Report(NamedTuple):
    """What `choose` found, as INFO reports it: plies, the value for the side to move, positions, line.

    `eval` is in the engine's own units (insertion: points of lead at the end of the line); `line` begins
    with the move. None and an empty line: not known. `text`: the reason of the move, for spectators.
    """

    depth: int | None = None
    eval: int | None = None
    nodes: int | None = None
    line: tuple[int | str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position(Generic[Rules, State]):
    """What a seat may know when it is to move.

    `rules` is the game's plug-in with its options and `state` its position value, in which only the
    visible part of a hidden sequence is known. `start` is the text of STATE, `moves` the game since then;
    an empty `start` means that `state` is the first position. `names`: of the seats' players; empty if they
    are not known. Times are milliseconds; None without a clock, a `bank` (the clock at the beginning) or a
    `move_limit` (the longest time for this move).
    """

    rules: Rules
    state: State
    start: str = ""
    moves: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    clock: int | None = None
    bank: int | None = None
    increment: int = 0
    move_limit: int | None = None

    @classmethod
    def at(cls, rules: Rules, board: str, sequence: str = "", *, clock: int | None = None) -> Self:
        """Return the first position of a game from the texts of STATE and NEXT.

        Raises GameError if they are not a start position of this game.
        """
        return cls(rules=rules, state=rules.start(Deal(board, sequence)), start=board, clock=clock)

    @property
    def seat(self) -> int:
        """The seat to move, 1..seats."""
        return self.rules.to_move(self.state)

    def longest(self, asked: int | None, late: float = LIMIT_OVERHEAD) -> float:
        """The most milliseconds for this move, whatever share of the bank an engine plans with.

        `asked` is the most that the engine's parameters allow, None if they do not say; `late` is by how much
        the move may be later than planned. Infinite if nothing limits the move but the clock.
        """
        if asked is None and self.bank is not None and self.bank >= UNTIMED_BANK:
            asked = UNTIMED_MOVE
        most = math.inf if asked is None else float(asked)
        if self.move_limit is not None:
            most = min(most, max(0.0, LIMIT_SHARE * self.move_limit - max(late, LIMIT_OVERHEAD)))
        return most


AnyPosition = Position[Any, Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One `key=value` of an engine's specification: an integer in a range, or one of some words.

    `play_only`: it has no effect on `analyse`, so an analysis refuses any value but the default.
    """

    name: str
    default: int | str | None
    low: int = 0
    high: int = 0
    words: tuple[str, ...] = ()
    play_only: bool = False

    @property
    def expected(self) -> str:
        """The accepted values as text: `1..20` or `seen|own`."""
        return "|".join(self.words) if self.words else f"{self.low}..{self.high}"

    def parse(self, text: str) -> int | str:
        """Return the value of this text. Raises EngineError naming what is expected."""
        if self.words:
            if text in self.words:
                return text
        elif text.isascii() and text.isdigit() and self.low <= int(text) <= self.high:
            return int(text)
        raise EngineError(f"{self.name}={text}: expected {self.name}={self.expected}")


class Engine(ABC):
    """A player of one game, made by `registry.create` with a value for every parameter.

    `choose` may be called from a thread; one instance plays one game at a time.
    """

    game: ClassVar[str]
    name: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    #: Lists have the weakest first: an engine of a plug-in stands behind this one, else at the end.
    stronger_than: ClassVar[str] = ""
    #: The module by which a person plays this engine in a terminal, if it has a way of its own:
    #: `arena_cli.dialogue.Dialogue`.
    dialogue: ClassVar[str] = ""
    #: `choose` answers within microseconds, so that the client needs no thread for it.
    instant: ClassVar[bool] = False
    #: The greatest depth of `analyse`; 0 for an engine without analysis.
    max_depth: ClassVar[int] = 0
    #: The names of the numbers in the `eval` of an analysis.
    eval_names: ClassVar[tuple[str, ...]] = ("mine", "deleted", "theirs")
    #: The options of the game that an analysed position belongs to.
    analysis_options: ClassVar[Mapping[str, object]] = {}

    #: What the last `choose` found; None from an engine that searches nothing.
    report: Report | None = None

    def __init__(self, values: Mapping[str, int | str | None] | None = None) -> None:
        self.values = {each.name: each.default for each in self.parameters} | dict(values or {})

    @property
    def spec(self) -> str:
        """The text that makes an equal engine: `champion:depth=5`."""
        given = ",".join(f"{name}={value}" for name, value in self.values.items() if value is not None)
        return f"{self.name}:{given}" if given else self.name

    def __repr__(self) -> str:
        return f"create({self.spec!r})"

    def warm_up(self) -> None:  # noqa: B027 - most engines have nothing slow
        """Do all slow preparation (compiling) now; called before READY."""

    @abstractmethod
    def choose(self, position: AnyPosition) -> int | str:
        """Return the move in the game's notation; an int stands for its decimal digits."""

    def game_over(self) -> None:  # noqa: B027 - most engines keep nothing of a game
        """The game has ended. Not called for every game: a connection may be lost before its end."""

    def analyse(self, position: AnyPosition, depth: int) -> Analysis:
        """Return the best move at this depth, at most `max_depth`.

        Raises EngineError for a depth below 1, and from an engine without analysis.
        """
        raise EngineError(f"engine {self.name} of {self.game} has no analysis by depth")

    def check_depth(self, depth: int) -> None:
        """Raise EngineError for a depth that `analyse` does not have."""
        if not 1 <= depth <= self.max_depth:
            raise EngineError(f"depth={depth}: expected 1..{self.max_depth}")

    def check_analysis(self, position: AnyPosition, depth: int) -> None:
        """Raise EngineError for a depth that `analyse` does not have, and for a game that is over."""
        self.check_depth(depth)
        if position.rules.end(position.state) is not None:
            raise EngineError("the game is over: there is no move to analyse")


class RandomMover(Engine):
    """Plays a random legal move of any game, the same again for the same seed."""

    name = "random"
    parameters = (Parameter("seed", None, 0, 2**31 - 1),)
    instant = True

    def __init__(self, values: Mapping[str, int | str | None] | None = None) -> None:
        super().__init__(values)
        self._random = random.Random(self.values["seed"])  # noqa: S311 - a game, not a secret

    def choose(self, position: AnyPosition) -> str:
        """Return one of the legal moves, each equally likely."""
        moves: tuple[str, ...] = position.rules.legal_moves(position.state)
        return self._random.choice(moves)
