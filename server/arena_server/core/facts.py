"""Facts of a contest, which are of all its games or of none: the last one about each thing counts.

`journal.py` has their form in the database, `game_facts.py` those of a game.
"""

from __future__ import annotations

from typing import NamedTuple


class ResumeKeys(NamedTuple):
    """The SHA-256 digest of the resume key of each slot of a bot; None: the slot has none."""

    name: str
    digests: tuple[str | None, ...]


class FormerKeys(NamedTuple):
    """The digest of the key with which each slot came back last; None: its newer key has arrived.

    Such a key is valid beside the newer one: a crash may come between the journal and WELCOME.
    """

    name: str
    digests: tuple[str | None, ...]


class Conduct(NamedTuple):
    """Faulty games of a bot that do not count any more, and whether the organiser has removed it.

    `faulty_trials`: how many of its validation games in a row had a fault, up to the last.
    """

    name: str
    forgiven: int
    kicked: bool
    faulty_trials: int = 0


class TrialSet(NamedTuple):
    """Whether a bot has a validation game to play before it is paired."""

    name: str
    trial: bool


class Validated(NamedTuple):
    """Validation game `number` of a bot is over: this is its record, encoded; its entries are not needed."""

    name: str
    number: int
    record: bytes


class Repeat(NamedTuple):
    """Game `number` repeats the void game `void`, on deal `deal` of its players."""

    number: int
    void: int
    deal: int


class Excluded(NamedTuple):
    """Nothing of this worker counts: it gets no game any more, and its games are played again."""

    worker: str


class Annulled(NamedTuple):
    """The stored result of game `number`, which `worker` played, does not count: the game is void."""

    number: int
    worker: str


class Ruled(NamedTuple):
    """The jury's ruling `number` (1, 2, ...), by its order `order`: game `game` has this result.

    It had `was_totals` and `was_end` before; the record stays as it was played.
    """

    number: int
    game: int
    totals: tuple[int, ...]
    end: str
    was_totals: tuple[int, ...]
    was_end: str
    order: int


class Penalised(NamedTuple):
    """The penalty points of a bot, in hundredths: they are taken from its score."""

    name: str
    hundredths: int


class Disqualified(NamedTuple):
    """A bot is disqualified; its games are treated as `treatment` says, one of `rulings.TREATMENTS`.

    Empty: it is not any more. `removed`: it took part until then.
    """

    name: str
    treatment: str
    removed: bool


class Drawn(NamedTuple):
    """A format has drawn, for the `draw`-th time (1, 2, ...): each of `groups` plays `games` games.

    Their numbers begin with `first`. Who is alone in a group has a bye; a place of a bracket that stays
    empty is an empty group. In a group of more than two every two play as many.
    """

    draw: int
    first: int
    games: int
    groups: tuple[tuple[str, ...], ...]

    @property
    def pairs(self) -> tuple[tuple[str, ...], ...]:
        """The groups that play."""
        return tuple(group for group in self.groups if len(group) > 1)

    @property
    def byes(self) -> tuple[str, ...]:
        """Those who have no opponent."""
        return tuple(group[0] for group in self.groups if len(group) == 1)


class Walkover(NamedTuple):
    """What those of `absent` had left to play of draw `draw` is lost for them, and not played.

    `stored`: how many records were stored before, of void games too; 0 is not known.
    """

    draw: int
    absent: tuple[str, ...]
    stored: int = 0


class Paired(NamedTuple):
    """The organiser has paired a round by hand: otherwise as `Drawn`, whose numbers `draw` it shares.

    It `replaces` the last round, of which no game had begun, or is the next one. `repeats`: it may have two
    who have met, or a second bye of a bot. `reason` is shown.
    """

    draw: int
    first: int
    games: int
    groups: tuple[tuple[str, ...], ...]
    replaces: bool
    repeats: bool
    reason: str

    @property
    def drawn(self) -> Drawn:
        return Drawn(*self[:4])


class Forbidden(NamedTuple):
    """The `number`-th change (1, 2, ...) of who may meet: `names` do not (`forbidden`), or do again.

    Games of rounds that are drawn later have numbers from `first` on.
    """

    number: int
    first: int
    names: tuple[str, ...]
    forbidden: bool


class Begun(NamedTuple):
    """The contest has begun with this number of bots, its quorum; `about` is always empty."""

    about: str
    bots: int


class RunStateSet(NamedTuple):
    """Whether games may start (`life.RunState`); `about` is always empty."""

    about: str
    state: str


class Archived(NamedTuple):
    """The contest, which is over, is shown and not served any more; `about` is always empty."""

    about: str


class Joined(NamedTuple):
    """A late entrant, whose games have numbers from `first` on; the rest is as in `terms.config.Entrant`."""

    name: str
    first: int
    concurrency: int
    owner: str
    author: str
    language: str
    url: str


class Sent(NamedTuple):
    """Versions of a late entrant are sent by its author, and run by the server.

    `ponders` is as in `terms.config.Entrant`; the next TokenSet is the author's.
    """

    name: str
    ponders: bool


class Left(NamedTuple):
    """Whether a bot is withdrawn from the contest."""

    name: str
    left: bool


class Extended(NamedTuple):
    """The contest is extended for the `number`-th time (1, 2, ...): see `Format.extend`.

    New numbers of games begin with `first`.
    """

    number: int
    first: int
    games: int


class Shortened(NamedTuple):
    """The contest is shortened for the `number`-th time (1, 2, ...): see `Format.shorten`.

    Games that are decided later have numbers from `first` on.
    """

    number: int
    first: int
    games: int


class TotalSet(NamedTuple):
    """How many games the contest has from now on (`Format.total`); `about` is always empty."""

    about: str
    games: int


class Separated(NamedTuple):
    """The contest ends early: after `games` results it is certain that `names` are the first."""

    games: int
    names: tuple[str, ...]


class TokenSet(NamedTuple):
    """The SHA-256 digest of the token of a bot, which replaces that of the configuration."""

    name: str
    digest: str


class Kept(NamedTuple):
    """What a bot has stored."""

    name: str
    data: bytes


class Staged(NamedTuple):
    """What the slot with this key stores for its bot with the result of `game`; 0: nothing."""

    slot: int
    name: str
    game: int
    data: bytes


class Invited(NamedTuple):
    """Who has the code of this SHA-256 may register one bot of `owner`, up to `until` (ms since 1970).

    A later one of the same number replaces the code.
    """

    number: int
    owner: str
    digest: str
    until: int


class Redeemed(NamedTuple):
    """Bot `name` was registered by invitation `number`."""

    number: int
    name: str


class RegistrationSet(NamedTuple):
    """Who has the code of this SHA-256 may register bots up to `until` (ms since 1970).

    Of `owner` up to `quota`; 0: the registration is closed. An empty owner: of each owner that is named.
    `approves`: the organiser approves each.
    """

    owner: str
    digest: str
    until: int
    quota: int
    approves: bool


class Applied(NamedTuple):
    """Whether a bot that has registered `waits` for approval; until then it is no bot of the contest.

    `digest` is the SHA-256 of its token, or of its author's if its versions are `sent`; the rest is as in
    `terms.config.Entrant`.
    """

    name: str
    waits: bool
    owner: str
    author: str
    language: str
    url: str
    digest: str
    sent: bool
    ponders: bool


class Order(NamedTuple):
    """The organiser's order `number` (1, 2, ...) was carried out.

    `who` gave it at `at` (ms since 1970, UTC), and said why in `reason`, which may be empty.
    """

    number: int
    verb: str
    target: str
    who: str
    at: int
    reason: str


ContestFact = (
    ResumeKeys
    | FormerKeys
    | Conduct
    | TrialSet
    | Validated
    | Repeat
    | Excluded
    | Annulled
    | Ruled
    | Penalised
    | Disqualified
    | Drawn
    | Paired
    | Forbidden
    | Walkover
    | Begun
    | RunStateSet
    | Archived
    | Joined
    | Sent
    | Left
    | Extended
    | Shortened
    | TotalSet
    | Separated
    | TokenSet
    | Kept
    | Staged
    | Invited
    | Redeemed
    | RegistrationSet
    | Applied
    | Order
)
