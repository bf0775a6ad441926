"""What the jury changes of the results and the scores of one contest."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from fractions import Fraction

from arena_protocol.record import VOID
from arena_server.core.facts import Penalised
from arena_server.core.formats.base import Format
from arena_server.core.formats.rounds import Rounds
from arena_server.core.peers import Outbox
from arena_server.core.results import ResultCounter
from arena_server.core.rulings import Rulings
from arena_server.stats.early_stop import Separation
from arena_server.stats.results import PastGame
from arena_server.terms.formats import FormatError


class Changes:
    """The part of `Fixtures` that changes what was played; a draw may be under way (`drawing`)."""

    drawing: bool
    annulled: set[int]
    results: ResultCounter
    rulings: Rulings
    _format: Format
    _out: Outbox
    _paired: bool
    _deal_results: Counter[tuple[frozenset[str], int]]
    _early_stop: Separation | None

    @abstractmethod
    def note_total(self) -> None:
        """See `Fixtures`."""

    def rule(self, game: PastGame, totals: tuple[int, ...], end: str, order: int) -> None:
        """The jury gives a stored game another result.

        Raises FormatError, with nothing changed, for one that has to stand.
        """
        self.check_rulings(leave=end == VOID)
        if game.number in self.annulled:
            raise FormatError(f"g{game.number} is void, and has no result to change")
        if not self.may_change(game):
            raise FormatError(f"g{game.number}: what follows from its result has been drawn, so it stands")
        ruled, new = self.rulings.rule(game, totals, end, order)
        self._out.fact(ruled)
        self.results.exchange(game, new)
        if self._paired:
            self._deal_results[frozenset(game.names), game.deal] += (new.end != VOID) - (game.end != VOID)
        self._format.change(game, new)
        self.note_total()

    def check_rulings(self, *, leave: bool) -> None:
        """Raise FormatError if no result can be changed now, or if games cannot `leave` the table."""
        if self._early_stop is not None:
            raise FormatError("results decide when the contest ends (contest.stop), so they stand")
        if self.drawing:
            raise FormatError("a round is being drawn: change results once it is")
        if leave and isinstance(self._format, Rounds):
            raise FormatError(
                "no game of a round can leave the table, because rounds follow from it: disqualify with lost"
            )

    def may_change(self, game: PastGame) -> bool:
        """Whether nothing was drawn that follows from this result."""
        return self._format.may_change(game.number)

    def penalise(self, name: str, hundredths: int) -> None:
        """The penalty points of a bot are these from now on. Raises FormatError, with nothing changed."""
        if self.drawing:
            raise FormatError("a round is being drawn: give penalty points once it is")
        self.take_penalty(Penalised(name, hundredths))
        self._out.fact(Penalised(name, hundredths))

    def take_penalty(self, penalised: Penalised) -> None:
        """Take penalty points, now or from the journal. Raises FormatError, with nothing changed."""
        points = Fraction(penalised.hundredths, 100)
        self._format.penalise(penalised.name, points)
        self.results.standings.penalise(penalised.name, points)
