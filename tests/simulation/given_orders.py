"""The organiser's orders of one contest: an answered order holds, also after the server was killed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from arena_server.core.events import Command
from arena_server.core.facts import Order
from arena_server.core.journal import Entry, fact_of

#: An order that forbids games to begin, and the one that allows them again.
ALLOWED_BY = {"pause": "resume", "kick": "lift"}
#: Who gave an order, its verb and its target: the numbers of orders begin again with each process.
Given = tuple[str, str, str]


class GivenOrders:
    """`require` raises Violation unless something holds."""

    def __init__(self, require: Callable[[bool, str], None]) -> None:
        self.answered: set[Given] = set()
        #: Why each was refused, of those that were.
        self.refused: dict[Given, set[str]] = {}
        self._require = require
        self._asked: dict[int, Given] = {}
        #: What is forbidden: the verb and target of each answered order, unless a later one allows it.
        self._forbidden: set[tuple[str, str]] = set()
        #: The number of the last order that allows each, from the moment at which the contest takes it.
        self._allowed: dict[tuple[str, str], int] = {}

    def asked(self, command: Command) -> None:
        """The contest takes an order; its answer is yet to be sent."""
        self._asked[command.number] = command.who, command.verb, command.target
        for verb, by in ALLOWED_BY.items():
            if command.verb == by:
                self._allow(verb, command.target, command.number)
        if command.verb == "undo":
            for verb, target in [*self._forbidden]:
                self._allow(verb, target, command.number)

    def _allow(self, verb: str, target: str, number: int) -> None:
        self._forbidden.discard((verb, target))
        self._allowed[verb, target] = number

    def sent_answer(self, number: int, problem: str | None) -> None:
        """The answer to an order has left the server."""
        if number not in self._asked:
            return
        if problem is not None:
            self.refused.setdefault(self._asked[number], set()).add(problem)
            return
        self.answered.add(given := self._asked[number])
        what = given[1:]
        if given[1] in ALLOWED_BY and number > self._allowed.get(what, 0):
            self._forbidden.add(what)

    def begins(self, game_id: str, names: Sequence[str]) -> None:
        """A game begins."""
        self._require(("pause", "") not in self._forbidden, f"{game_id} began while the contest was paused")
        for name in names:
            self._require(("kick", name) not in self._forbidden, f"{game_id}: {name} plays, and was kicked")

    def restarted(self, entries: Sequence[Entry], power: bool) -> None:
        """The server was killed, and goes on from these entries."""
        facts = [fact_of(entry) for entry in entries if entry[1] == "order"]
        orders = [fact for fact in facts if isinstance(fact, Order)]
        # The fact of an `undo` has the number of the order that it takes back.
        known = {(each.who, each.verb, "" if each.verb == "undo" else each.target) for each in orders}
        lost = sorted(verb for _, verb, _ in self.answered - known)
        self._require(power or not lost, f"the orders {', '.join(lost)} were answered, and are lost")
        self.answered &= known
        self._asked.clear()
        if power:  # what allowed it, or forbade it, may be gone
            self._forbidden.clear()
