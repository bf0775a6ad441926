"""What a format is: which games a contest has, and which of them starts next.

    class                 one format, registered in `formats/__init__.py`
    next, started         a game is handed out; its fact `Offered` keeps who plays it on which deal
    result                a game that was handed out has a durable result
    void, again           a game is broken off; it is played again under another number
    draw_due, drawn       a round is drawn outside of the core; its fact `Drawn` keeps who meets whom
    walkover_due, walk_over   a round that cannot go on: the absent lose what they have left of it
    planned, total        what is known of the games in advance, for pages and terminals
    scores, rounds        of a format that draws: what its table ranks by, and who has met whom (`history.py`)

Games that are not known from the beginning, and those that are played again, get their numbers from
`next_number` in the order of the facts `Drawn`, `Repeat` and `Offered`. A contest that goes on gives a new
format its past in this order: `drawn`, `void` and `again`, and `started`, all by number; `walk_over`;
`recalled`; `result` in the order of storing. So the state of a format must not depend on results while games
are noted.

Pure: no clock, no I/O; chance comes from the contest's secret (`Terms.lot`). Who has played whom is read
from the facts, never from a format.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from arena_server.core.facts import Drawn, Forbidden, Paired, Walkover
from arena_server.core.formats.length import Length
from arena_server.core.formats.rounds_json import Round
from arena_server.stats.results import PastGame
from arena_server.stats.tiebreaks import Unplayed
from arena_server.terms.formats import AnyOption, FormatError, Terms


class PairingError(ValueError):
    """A game that a format cannot have handed out; the text is one clear line."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Game `number` (1, 2, ...): `names` in the order of the seats, on deal `deal` (1, 2, ...) of theirs.

    `dealt`: the seed and the nonce, where another contest has dealt it.
    """

    number: int
    names: tuple[str, ...]
    deal: int
    dealt: tuple[int, str] | None = None


class Draw(ABC):
    """What is to be drawn, as a value: `run` may take seconds, in another thread or process.

    The same draw gives the same result in every process.
    """

    @property
    def slow(self) -> bool:
        """Whether it takes more than a few milliseconds."""
        return False

    @abstractmethod
    def run(self) -> Drawn:
        """Who meets whom."""


class LateEntry(ABC):
    """Who takes part in a format beyond those of its terms."""

    NAME: ClassVar[str]

    def join(self, name: str, owner: str = "") -> None:
        """A late entrant, who is not present yet. Raises FormatError, with nothing changed, if none can."""
        raise FormatError(f'contest.format: "{self.NAME}" takes no late entrants')

    def check_late(self) -> None:
        """Raises FormatError if the format takes no late entrants at all."""
        if type(self).join is LateEntry.join:
            self.join("")

    @property
    def length(self) -> Length:
        """What `extend` and `shorten` change. Raises FormatError if nothing can."""
        raise FormatError(f'contest.format: "{self.NAME}" cannot be extended or shortened')

    def resize(self, to: int, first: int | None = None) -> None:
        """Its length is `to` from now on, which `length` allows.

        New games have numbers from `first` on, or from `next_number`.
        """
        raise NotImplementedError

    def extend(self, by: int) -> None:
        """It was extended: see `length`, whose bound may have been another then. Raises FormatError."""
        length = self.length
        length.check_step(by)
        self.resize(length.now + by)

    def shorten(self, by: int) -> None:
        """There are fewer games, or rounds: see `length`. Raises FormatError."""
        self.resize(self.length.shorter(by))

    @classmethod
    def games_multiple(cls, terms: Terms) -> int:
        """Where all groups play the same number of games, it is a multiple of this."""
        return terms.seats

    def come_back(self, name: str) -> None:
        """`name` has left, and takes part again in what is left."""
        return

    def leave(self, name: str) -> None:
        """`name`, who is not present, is withdrawn: its games that have not started are not played."""
        return


class ChangedResults:
    """Results that the jury changes."""

    def may_change(self, number: int) -> bool:
        """Whether the jury can still change the result of a game: nothing that was drawn follows from it."""
        return True

    def change(self, game: PastGame, new: PastGame) -> None:
        """A game whose `result` was taken has another one."""
        return

    def penalise(self, name: str, points: Fraction) -> None:
        """`name` has these penalty points in all. Raises FormatError where points decide nothing."""
        return


class Format(LateEntry, ChangedResults):
    """The games of one contest. `NAME` is the word of the configuration, `MEANING` explains it there."""

    NAME: ClassVar[str]
    MEANING: ClassVar[str]
    OPTIONS: ClassVar[Mapping[str, AnyOption]] = {}
    #: Whether it draws: what readers need of it they get by giving its facts to a new one.
    DRAWS: ClassVar[bool] = False
    #: What people call a part of it in which each bot plays its games before the next begins.
    ROUND: ClassVar[str] = "round"
    #: Whether a contest may end before all of its games are played (`early_stop.py`).
    MAY_STOP: ClassVar[bool] = False
    #: Whether its bots may come in an order drawn by lot, as those of an anonymous contest do.
    BY_LOT: ClassVar[bool] = True
    #: Whether it matters of which owner a bot is.
    READS_OWNERS: ClassVar[bool] = True
    #: The extra of the project that a contest of it needs, and the module that this installs.
    EXTRA: ClassVar[tuple[str, str] | None] = None

    @abstractmethod
    def __init__(self, terms: Terms) -> None:
        """Raises FormatError as `check` does."""

    @classmethod
    def check(cls, terms: Terms) -> None:
        """Raise FormatError for terms of which no contest can be made; it takes no time."""
        seats, bots = terms.seats, len(terms.names)
        if bots < seats:
            raise FormatError(f"bot: expected at least {seats}, for {seats} seats, got {bots}")
        for key, value in terms.options.items():
            if key not in cls.OPTIONS:
                known = ", ".join(cls.OPTIONS) or "none"
                raise FormatError(f"contest.{key}: not an option of {cls.NAME}; its options: {known}")
            cls.OPTIONS[key].check(key, value)

    @classmethod
    def option(cls, terms: Terms, key: str) -> int:
        """The value of one of `OPTIONS` that is a number."""
        return int(terms.options.get(key, cls.OPTIONS[key].default))  # type: ignore[arg-type] # checked

    @classmethod
    def choice(cls, terms: Terms, key: str) -> str:
        """The value of one of `OPTIONS` that is a word."""
        return str(terms.options.get(key, cls.OPTIONS[key].default))

    # -- what is known in advance

    @property
    @abstractmethod
    def total(self) -> int | None:
        """How many games there are, without those that are played again; None: it is open.

        Of a format that draws it is the most that there can be from now on.
        """

    @property
    @abstractmethod
    def next_number(self) -> int:
        """The number of the next game that is not planned yet: of one that is drawn or played again."""

    @abstractmethod
    def planned(self, first: int, end: int) -> Iterator[Pairing]:
        """Games `first` to `end - 1` in the order of their numbers, begun or not, if they are known."""

    # -- bots

    @abstractmethod
    def enter(self, name: str, *, late: bool = False) -> None:
        """`name` is present; one that was away for long comes `late`, and the others do not wait for it."""

    @abstractmethod
    def withdraw(self, name: str) -> None:
        """`name` is not present: no game of it starts, and no other bot waits for it."""

    @abstractmethod
    def free(self, name: str, games: int) -> None:
        """`name`, which is present, can start this many games from now on."""

    # -- games

    @abstractmethod
    def next(self) -> Pairing | None:
        """The next game that can start, or None. Each of its players can start one game less from now on."""

    def result(self, game: PastGame) -> None:
        """A game that was handed out has its durable result; it is not void."""
        return

    def void(self, number: int, taken_back: PastGame | None = None) -> bool:
        """Game `number`, which was handed out, is broken off, or its result does not count any more.

        Returns False, with nothing changed, for a result that has to stand.
        """
        return True

    def may_repeat(self, number: int) -> bool:
        """Whether a void game can still be played again."""
        return True

    @abstractmethod
    def again(self, pairing: Pairing, void: int) -> None:
        """`pairing`, of the same players and with the number `next_number`, replaces game `void`."""

    # -- rounds

    def draw_due(self, absent: Collection[str]) -> Draw | None:
        """What is to be drawn now, without waiting for those of `absent`. None: nothing.

        It is due until `drawn` is called with what it gave, or a later draw of the same round.
        """
        return None

    def drawn(self, drawn: Drawn) -> None:
        """Take what was drawn. Raises PairingError for what cannot have been drawn now."""
        raise PairingError(f"draw {drawn.draw}: {self.NAME} draws nothing")

    def walkover_due(self, absent: Collection[str]) -> Walkover | None:
        """Who loses what is left of the present round, if nothing of it can be played without `absent`."""
        return None

    def walk_over(self, walkover: Walkover) -> None:
        """Those who are absent lose. Raises PairingError for a round that was not drawn."""
        raise PairingError(f"draw {walkover.draw}: {self.NAME} draws nothing")

    def scores(self) -> Mapping[str, Fraction] | None:
        """What the table ranks by, with byes and walkovers; None: by the games alone."""
        return None

    # -- an interrupted contest

    @abstractmethod
    def started(self, pairing: Pairing) -> None:
        """Note a game that was handed out before the server was started again, in the order of the numbers.

        Raises PairingError for one that cannot have been; call `recalled` after the last, then `result`. A
        format that draws takes deal 0 for one that is not known.
        """

    def recalled(self) -> None:
        """All games that were handed out before have been noted."""
        return

    # -- what is left

    @abstractmethod
    def has_games(self, name: str) -> bool:
        """Whether `name` has games left that have not started."""

    @abstractmethod
    def exhausted(self, absent: Collection[str]) -> bool:
        """Whether no game is left that could be played if those of `absent` never come, nor one drawn."""

    @abstractmethod
    def unplayed(self) -> Iterator[tuple[tuple[str, ...], int]]:
        """The names of each group that has games left that have not started, with their number."""


class FreeBots:
    """The bots that are present, and how many games each can start, for a `Format`."""

    def __init__(self) -> None:
        self._free: dict[str, int] = {}

    def enter(self, name: str, *, late: bool = False) -> None:
        self._free.setdefault(name, 0)

    def withdraw(self, name: str) -> None:
        self._free.pop(name, None)

    def free(self, name: str, games: int) -> None:
        self._free[name] = games

    def occupy(self, names: Collection[str]) -> bool:
        """Have each of `names` start a game. Returns False, with nothing changed, if one of them cannot."""
        if not all(self._free.get(name) for name in names):
            return False
        for name in names:
            self._free[name] -= 1
        return True


class DrawnFormat(Format):
    """A format that draws: its readers give a new one what is known of its facts and results (`History`)."""

    DRAWS = True
    #: What `scores` counts, for the reader of a table.
    RANKED_BY: ClassVar[str]
    terms: Terms

    @classmethod
    def doubt(cls, terms: Terms) -> str:
        """Why a contest of these terms may end before all of its games are played; empty: it need not."""
        return ""

    @abstractmethod
    def scores(self) -> Mapping[str, Fraction]: ...

    @property
    def ranked_by(self) -> str:
        """What `scores` counts in this contest."""
        return self.RANKED_BY

    def not_played(self) -> Mapping[str, Sequence[Unplayed]]:
        """The games that rounds did without, for tie-breaks that count them."""
        return {}

    def pair(self, paired: Paired) -> None:
        """A round is paired by hand. Raises PairingError for what cannot have been."""
        raise PairingError(f"draw {paired.draw}: no round of {self.NAME} is paired by hand")

    def forbid(self, fact: Forbidden) -> None:
        """Two do not meet in later rounds, or do again. Raises PairingError where no pair is forbidden."""
        raise PairingError(f"change {fact.number} of who may meet: {self.NAME} forbids no pair")

    def flaw(self, fact: Drawn | Paired) -> str:
        """What is wrong with a round that is about to be taken; empty: nothing that is known."""
        return ""

    @abstractmethod
    def rounds(self) -> Sequence[Round]:
        """What has been drawn, with what is known of the rounds to come."""
