"""Invitations to register a bot: each is a secret code for one bot of one owner.

It works once; until that bot has logged in, the same code and name give it another token, because the
answer with the first one may be lost.

The organiser orders `invite OWNER`; the author gives the code with the bot's name and details, and gets its
token. The journal has the digest of a code and of a token, and neither of them itself.
"""

from __future__ import annotations

from typing import Final

from arena_protocol.messages import valid_name
from arena_server.core.facts import Invited, Redeemed
from arena_server.core.journal import JournalError
from arena_server.core.login import is_digest
from arena_server.core.parts.part import CommandError
from arena_server.core.peers import Outbox
from arena_server.terms.config import Entrant

#: Invitations of one contest that are open at once.
MOST_OPEN: Final = 1_000
#: One text for every code that does not work: it tells nothing of the others.
NO_CODE: Final = "this link has been used already, has expired, or is not complete"


class Invites:
    """The open invitations of one contest. The methods raise CommandError for what cannot be done."""

    def __init__(self, out: Outbox) -> None:
        self._out = out
        self._count = 0
        #: Those that may still be used, by the digest of their code.
        self._open: dict[str, Invited] = {}
        #: Those that have been used, and the bot of each.
        self._used: dict[str, tuple[Invited, str]] = {}

    def invite(self, owner: str, digest: str | None, until: int, at: int) -> None:
        """Let who has the code of this digest register one bot up to `until`; `at` is now (ms since 1970)."""
        if digest is None:
            raise CommandError("invite needs a code")
        if not valid_name(owner):
            raise CommandError(f"invite: expected the name of an author, got {owner!r:.40}")
        # A code that has expired is forgotten here at the latest.
        self._open = {each.digest: each for each in self._open.values() if each.until >= at}
        if len(self._open) >= MOST_OPEN:
            raise CommandError(f"there are {MOST_OPEN:,} open invitations already")
        self._count += 1
        invited = self._open[digest] = Invited(self._count, owner, digest, until)
        self._out.fact(invited)

    def find(self, digest: str | None, at: int) -> Invited:
        """The invitation of this code, which may be used now."""
        invited = None if digest is None else self._open.get(digest)
        if invited is None or invited.until < at:
            raise CommandError(NO_CODE)
        return invited

    def is_again(self, digest: str | None, name: str, at: int) -> bool:
        """Whether this code has added the bot `name`, and may still be used."""
        invited, bot = self._used.get(digest or "", (None, ""))
        return invited is not None and bot == name and invited.until >= at

    def has_added(self, name: str) -> bool:
        """Whether the bot `name` was added by an invitation."""
        return any(bot == name for _, bot in self._used.values())

    def _use(self, invited: Invited, name: str) -> None:
        del self._open[invited.digest]
        self._used[invited.digest] = invited, name

    def redeem(self, invited: Invited, bot: Entrant) -> None:
        """`bot` has been added by this invitation."""
        self._use(invited, bot.name)
        self._out.fact(Redeemed(invited.number, bot.name))

    # -- an interrupted contest

    def restore(self, fact: Invited | Redeemed) -> None:
        """Take what the journal has; an invitation before its use. Raises JournalError."""
        if isinstance(fact, Redeemed):
            used = [each for each in self._open.values() if each.number == fact.number]
            if not used:
                raise JournalError(f"{fact.name!r:.40} was registered without an invitation")
            self._use(used[0], fact.name)
            return
        if not is_digest(fact.digest):
            raise JournalError(f"the code of invitation {fact.number} is not a SHA-256 digest")
        self._open[fact.digest] = fact
        self._count = max(self._count, fact.number)
