"""What an engine is: a name, a few parameters, a choice of a move, an analysis of a position.

Every player of the package subclasses `Player`: those of insertion as an `Engine`, which sees one
`Situation`, those of other games as a `TableEngine` (table.py). registry.py finds them by name. This
file must not know numba, clocks, sockets or the client.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from arena_protocol.errors import UserError


class EngineError(UserError, ValueError):
    """A wrong engine, parameter, value or position; the text is one clear line."""

    exit_code = 2

    def __init__(self, text: str) -> None:
        super().__init__(" ".join(text.split()))  # what it quotes may have had line ends


class Eval(NamedTuple):
    """What a line of play comes to: my points, cells deleted by anybody, the others' points."""

    mine: int
    deleted: int
    theirs: int


class Analysis(NamedTuple):
    """The answer to one position.

    `nodes` counts the moves made, at the horizon too; `seconds` is the search alone.
    """

    move: int
    eval: Eval
    nodes: int
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """All that an engine may know when it is its turn.

    The text forms are those of the protocol. `moves` and `start` tell the whole game so far, so that
    an engine needs no memory of its own; times are milliseconds, None when nobody keeps a clock.
    """

    board: str
    visible: str
    ply: int = 1
    plies: int = 200
    seat: int = 1
    seats: int = 2
    colours: int = 6
    clock: int | None = None
    bank: int | None = None
    start: str = ""
    played: str = ""
    moves: tuple[int, ...] = ()

    @property
    def plies_left(self) -> int:
        """Plies to the end of the game, the one about to be played included."""
        return self.plies - self.ply + 1


@dataclass(frozen=True, slots=True)
class Parameter:
    """One `key=value` of an engine's specification: a whole number in a range, or one of some words."""

    name: str
    default: int | str | None
    low: int = 0
    high: int = 0
    words: tuple[str, ...] = ()

    @property
    def expected(self) -> str:
        """What values are right, as a person reads it."""
        return "|".join(self.words) if self.words else f"{self.low}..{self.high}"

    def parse(self, text: str) -> int | str:
        """Return the value of this text. Raises EngineError naming what is expected."""
        if self.words:
            if text in self.words:
                return text
        elif text.isascii() and text.isdigit() and self.low <= int(text) <= self.high:
            return int(text)
        raise EngineError(f"{self.name}={text}: expected {self.name}={self.expected}")


class Player(ABC):
    """A player of one game. Instances are made by `registry.create`, with every parameter given.

    Its `choose` may be called from a thread; one instance plays one game at a time.
    """

    game: ClassVar[str]
    name: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    #: Whether `choose` answers within microseconds, so that no thread is needed for it.
    instant: ClassVar[bool] = False

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
        """Do all slow preparation (compiling) now; to be called before READY."""


class Engine(Player):
    """A player of insertion, which can also analyse a position."""

    game: ClassVar[str] = "insertion"
    #: The deepest analysis that can be asked for.
    max_depth: ClassVar[int] = 20

    @abstractmethod
    def choose(self, situation: Situation) -> int:
        """Return the move to play, 1..15. Raises EngineError for a situation that is not of this game."""

    @abstractmethod
    def analyse(self, board: str, visible: str, depth: int) -> Analysis:
        """Return the best move here, at this depth but no further than the pictures are visible.

        Raises EngineError for a text that is no position and for a depth below 1.
        """
