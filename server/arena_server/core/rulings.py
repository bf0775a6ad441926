"""Results by the jury: what an order says of a game, and the results that stand in the place of those played.

A ruling changes a result, never a record. The last ruling of a game counts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from arena_protocol.games.base import Game
from arena_protocol.record import CORRECTED, FORFEIT, VOID
from arena_server.core.facts import Ruled
from arena_server.stats.results import PastGame

#: The digits of a total that is corrected.
_MOST_DIGITS: Final = 9


#: The orders of the jury, each with a reason that all may see.
OF_A_GAME: Final = ("forfeit", "correct")
JURY: Final = (*OF_A_GAME, "disqualify", "penalty")
#: What becomes of the games of a bot that is disqualified: they do not count, or the others have won them.
LEAVE, LOST = "leave", "lost"
TREATMENTS: Final = (LEAVE, LOST)


class RulingError(ValueError):
    """A result that cannot be: the text is one clear line."""


def forfeited(game: Game[Any], totals: Sequence[int], seat: int) -> tuple[int, ...]:
    """The totals of a game that was played, once `seat` (1, 2, ...) has forfeited it.

    The seat has no more than a forfeit leaves it, and each other has its points, at least those of a forfeit.
    """
    lost = game.forfeit(game.start(game.deal(0)), seat)
    return tuple(
        min(total, least) if each == seat else max(total, least)
        for each, (total, least) in enumerate(zip(totals, lost, strict=True), start=1)
    )


def corrected(text: str, seats: int) -> tuple[int, ...]:
    """The totals that an order gives, as `2-0` or, where one is below 0, `2:-1`. Raises RulingError."""
    words = text.split(":" if ":" in text else "-")
    numbers = [word.removeprefix("-") for word in words]
    if len(words) != seats or not all(
        each.isascii() and each.isdigit() and len(each) <= _MOST_DIGITS for each in numbers
    ):
        example = "-".join(["1", *["0"] * (seats - 1)])
        raise RulingError(f"expected the points of each of {seats} seats, as {example}, got {text!r:.40}")
    return tuple(map(int, words))


def name_and_treatment(target: str) -> tuple[str, str]:
    """What an order disqualifies, and how. Raises RulingError."""
    name, _, treatment = target.partition(" ")
    if treatment not in TREATMENTS:
        raise RulingError(
            f"expected {LEAVE} (its games leave the table) or {LOST} (the others have won them), "
            f"got {treatment!r:.40}"
        )
    return name, treatment


def hundredths_of(text: str) -> int:
    """The penalty points of an order, in hundredths. Raises RulingError."""
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,2})?", text, re.ASCII) or not Fraction(text):
        raise RulingError(f"expected penalty points above 0, as 1 or 0.5, got {text!r:.40}")
    return int(100 * Fraction(text))


def ruling_of(
    game: Game[Any], verb: str, target: str, names: Sequence[str], totals: Sequence[int]
) -> tuple[tuple[int, ...], str]:
    """Totals and end of a game by the order `verb target`; it was played by `names`. Raises RulingError."""
    game_id, _, said = target.partition(" ")
    if verb == "disqualify":
        name, said = game_id, name_and_treatment(target)[1]
        if said == LEAVE:
            return tuple(totals), VOID
        return forfeited(game, totals, list(names).index(name) + 1), FORFEIT
    if verb == "correct":
        return corrected(said, len(names)), CORRECTED
    if said not in names:
        raise RulingError(f"{said!r:.40} did not play {game_id}: {', '.join(names)} did")
    return forfeited(game, totals, list(names).index(said) + 1), FORFEIT


class Rulings:
    """The rulings of one contest, and the games that they are about, as they count now."""

    def __init__(self) -> None:
        self._rulings: list[Ruled] = []
        self._latest: dict[int, Ruled] = {}
        self._games: dict[int, PastGame] = {}

    def restore(self, rulings: Iterable[Ruled]) -> None:
        """Those that were made before."""
        for each in rulings:
            self._take(each)

    def _take(self, ruled: Ruled) -> None:
        self._rulings.append(ruled)
        self._latest[ruled.game] = ruled

    def apply(self, game: PastGame) -> PastGame:
        """A stored game with the result that counts: its row may still have another."""
        ruled = self._latest.get(game.number)
        if ruled is None:
            return game
        now = self._games[game.number] = replace(game, totals=ruled.totals, end=ruled.end)
        return now

    def known(self, game: PastGame) -> PastGame:
        """The same of one whose row was read a moment ago."""
        return self._games.get(game.number, game)

    def rule(self, game: PastGame, totals: tuple[int, ...], end: str, order: int) -> tuple[Ruled, PastGame]:
        """The ruling by which a game has this result from now on, and the game with it."""
        ruled = Ruled(len(self._rulings) + 1, game.number, totals, end, game.totals, game.end, order)
        self._take(ruled)
        return ruled, self.apply(game)

    def strikes(self, game: PastGame) -> bool:
        """Whether the jury has said that a game does not count."""
        ruled = self._latest.get(game.number)
        return ruled is not None and ruled.end == VOID

    @property
    def struck(self) -> int:
        """How many games do not count by the jury's word."""
        return sum(ruled.end == VOID for ruled in self._latest.values())

    def of_order(self, order: int, annulled: Collection[int]) -> list[tuple[PastGame, Ruled]]:
        """The rulings of an order, each with its game as it counts now; none of `annulled` games."""
        mine = [ruled for ruled in self._rulings if ruled.order == order and ruled.game not in annulled]
        return [(self._games[ruled.game], ruled) for ruled in mine]
