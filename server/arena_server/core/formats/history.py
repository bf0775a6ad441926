"""What a reader knows of a contest whose format draws: its facts and results, and nothing computed again.

    history = History(format); history.extend(facts); history.add(result) ...; history.form.scores()

A reader may see a fact before the results that led to it: pages show results with a delay, and a running
contest is read while it is written. A draw is taken once nothing of the rounds before it is left, so that it
tells nothing of a result that may not be shown yet; a result is taken once its game has been drawn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from fractions import Fraction
from itertools import islice
from typing import Any

from arena_protocol.record import VOID
from arena_server.core.facts import (
    ContestFact,
    Drawn,
    Extended,
    Forbidden,
    Joined,
    Paired,
    Penalised,
    Repeat,
    Shortened,
    Walkover,
)
from arena_server.core.formats.base import Pairing, PairingError
from arena_server.core.formats.rounds import Rounds
from arena_server.core.formats.rounds_json import rounds_json
from arena_server.stats.results import PastGame

HistoryFact = Drawn | Paired | Forbidden | Joined | Extended | Shortened | Repeat | Walkover | Penalised


class History:
    """A format that is new, and gets its past. Raises PairingError for what cannot be of this contest."""

    def __init__(self, form: Rounds) -> None:
        self._form = form
        self._known = 0
        self._facts: deque[HistoryFact] = deque()
        self._taken: list[HistoryFact] = []
        #: Results whose games are not known yet.
        self._results: list[PastGame] = []
        self._added = 0
        #: What is wrong with the first round that should not have been drawn.
        self._flaw = ""
        #: The void games that have not been played again.
        self._void: dict[int, PastGame] = {}

    def extend(self, facts: Iterable[ContestFact]) -> None:
        """All facts of the contest so far, in their order; those of the last call are among them."""
        mine = [fact for fact in facts if isinstance(fact, HistoryFact)]
        self._facts.extend(islice(mine, self._known, None))
        self._known = len(mine)

    def add(self, game: PastGame) -> None:
        """A result, in the order of storing; its deal is 0 if it is not known."""
        self._results.append(game)
        self._added += 1

    @property
    def form(self) -> Rounds:
        """The format with all that can be taken now."""
        self._advance()
        return self._form

    @property
    def taken(self) -> tuple[HistoryFact, ...]:
        """The facts that follow from the results so far."""
        self._advance()
        return tuple(self._taken)

    def check(self, *, over: bool) -> None:
        """Raise PairingError for a game that was not drawn, or a round that no rule allows.

        If the contest is `over`, so it does for any fact left.
        """
        self._advance()
        if self._flaw:
            raise PairingError(self._flaw)
        if self._results:
            raise PairingError(f"g{self._results[0].number} was played, and was not drawn")
        if over and self._facts:
            fact = self._facts[0]
            raise PairingError(f"{type(fact).__name__} {fact[0]} does not follow from the results before it")

    def document(self) -> dict[str, Any]:
        """The rounds so far in the types of JSON (`document.py`)."""
        form = self.form
        return rounds_json(form.rounds(), form.terms.seeds, form.ranked_by)

    def _advance(self) -> None:
        self._take_results()
        while self._facts and self._may_take(self._facts[0]):
            self._taken.append(fact := self._facts.popleft())
            self._take(fact)
            self._take_results()

    def _may_take(self, fact: HistoryFact) -> bool:
        match fact:
            case Paired(replaces=True):
                return True
            case Drawn() | Paired():
                return not self._form.draws.is_open
            case Repeat(_, void, _):
                return void in self._void
            case Joined() | Extended() | Shortened() | Penalised() | Forbidden():
                return True
            case Walkover(_, absent, stored):
                # A game against the absent that was played is no walkover: its result may not be known yet.
                return self._added >= stored and self._form.walkover_due(absent) is not None

    def _take(self, fact: HistoryFact) -> None:
        match fact:
            case Drawn():
                self._note_flaw(fact)
                self._form.drawn(fact)
            case Paired():
                self._note_flaw(fact)
                self._form.pair(fact)
            case Forbidden():
                self._form.forbid(fact)
            case Walkover():
                self._form.walk_over(fact)
            case Joined():
                self._form.join(fact.name, fact.owner)
            case Penalised(name, hundredths):
                self._form.penalise(name, Fraction(hundredths, 100))
            case Extended():
                self._form.extend(fact.games)
            case Shortened():
                self._form.shorten(fact.games)
            case Repeat(number, void, deal):
                if number != self._form.next_number:
                    raise PairingError(f"g{number} repeats g{void}, and is not the next number")
                self._form.again(Pairing(number, self._void.pop(void).names, deal), void)

    def _note_flaw(self, fact: Drawn | Paired) -> None:
        if not self._flaw and (flaw := self._form.flaw(fact)):
            self._flaw = f"draw {fact.draw}: {flaw}"

    def _take_results(self) -> None:
        end = self._form.next_number
        results, self._results = self._results, []
        for game in results:
            if game.number >= end:
                self._results.append(game)
                continue
            self._form.started(Pairing(game.number, game.names, game.deal))
            if game.end == VOID:
                self._void[game.number] = game
                self._form.void(game.number)
            else:
                self._form.result(game)
