"""What a bot author writes: one function, or one small class.

It must not know: the wire, sockets, event loops, or any particular game.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from arena_client.errors import ClientError
from arena_client.view import GameView
from arena_protocol.record import commitment

__all__ = ["Bot", "Choose", "GameView", "Result", "as_bot"]

#: The smallest bot: from what the seat sees to its move.
Choose = Callable[[GameView], int | str]


@dataclass(frozen=True, slots=True)
class Result:
    """How a game ended. `totals` in the order of the seats, `mine` my own, `end` as OVER says it.

    `fair` tells whether the sequence was the one that GAME's commit fixed before the first
    ply and the one that was shown, or is None if the server did not open a commit.
    """

    totals: tuple[int, ...]
    mine: int
    end: str
    fair: bool | None


class Bot(ABC):
    """Subclass this and write `choose`; the rest may stay as it is.

    The three methods are called one after the other, never two at a time, on one thread of
    the bot's own. An exception from any of them ends the visit and reaches the caller of `play`.
    """

    #: The games this bot plays, as HELLO tells the server; empty: whatever the contest plays.
    games: tuple[str, ...] = ()
    #: Whether every method answers within microseconds, so that no thread is needed for them.
    instant: bool = False

    def new_game(self, view: GameView) -> None:  # noqa: B027 - most bots have nothing to prepare
        """Prepare for a game: no clock runs before this returns, but within the contest's READY limit."""

    @abstractmethod
    def choose(self, view: GameView) -> int | str:
        """Return the move to play now; the clock of `view.my_clock` ms runs."""

    def game_over(self, view: GameView, result: Result) -> None:  # noqa: B027 - as above
        """Learn how a game ended. Not called for a game whose end passed while the bot was away."""


class _Function(Bot):
    """A bot made of one function."""

    def __init__(self, choose: Choose) -> None:
        self._choose = choose

    def choose(self, view: GameView) -> int | str:
        return self._choose(view)


def as_bot(bot: Bot | type[Bot] | Choose) -> Bot:
    """Make a Bot of a Bot, of a class that needs no arguments, or of one function `choose(view)`.

    Raises ClientError for anything else.
    """
    if isinstance(bot, Bot):
        return bot
    if isinstance(bot, type) and issubclass(bot, Bot):
        return bot()
    if callable(bot) and not isinstance(bot, type):
        return _Function(bot)
    raise ClientError(f"a bot is a Bot, a subclass of Bot or a function choose(view), not {bot!r}")


def result_of(view: GameView) -> Result:
    """Return the result of a view that has seen OVER."""
    assert view.over is not None, "ask only once OVER has come"
    return Result(view.totals, view.totals[view.seat - 1], view.over.end, _fair(view))


def _fair(view: GameView) -> bool | None:
    over, commit = view.over, view.offer.commit
    if over is None or over.nonce is None or commit is None:
        return None
    sequence = over.sequence or ""
    return commitment(over.nonce, view.state, sequence) == commit and sequence.startswith(view.shown)
