"""All parts of a contest, in the order in which they are asked."""

from __future__ import annotations

from arena_server.core.connections import Connections
from arena_server.core.deadlines import Deadlines
from arena_server.core.events import Event
from arena_server.core.facts import ContestFact
from arena_server.core.fixtures import Fixtures
from arena_server.core.games import GameManager
from arena_server.core.login import Authenticator
from arena_server.core.news import Changed, News, Notes
from arena_server.core.overview import LinkState
from arena_server.core.parts.hand_pairing import HandPairing
from arena_server.core.parts.invitations import Invitations
from arena_server.core.parts.late_entrants import LateEntrants
from arena_server.core.parts.leases import LeasedGames
from arena_server.core.parts.part import Part, Unpaired
from arena_server.core.parts.places import Places
from arena_server.core.parts.probation import Probation
from arena_server.core.parts.registration import Registration
from arena_server.core.parts.storage import Storage
from arena_server.core.parts.succession import Succession
from arena_server.core.peers import Bot, Outbox
from arena_server.terms.config import ContestConfig

_NOTHING = Unpaired()


class Parts:
    """The parts of one contest; what one does to another follows from their order."""

    def __init__(
        self,
        terms: ContestConfig,
        seats: int,
        authenticator: Authenticator,
        games: GameManager | LeasedGames,
        connections: Connections,
        out: Outbox,
        deadlines: Deadlines,
    ) -> None:
        bots = authenticator.bots
        self.late_entrants = LateEntrants(authenticator, games, connections, out)
        self.probation = Probation(terms, seats, bots, games, connections, out, deadlines)
        self.invitations = Invitations(self.late_entrants, out)
        self.registration = Registration(authenticator, self.late_entrants, out)
        self._all: tuple[Part, ...] = (
            self.probation,
            Places(terms.handover_ms, authenticator, games, connections, out, deadlines),
            Succession(bots, games, connections, out),
            self.registration,
            self.invitations,
            self.late_entrants,
            HandPairing(bots, games, out),
            *((Storage(authenticator.stored, bots, games, out),) if authenticator.stored.quota else ()),
            *((games,) if isinstance(games, LeasedGames) else ()),
        )

    def link(self, digest: str, at: int) -> LinkState:
        """What the link to register by whose code has this digest can do at that moment."""
        if self.registration.is_open(digest, at):
            return LinkState(works=True)
        return self.invitations.link(digest, at)

    def present(self, bot: Bot) -> bool:
        """Whether `bot` can be paired, now or when a slot is free."""
        return bot.is_here and all(part.may_pair(bot) for part in self._all)

    def is_there(self, bot: Bot) -> bool:
        """Whether `bot` counts for the quorum: only a contest that has begun offers validation games."""
        tried = self.probation if self.probation.tries(bot) else None
        return bot.is_here and all(part is tried or part.may_pair(bot) for part in self._all)

    def is_absent(self, bot: Bot) -> bool:
        """Whether the contest waits for `bot` to connect."""
        return not bot.connected or self.shown(bot).absent

    def take(self, event: Event | News, now: int) -> bool:
        """Whether a part has taken `event` alone. Raises CommandError."""
        return any(part.take(event, now) for part in self._all)

    def spread(self, fixtures: Fixtures, notes: Notes, now: int) -> bool:
        """Let the parts know what has happened, and the fixtures which bots can be paired by that.

        Returns whether anything has.
        """
        spread = False
        while news := notes.take():
            spread = True
            for each in news:
                self.take(each, now)
                if isinstance(each, Changed):
                    fixtures.update(each.bot, now, present=self.present(each.bot))
        return spread

    def due(self, now: int, *, may_start: bool) -> None:
        for part in self._all:
            part.due(now, may_start=may_start)

    def restore(self, fact: ContestFact) -> bool:
        """Whether a part has taken `fact` alone. Raises JournalError."""
        return any(part.restore(fact) for part in self._all)

    def shown(self, bot: Bot) -> Unpaired:
        """What the first part says that has something to say."""
        said = (part.shown(bot) for part in self._all)
        return next((each for each in said if each.where or each.cause), _NOTHING)
