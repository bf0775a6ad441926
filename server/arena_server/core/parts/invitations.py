"""Invitations to register a bot: each is a secret code for one bot of one owner.

It works once; until that bot has logged in, the same code and name give it another token, because the
answer with the first one may be lost.

The organiser orders `invite OWNER`, or that the open invitation of an owner gets another code (`renews`).
The author gives the code with the bot's name and details (`register`), and gets its token. The journal has
the digest of a code and of a token, and neither of them itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from arena_protocol.kinds import valid_name
from arena_server.core.events import Command, Event
from arena_server.core.facts import ContestFact, Invited, Redeemed
from arena_server.core.journal import JournalError
from arena_server.core.login import is_digest
from arena_server.core.news import News
from arena_server.core.overview import InvitationState, LinkState
from arena_server.core.parts.late_entrants import LateEntrants, entrant_of
from arena_server.core.parts.part import CommandError, Part
from arena_server.core.peers import Outbox
from arena_server.terms.config import Entrant

#: Invitations of one contest that are open at once.
MOST_OPEN: Final = 1_000
#: One text for every code that does not work: it tells nothing of the others.
NO_CODE: Final = "this link has been used already, has expired, or is not complete"


class Invitations(Part):
    """The open invitations of one contest, before late entrants, which it brings in."""

    def __init__(self, entrants: LateEntrants, out: Outbox) -> None:
        self._entrants = entrants
        self._out = out
        self._count = 0
        #: Those that may still be used, by the digest of their code.
        self._open: dict[str, Invited] = {}
        #: Those that have been used, and the bot of each.
        self._used: dict[str, tuple[Invited, str]] = {}

    def listed(self) -> tuple[InvitationState, ...]:
        """All invitations, in the order in which they were given."""
        pairs = [*((each, None) for each in self._open.values()), *self._used.values()]
        states = (InvitationState(each.number, each.owner, each.until, bot) for each, bot in pairs)
        return tuple(sorted(states, key=lambda state: state.number))

    def link(self, digest: str, at: int) -> LinkState:
        """What the code of this digest can do: it may be used for its bot again, as `_register` has it."""
        if digest not in self._used:
            return LinkState(digest in self._open and self._open[digest].until >= at)
        invited, bot = self._used[digest]
        return LinkState(invited.until >= at and self._entrants.is_untried(bot), bot)

    # -- what is asked of a `Part`

    def take(self, event: Event | News, now: int) -> bool:
        match event:
            case Command(_, "invite"):
                self._invite(event)
                return True
            case Command(_, "register"):
                self._register(event, now)
                return True
            case Command(_, "add"):
                # The bot of an invitation is its author's: the organiser's order makes no other token of it.
                entrant = entrant_of(event)
                if any(bot == entrant.name for _, bot in self._used.values()):
                    self._entrants.check_absent(entrant.name)
        return False

    def restore(self, fact: ContestFact) -> bool:
        match fact:
            case Redeemed(number, name):
                used = [each for each in self._open.values() if each.number == number]
                if not used:
                    raise JournalError(f"{name!r:.40} was registered without an invitation")
                self._use(used[0], name)
            case Invited(number, _, digest):
                if not is_digest(digest):
                    raise JournalError(f"the code of invitation {number} is not a SHA-256 digest")
                self._put(fact)
                self._count = max(self._count, number)
            case _:
                return False
        return True

    # -- orders; they raise CommandError

    def _invite(self, order: Command) -> None:
        """Let who has the code of this digest register one bot up to `order.until`."""
        owner, digest = order.target, order.code
        if digest is None:
            raise CommandError("invite needs a code")
        if not valid_name(owner):
            raise CommandError(f"invite: expected the name of an author, got {owner!r:.40}")
        self._entrants.check_open()
        number = self._count + 1
        if order.renews:
            number = max((each.number for each in self._open.values() if each.owner == owner), default=0)
            if not number:
                raise CommandError(f"{owner} has no invitation that is still open")
        else:
            # A code that has expired is forgotten here at the latest.
            self._open = {each.digest: each for each in self._open.values() if each.until >= order.at}
            if len(self._open) >= MOST_OPEN:
                raise CommandError(f"there are {MOST_OPEN:,} open invitations already")
            self._count = number
        invited = Invited(number, owner, digest, order.until)
        self._put(invited)
        self._out.fact(invited)

    def _put(self, invited: Invited) -> None:
        """An invitation is open by this code, and by no earlier one of its number."""
        self._open = {each.digest: each for each in self._open.values() if each.number != invited.number}
        self._open[invited.digest] = invited

    def _register(self, order: Command, now: int) -> None:
        entrant = entrant_of(order)
        if self._is_again(order, entrant) and self._entrants.add_again(entrant, as_described=False):
            return
        invited = None if order.code is None else self._open.get(order.code)
        if invited is None or invited.until < order.at:
            raise CommandError(NO_CODE)
        self._entrants.check_new(entrant.name)
        self._entrants.add(replace(entrant, owner=invited.owner), now)
        self._use(invited, entrant.name)
        self._out.fact(Redeemed(invited.number, entrant.name))

    def _is_again(self, order: Command, entrant: Entrant) -> bool:
        """Whether this code has added the bot, and may still be used."""
        invited, bot = self._used.get(order.code or "", (None, ""))
        return invited is not None and bot == entrant.name and invited.until >= order.at

    def _use(self, invited: Invited, name: str) -> None:
        del self._open[invited.digest]
        self._used[invited.digest] = invited, name
