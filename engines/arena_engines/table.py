"""What an engine of a game without hidden pictures is: it sees the rules, the position and the clock.

Such an engine works on the game's plug-in, so a game needs no code here. It must not know: the
client, sockets, any particular game.
"""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from arena_engines.engine import Parameter, Player
from arena_protocol.games.base import Deal, Game


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """All that an engine may know when it is its turn.

    `rules` is the game's plug-in with its options, `position` its position value now, `moves`
    the game so far. Times are milliseconds; None when nobody keeps a clock.
    """

    rules: Game[Any]
    position: Any
    moves: tuple[str, ...] = ()
    clock: int | None = None
    bank: int | None = None
    increment: int = 0

    @property
    def seat(self) -> int:
        """The seat to move."""
        return self.rules.to_move(self.position)


class TableEngine(Player):
    """A player of a game that shows everything."""

    @abstractmethod
    def choose(self, table: Table) -> str:
        """Return the move to play, in the game's own notation."""


AnyTableEngine = TypeVar("AnyTableEngine", bound=TableEngine)


def playing(game: str, kind: type[AnyTableEngine]) -> type[AnyTableEngine]:
    """Return `kind` as a player of `game`: for engines that need nothing but the plug-in."""
    return type(
        kind.__name__, (kind,), {"game": game, "__doc__": kind.__doc__, "__module__": kind.__module__}
    )


def table_at(rules: Game[Any], state: str, *, clock: int | None = None) -> Table:
    """Return the table of a position given as STATE prints it. Raises GameError for a bad text."""
    return Table(rules=rules, position=rules.start(Deal(state)), clock=clock)


class RandomMover(TableEngine):
    """Plays any legal move, each equally likely; the same again for the same seed."""

    name = "random"
    parameters = (Parameter("seed", None, 0, 2**31 - 1),)
    instant = True

    def __init__(self, values: Mapping[str, int | str | None] | None = None) -> None:
        super().__init__(values)
        self._random = random.Random(self.values["seed"])  # noqa: S311 - a game, not a secret

    def choose(self, table: Table) -> str:
        """Return a move drawn from the legal ones."""
        return self._random.choice(table.rules.legal_moves(table.position))
