"""Reading the facts of stored contests: orders, late entrants, what is planned."""

from __future__ import annotations

from fractions import Fraction

from sqlalchemy.orm import Session

from arena_server.core.deal import game_id
from arena_server.core.facts import (
    Annulled,
    ContestFact,
    Disqualified,
    Joined,
    Order,
    Penalised,
    Ruled,
    Separated,
    Validated,
)
from arena_server.core.formats.base import Pairing
from arena_server.core.formats.scheduled import Scheduled
from arena_server.core.journal import fact_of
from arena_server.core.orders import standing
from arena_server.core.rulings import JURY
from arena_server.store import bot_games
from arena_server.store.plans import grown_format, planned
from arena_server.store.preflight import ADDED
from arena_server.store.schema import ContestRow
from arena_server.store.unfinished import kept_entries


class FactReader:
    """The facts of contests that outlive their journals; `layout` is that of the database."""

    def __init__(self, session: Session, layout: int) -> None:
        self._session = session
        self._layout = layout

    def all(self, contest: ContestRow) -> list[ContestFact]:
        """The facts of a contest, in their order."""
        if self._layout < ADDED["facts"]:
            return []
        return [fact_of(entry) for entry in kept_entries(self._session, contest.id)]  # type: ignore[misc] # of the contest

    def orders(self, contest: ContestRow) -> list[Order]:
        """What the organiser has ordered."""
        return [fact for fact in self.all(contest) if isinstance(fact, Order)]

    def annulled(self, contest: ContestRow) -> dict[str, str]:
        """The games whose stored results were taken back by their ids, with the worker that had played them.

        They are void; their records stay as they are.
        """
        facts = (fact for fact in self.all(contest) if isinstance(fact, Annulled))
        return {game_id(fact.number): fact.worker for fact in facts}

    def rulings(self, contest: ContestRow) -> list[Ruled]:
        """What the jury has decided of results, in its order; the records stay as they are."""
        return [fact for fact in self.all(contest) if isinstance(fact, Ruled)]

    def decisions(self, contest: ContestRow) -> list[Order]:
        """The orders of the jury that were carried out, and not undone."""
        return [order for order in standing(self.orders(contest)) if order.verb in JURY]

    def ruled(self, contest: ContestRow) -> dict[str, int]:
        """The games whose result is not that of the record, each with the number of the order."""
        numbers = {order.number for order in self.decisions(contest)}
        rulings = (ruled for ruled in self.rulings(contest) if ruled.order in numbers)
        return {game_id(ruled.game): ruled.order for ruled in rulings}

    def penalties(self, contest: ContestRow) -> dict[str, Fraction]:
        """The penalty points of each bot that has had some."""
        facts = (fact for fact in self.all(contest) if isinstance(fact, Penalised))
        return {fact.name: Fraction(fact.hundredths, 100) for fact in facts}

    def disqualified(self, contest: ContestRow) -> dict[str, str]:
        """The bots that are disqualified, and what becomes of their games."""
        facts = (fact for fact in self.all(contest) if isinstance(fact, Disqualified))
        treatments = {fact.name: fact.treatment for fact in facts}
        return {name: treatment for name, treatment in treatments.items() if treatment}

    def changes(self, contest: ContestRow) -> int:
        """How often results that were stored have been changed or taken back, and scores."""
        return sum(isinstance(fact, Annulled | Ruled | Penalised) for fact in self.all(contest))

    def validations(self, contest: ContestRow) -> dict[str, Validated]:
        """The validation games that are over by their ids, in the order of their ends."""
        facts = (fact for fact in self.all(contest) if isinstance(fact, Validated))
        return {game_id(-fact.number): fact for fact in facts}

    def separated(self, contest: ContestRow) -> Separated | None:
        """That the contest ended early because it is certain who is first."""
        return next((fact for fact in self.all(contest) if isinstance(fact, Separated)), None)

    def planned(self, contest: ContestRow, first: int, end: int) -> list[Pairing]:
        """The games with the numbers `first` to `end - 1` of those that are planned, begun or not.

        Without those of bots that have left, all of which are played or void.
        """
        return planned(contest, self.all(contest), first, end)

    def last_planned(self, contest: ContestRow) -> int:
        """The highest number of a planned game; 0 if none is planned. Those between may be repeats."""
        form = grown_format(contest, self.all(contest))
        return form.next_number - 1 if isinstance(form, Scheduled) else 0

    def owners(self, contest: ContestRow) -> dict[str, str]:
        """The owner of each bot that has one, late entrants among them."""
        found: dict[str, str] = dict(contest.config.get("owners", {}))
        late = (fact for fact in self.all(contest) if isinstance(fact, Joined) and fact.owner)
        return found | {fact.name: fact.owner for fact in late}

    def details(self, contest: ContestRow, bot: str) -> dict[str, str]:
        """What the author of a bot says of it: see `bot_games.details`."""
        return bot_games.details(contest, self.all(contest), bot)
