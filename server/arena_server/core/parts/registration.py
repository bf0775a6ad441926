"""Registration by the authors themselves: a link with a quota, of one owner or for all of them.

The organiser orders `registration N OWNER`: who has the code registers bots until N of this owner take part
or wait; 0 closes it. By `registration N` one code is for all authors, each of whom names the owner: there the
quota bounds those alone who name the same one. Where the organiser approves (`approves`), a bot that
registers is an applicant: no bot of the contest, until `approve` makes it one; `reject` frees its name. The
code works many times, so an answer that is lost is not given again: any other holder of the link could take
the name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from arena_protocol.kinds import valid_name
from arena_server.core.events import Command, Event
from arena_server.core.facts import Applied, ContestFact, RegistrationSet
from arena_server.core.journal import JournalError
from arena_server.core.login import Authenticator, is_digest
from arena_server.core.news import News
from arena_server.core.overview import Applicant, RegistrationState
from arena_server.core.parts.invitations import NO_CODE
from arena_server.core.parts.late_entrants import LateEntrants, entrant_of
from arena_server.core.parts.part import CommandError, Part
from arena_server.core.peers import Outbox
from arena_server.terms.config import NO_TOKEN, ContestConfigError, Entrant

#: Bots of one owner, and applicants of one contest.
MOST_BOTS: Final = 1_000


class Registration(Part):
    """The open registration of one contest, before invitations and late entrants."""

    def __init__(self, authenticator: Authenticator, entrants: LateEntrants, out: Outbox) -> None:
        self._authenticator = authenticator
        self._entrants = entrants
        self._out = out
        #: What may be registered, by the owner; the empty one is that of the link for all.
        self._terms: dict[str, RegistrationSet] = {}
        self._applied: dict[str, Applied] = {}
        entrants.reserved = self._applied.keys()

    @property
    def states(self) -> tuple[RegistrationState, ...]:
        """What authors may do, by each link that is not closed."""
        return tuple(
            RegistrationState(terms.until, terms.quota, terms.approves, owner)
            for owner, terms in self._terms.items()
        )

    @property
    def applicants(self) -> tuple[Applicant, ...]:
        """Those that wait for the organiser, the first one first."""
        return tuple(
            Applicant(each.name, each.owner, each.author, each.language, each.url)
            for each in self._applied.values()
        )

    def is_open(self, digest: str, at: int) -> bool:
        """Whether bots can be registered by the code of this digest."""
        terms = self._by_code(digest)
        return terms is not None and terms.until >= at

    # -- what is asked of a `Part`

    def take(self, event: Event | News, now: int) -> bool:
        match event:
            case Command(_, "registration"):
                self._open(event)
            case Command(_, "register") if (terms := self._by_code(event.code)) is not None:
                self._register(event, terms, now)
            case Command(_, "add") if event.target in self._applied:
                raise CommandError(f"{event.target} waits for approval by the organiser already")
            case Command(_, "approve"):
                applied = self._applicant(event)
                self._entrants.add(_entrant(applied), now)
                self._decide(applied)
            case Command(_, "reject"):
                self._decide(self._applicant(event))
            case _:
                return False
        return True

    def restore(self, fact: ContestFact) -> bool:
        match fact:
            case RegistrationSet(_, digest):
                if not is_digest(digest):
                    raise JournalError("the code of the registration is not a SHA-256 digest")
                self._set(fact)
            case Applied(name, waits):
                if not is_digest(fact.digest):
                    raise JournalError(f"the token of {name!r:.40} is not a SHA-256 digest")
                self._applied.pop(name, None)
                if waits:
                    self._applied[name] = fact
            case _:
                return False
        return True

    # -- orders; they raise CommandError

    def _open(self, order: Command) -> None:
        given, _, owner = order.target.partition(" ")
        if order.code is None:
            raise CommandError("registration needs a code")
        if not (given.isascii() and given.isdigit() and int(given[:5]) <= MOST_BOTS):
            raise CommandError(
                f"registration: expected how many bots each author may register, 0 to {MOST_BOTS:,}, "
                f"got {given!r:.40}"
            )
        if owner and not valid_name(owner):
            raise CommandError(f"registration: expected the name of an author, got {owner!r:.40}")
        if len(self._terms) >= MOST_BOTS and owner not in self._terms:
            raise CommandError(f"{MOST_BOTS:,} links are open already")
        if int(given):
            self._entrants.check_open()
        terms = RegistrationSet(owner, order.code, order.until, int(given), order.confirmed)
        self._set(terms)
        self._out.fact(terms)

    def _set(self, terms: RegistrationSet) -> None:
        self._terms.pop(terms.owner, None)
        if terms.quota:
            self._terms[terms.owner] = terms

    def _by_code(self, code: str | None) -> RegistrationSet | None:
        return next((terms for terms in self._terms.values() if terms.digest == code), None)

    def _register(self, order: Command, terms: RegistrationSet, now: int) -> None:
        entrant = entrant_of(order)
        if terms.until < order.at:
            raise CommandError(NO_CODE)
        if terms.owner:
            entrant = replace(entrant, owner=terms.owner)
        if not valid_name(entrant.owner):
            raise CommandError(f"expected the name of an author, got {entrant.owner!r:.40}")
        self._entrants.check_new(entrant.name)
        taken = self._entrants.of_owner(entrant.owner)
        taken += [each.name for each in self._applied.values() if each.owner == entrant.owner]
        if len(taken) >= terms.quota:
            raise CommandError(f"{entrant.owner} has {len(taken)} of {terms.quota} bots already")
        if not terms.approves:
            self._entrants.add(entrant, now)
            return
        if len(self._applied) >= MOST_BOTS:
            raise CommandError(f"{MOST_BOTS:,} bots wait for approval already")
        self._entrants.check_open()
        try:
            self._authenticator.check(entrant)
        except ContestConfigError as error:
            raise CommandError(str(error)) from None
        self._applied[entrant.name] = applied = _applied(entrant)
        self._out.fact(applied)

    def _applicant(self, order: Command) -> Applied:
        if order.target not in self._applied:
            raise CommandError(f"no bot called {order.target!r:.40} waits for approval")
        return self._applied[order.target]

    def _decide(self, applied: Applied) -> None:
        del self._applied[applied.name]
        self._out.fact(applied._replace(waits=False))


def _applied(entrant: Entrant) -> Applied:
    digest, is_sent = str(entrant.key_sha256), entrant.author_sha256 is not None
    about = entrant.owner, entrant.author, entrant.language, entrant.url
    return Applied(entrant.name, True, *about, digest, is_sent, entrant.ponders)


def _entrant(applied: Applied) -> Entrant:
    about = applied.owner, applied.author, applied.language, applied.url
    own, author = (NO_TOKEN, applied.digest) if applied.sent else (applied.digest, None)
    return Entrant(applied.name, own, True, 1, *about, author, ponders=applied.ponders)
