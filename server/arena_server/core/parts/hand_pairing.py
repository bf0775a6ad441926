"""The organiser's word to the pairing of a Swiss: a round by hand, and pairs that must not meet.

    pair ann:bob,cid:dan,eve     the next round, or the last one again while no game of it has begun
    forbid ann:bob               they do not meet in rounds that are drawn later
    allow ann:bob                they may, also if the file forbids it

Each needs a reason.
"""

from __future__ import annotations

from collections.abc import Mapping

from arena_server.core.events import Command, Event
from arena_server.core.facts import ContestFact, Forbidden, Paired
from arena_server.core.formats.by_hand import after_change, parse_groups
from arena_server.core.formats.swiss import Swiss, is_promised
from arena_server.core.games import GameManager
from arena_server.core.log_events import RoundDrawn
from arena_server.core.news import News
from arena_server.core.parts.part import CommandError, Part
from arena_server.core.peers import Bot, Outbox
from arena_server.terms.formats import FormatError

_VERBS = ("pair", "forbid", "allow")


class HandPairing(Part):
    """The rounds of one contest that are paired by hand, and its forbidden pairs."""

    def __init__(self, bots: Mapping[str, Bot], games: GameManager, out: Outbox) -> None:
        self._bots = bots
        self._games = games
        self._out = out
        #: How often it was changed who may meet.
        self._changes = 0

    def take(self, event: Event | News, now: int) -> bool:
        if not isinstance(event, Command) or event.verb not in _VERBS:
            return False
        fixtures = self._games.fixtures
        if (swiss := fixtures.swiss) is None:
            raise CommandError(f"{event.verb}: expected a Swiss; only its rounds are paired by hand")
        if not event.reason.strip():
            raise CommandError(f"{event.verb}: expected a reason, which is kept and shown")
        if fixtures.drawing:
            raise CommandError("a round is being drawn: give the order once it is")
        try:
            if event.verb == "pair":
                self._pair(swiss, event)
            else:
                self._change(swiss, event)
        except FormatError as error:
            raise CommandError(f"{event.verb}: {error}") from None
        self._games.notes.reconsider()
        return True

    def _pair(self, swiss: Swiss, order: Command) -> None:
        groups = parse_groups(order.target)
        left = [bot.name for bot in self._bots.values() if bot.withdrawn]
        here = [name for name in swiss.terms.names if name not in self._games.fixtures.away]
        replaces, repeat = swiss.check_by_hand(groups, here, left)
        if repeat and not order.confirmed:
            raise CommandError(f"pair: {repeat}; confirm it")
        draws = swiss.draws
        numbers = draws.count + 1, draws.next_number, swiss.terms.games
        paired = Paired(*numbers, groups, replaces, bool(repeat), order.reason)
        self._out.fact(paired)
        swiss.pair(paired)
        self._out.effects.append(RoundDrawn(paired.draw, len(paired.drawn.pairs), len(paired.drawn.byes)))

    def _change(self, swiss: Swiss, order: Command) -> None:
        groups = parse_groups(order.target)
        if len(groups) != 1 or len({*groups[0]}) != 2:
            raise FormatError(f"expected two bots as ann:bob, got {order.target!r:.60}")
        for name in groups[0]:
            if name not in swiss.terms.names:
                raise FormatError(f"no bot of this contest is called {name!r:.40}")
        forbids = order.verb == "forbid"
        after = after_change(swiss.forbidden, frozenset(groups[0]), forbidden=forbids)
        if after == swiss.forbidden:
            raise FormatError(f"{' and '.join(groups[0])} {'must not' if forbids else 'may'} meet already")
        promised = is_promised(swiss, swiss.forbidden)
        if forbids and not order.confirmed and promised and not is_promised(swiss, after):
            left = swiss.planned_rounds - len(swiss.draws.rounds)
            raise CommandError(f"forbid: not all {left} rounds that are left could be drawn then; confirm it")
        self._changes += 1
        fact = Forbidden(self._changes, swiss.draws.next_number, groups[0], forbids)
        self._out.fact(fact)
        swiss.forbid(fact)

    def restore(self, fact: ContestFact) -> bool:
        if isinstance(fact, Forbidden):
            self._changes = fact.number
        return False
