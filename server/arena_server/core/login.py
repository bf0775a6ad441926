"""Authentication: names, tokens, resume keys.

Denials look alike: they do not show whether the name, the token or the resume key was wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hmac import compare_digest
from typing import Final

from arena_protocol.errors import ErrorCode, ProtocolError
from arena_protocol.games import GAMES
from arena_protocol.kinds import valid_name
from arena_protocol.messages import LOG_READER, SPECTATOR, Hello, Welcome
from arena_server.core import deal
from arena_server.core.cut import is_alias
from arena_server.core.peers import Bot, Peer, Slot, WorkerSlot
from arena_server.core.ratelimit import LoginRateLimiter
from arena_server.terms.config import MOST_SLOTS, ContestConfigError, Entrant

#: Compared with when there is no such name, so that the denial takes as long.
_NO_DIGEST = deal.token_digest("")

#: One text for every denial.
DENIED = "no such name, or a wrong token or resume key"

#: How many slots all bots of workers have together, and how many each has at least.
MOST_HOSTED = 512
LEAST_HOSTED_SLOTS = 4

#: The number of a client that is not an entrant: a spectator, or a reader of a log.
GUEST = -1

_HEX_DIGEST = 64


@dataclass(slots=True)
class StoredBytes:
    """What each bot has stored, at most `quota` bytes; 0: nothing can be stored."""

    quota: int
    by_name: dict[str, bytes] = field(default_factory=dict)

    def of(self, name: str) -> bytes:
        return self.by_name.get(name, b"")

    def problem(self, names: Sequence[str], stored: Mapping[str, bytes]) -> str | None:
        """Why a worker cannot have brought this of a game of these bots; None: it can."""
        for name, data in stored.items():
            if name not in names:
                return f"it stores bytes of {name!r:.40}, which has not played"
            if len(data) > self.quota:
                return f"it stores {len(data)} bytes of {name}, and {self.quota} are the most"
        return None


class Authenticator:
    """The entrants by name, and their keys.

    A bot may store `quota` bytes. In an `anonymous` contest no bot has a name by which players are shown.
    `secret` is the shell's source of secrets; `guests` admits spectators that are not entrants. In a `hosted`
    contest workers start the bots, and none logs in here. Raises ContestConfigError for entrants that make
    no contest.
    """

    def __init__(
        self,
        game: str,
        entrants: Iterable[Entrant],
        secret: deal.Secret,
        guests: bool,
        *,
        hosted: bool = False,
        anonymous: bool = False,
        quota: int = 0,
    ) -> None:
        #: What bots have stored, as WELCOME has it.
        self.stored: Final = StoredBytes(quota)
        self.hosted = hosted
        self._anonymous = anonymous
        entrants = list(entrants)
        #: How many games of a bot may be with workers at once; the fewer bots, the more.
        self._hosted_slots = min(MOST_SLOTS, max(LEAST_HOSTED_SLOTS, MOST_HOSTED // max(1, len(entrants))))
        self._game = game
        #: As WELCOME has it.
        self._epoch = None if GAMES[game].EPOCH == 1 else GAMES[game].EPOCH
        self._guests = guests
        self._secret = secret
        self._limiter = LoginRateLimiter()
        self.bots: dict[str, Bot] = {}
        #: Every slot of every bot, by its number.
        self.slots: list[Slot] = []
        #: All bots by number.
        self.roster: list[Bot] = []
        for entrant in entrants:
            self.enter(entrant)

    def check(self, entrant: Entrant) -> None:
        """Raise ContestConfigError for an entrant that is not possible."""
        digest = entrant.token_sha256
        if not valid_name(entrant.name):
            raise ContestConfigError(f"a bot cannot be called {entrant.name!r}: see the names in PROTOCOL.md")
        if entrant.name == deal.REFEREE:
            raise ContestConfigError(
                f"a bot cannot be called {deal.REFEREE}: the server itself plays by this name"
            )
        if self._anonymous and is_alias(entrant.name):
            raise ContestConfigError(
                f"a bot of an anonymous contest cannot be called {entrant.name}: its players are shown "
                "by such names"
            )
        if entrant.name in self.bots:
            raise ContestConfigError(f"two bots are called {entrant.name}")
        if digest is not None and not is_digest(digest):
            raise ContestConfigError(f"token_sha256 of {entrant.name} must be 64 hexadecimal digits")
        if not 1 <= entrant.concurrency <= MOST_SLOTS:
            raise ContestConfigError(
                f"concurrency of {entrant.name} must be from 1 to {MOST_SLOTS}, not {entrant.concurrency}"
            )

    def enter(self, entrant: Entrant) -> Bot:
        """One more name that may log in. Raises as `check` does."""
        self.check(entrant)
        digest = entrant.token_sha256
        lower = None if digest is None else digest.lower()
        bot = self.bots[entrant.name] = Bot(
            len(self.roster),
            entrant.name,
            lower,
            entrant.plays,
            # What is to be frozen runs where it plays.
            entrant=replace(entrant, ponders=entrant.ponders or self.hosted),
            author_sha256=None if entrant.author_sha256 is None else entrant.author_sha256.lower(),
        )
        self.roster.append(bot)
        # A bot that workers start has a program for each game: its own bound is for one that plays several.
        # Where it stores bytes the bound holds: else a game would begin without those of the game before.
        if self.hosted and bot.plays:
            count = entrant.concurrency if self.stored.quota else self._hosted_slots
            bot.open_slots(len(self.slots), count, WorkerSlot)
        else:
            bot.open_slots(len(self.slots), entrant.concurrency, Slot)
        self.slots += bot.slots
        return bot

    def slot(self, name: str, number: int) -> Slot | None:
        """The slot of this number of a bot."""
        slots = self.bots[name].slots if name in self.bots else []
        return slots[number - 1] if 1 <= number <= len(slots) else None

    def _find(self, name: str) -> Bot | None:
        """The bot of this name that may log in."""
        bot = self.bots.get(name)
        return None if bot is None or bot.withdrawn else bot

    def admit(self, hello: Hello, peer: str, now: int) -> Slot:
        """The slot that `hello` may log in as; its old connection, if any, is to be closed.

        `peer` is the client's `address:port`. With `role=spectator` any name may watch, if the contest
        admits spectators; a name that is not registered is denied like a wrong token.

        With `role=log` only a token counts, and the bot's own connection stays.

        Raises ProtocolError: game, rate, token, slot, or name-taken.
        """
        if hello.games and self._game not in hello.games:
            raise ProtocolError(ErrorCode.GAME, f"this contest plays {self._game}")
        if hello.role == SPECTATOR:
            # The name is not looked up: registered names cannot be found out this way.
            if not self._guests:
                raise ProtocolError(ErrorCode.TOKEN, DENIED)
            return _guest(hello.name)
        bot = self._find(hello.name)
        address = peer.rpartition(":")[0]
        resumed = _holder(bot, hello.resume) if hello.resume else None
        reads_log = hello.role == LOG_READER
        if bot is None or not _has_key(bot, hello, resumed):
            # Only failures are limited: a guesser on the same address must not lock a bot out.
            self._limiter.deny(address, hello.name, now)
            raise ProtocolError(ErrorCode.TOKEN, DENIED)
        self._limiter.right(address, hello.name)
        if reads_log:
            return _guest(hello.name)
        if self.hosted and bot.plays:
            raise ProtocolError(ErrorCode.TOKEN, "the bots of this contest are started by its workers")
        if resumed is not None:
            return resumed
        number, count = hello.slot, len(bot.slots)
        if number is None:
            number = _slot_of(hello.token, bot.token_sha256) or 1
        if not 1 <= number <= count:
            known = "slot 1 only" if count == 1 else f"slots 1 to {count}"
            text = f"{hello.name} has {known}, got slot {number}"
            raise ProtocolError(ErrorCode.SLOT, text)
        slot = bot.slots[number - 1]
        # A token does not take a seat over, or two programs with one token would throw each other
        # out for ever; a resume key does.
        if slot.peer is not None:
            which = hello.name if count == 1 else f"slot {number} of {hello.name}"
            raise ProtocolError(ErrorCode.NAME_TAKEN, f"{which} is connected already")
        return slot

    def recognises(self, hello: Hello) -> bool:
        """Whether `hello` may watch this contest, or has the key of a bot that may log in to it."""
        if hello.games and self._game not in hello.games:
            return False
        if hello.role == SPECTATOR:
            return self._guests
        bot = self._find(hello.name)
        resumed = _holder(bot, hello.resume) if hello.resume else None
        return _has_key(bot, hello, resumed) and bot is not None

    def welcome(self, slot: Slot, peer: Peer, hello: Hello) -> Welcome:
        """Bind the slot to its new connection.

        Valid keys are that in WELCOME and, until `Keys.former` is None, the one that `hello` has used. A
        spectator is bound to no connection: it has nothing to resume.
        """
        key = self._secret(deal.RESUME_BYTES)
        if slot.bot.plays:
            former = None if hello.resume is None else deal.token_digest(hello.resume)
            slot.connect(peer, deal.token_digest(key), former, hello.agent)
        session = self._secret(deal.SESSION_BYTES)
        if not (hello.storage and self.stored.quota and slot.bot.plays):
            return Welcome(slot.name, session, key, self._epoch)
        return Welcome(slot.name, session, key, self._epoch, self.stored.quota, self.stored.of(slot.name))


def is_digest(text: str) -> bool:
    return len(text) == _HEX_DIGEST and all(digit in "0123456789abcdef" for digit in text.lower())


def _guest(name: str) -> Slot:
    """A client that takes no seat."""
    return Slot(GUEST, Bot(GUEST, name, None, plays=False))


def _holder(bot: Bot | None, resume: str) -> Slot | None:
    """The slot of `bot` that this key resumes; compares with every key, whichever it is."""
    given, found = deal.token_digest(resume), None
    for slot in bot.slots if bot is not None else ():
        # All keys are compared, whichever fits: the time tells nothing of how many there are.
        for digest in (slot.keys.resume, slot.keys.former):
            if compare_digest(given, digest or _NO_DIGEST) and digest is not None:
                found = slot
    return found


def _has_key(bot: Bot | None, hello: Hello, resumed: Slot | None) -> bool:
    """Whether `hello` has the right key; `resumed` is the slot that its resume key belongs to."""
    token = _NO_DIGEST if bot is None else bot.token_sha256
    right = resumed is not None if hello.resume else _slot_of(hello.token, token) is not None
    if hello.role == LOG_READER:
        # A resume key, or a name that needs no token, must not open a private log.
        expected = None if bot is None else bot.log_sha256
        fits = _slot_of(hello.token, expected or _NO_DIGEST) is not None
        return fits and expected is not None and not hello.resume
    return right


def _slot_of(token: str | None, expected: str | None) -> int | None:
    """The slot that a token is for, None for one that has not the digest `expected`."""
    if expected is None:
        return 1  # a bot without a token in the file may be anyone: a contest among friends
    given = token or ""
    bare, slot = deal.split_token(given)
    # Both are compared, whichever fits: the time does not tell which it was.
    whole = compare_digest(deal.token_digest(given), expected)
    part = compare_digest(deal.token_digest(bare), expected)
    return 1 if whole else slot if part else None
