"""The terms of a contest: three values, of its games, of its field, of its house.

Each field is made by `term`, with its default, its key in the configuration file and its range: the reader
of the file (`file.py`), the ranges (`config.py`) and the defaults of the keys (`schema.py`) follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, Final

from arena_protocol.games import FLAGSHIP
from arena_server.terms.formats import OptionValue
from arena_server.terms.timetable import milliseconds

#: Ten days: clocks, with all increments of the longest game, stay printable.
LONGEST_MS: Final = 864_000_000
LONGEST_INCREMENT_MS: Final = 600_000
MOST: Final = 1_000_000
#: Twice as many digits fit into WELCOME.
MOST_STORED: Final = 16 * 1024

_TERM: Final = "term"


@dataclass(frozen=True, slots=True)
class TermSource:
    """Where the value of a field comes from: `key`, as in `contest.absent`; "" where no key has it.

    `read` makes the value of what the key has; a key that is left out is the default. A number is from `low`
    to `high`.
    """

    key: str
    low: int | None = None
    high: int | None = None
    read: Callable[[Any], Any] | None = None


def term(
    default: Any = MISSING,
    *,
    key: str = "",
    low: int | None = None,
    high: int | None = None,
    read: Callable[[Any], Any] | None = None,
    make: Any = MISSING,
) -> Any:
    """A field of terms; `make` is the factory of its default. See `TermSource`."""
    return field(default=default, default_factory=make, metadata={_TERM: TermSource(key, low, high, read)})


def terms_of(kind: type) -> Iterator[tuple[Field[Any], TermSource]]:
    """The fields of a class of terms that `term` has made."""
    for each in fields(kind):
        if _TERM in each.metadata:
            yield each, each.metadata[_TERM]


@dataclass(frozen=True, kw_only=True)
class GameTerms:
    """The game, its clocks, and what its players owe the referee. Times are in milliseconds.

    `move_limit_ms` is the most that a ply may take (0: what is left); `first_move_limit_ms` replaces it
    for the first ply of a seat (0: it does not). `byoyomi_ms` is what each ply may take once the clock
    is down. `lag_quota_ms` is the credit for lag of a seat in a game (0: lag is not measured).
    `margin_ms` counts once, at the flag. A game whose clock runs while the referee stands still for
    longer than `stall_ms` is void and played again.
    `ready_ms` is the limit for READY, `login_ms` for the first line, `handover_ms` for a connection
    that does not read its TURN. A seat may send `out_of_turn_limit` moves out of turn a game, and fewer
    than `flood_limit` lines that were not asked for. In an `anonymous` contest no bot learns who sits
    opposite before the contest is over. While `debug_bot` thinks no clock of its game runs, and READY has no
    limit there.
    """

    game: str = term(FLAGSHIP, key="contest.game")
    options: Mapping[str, object] = term(make=dict, key="game.own_options")
    scoring: str = term("points", key="contest.scoring")
    clock_ms: int = term(20_000, key="game.clock", low=1, high=LONGEST_MS)
    increment_ms: int = term(0, key="game.increment", low=0, high=LONGEST_INCREMENT_MS)
    margin_ms: int = term(0, key="game.margin", low=0, high=LONGEST_MS)
    move_limit_ms: int = term(0, key="game.move_limit", low=0, high=LONGEST_MS)
    first_move_limit_ms: int = term(0, key="game.first_move_limit", low=0, high=LONGEST_MS)
    byoyomi_ms: int = term(0, key="game.byoyomi", low=0, high=LONGEST_MS)
    lag_quota_ms: int = term(0, key="game.lag_quota", low=0, high=LONGEST_MS)
    stall_ms: int = term(3_000, key="contest.stall_limit", low=1, high=LONGEST_MS)
    ready_ms: int = term(30_000, key="contest.ready", low=1, high=LONGEST_MS)
    login_ms: int = term(10_000, key="contest.login", low=1, high=LONGEST_MS)
    handover_ms: int = term(10_000, key="contest.handover", low=1, high=LONGEST_MS)
    announce_zombies: bool = term(False, key="contest.announce_zombies")
    anonymous: bool = term(False, key="contest.anonymous")
    out_of_turn_limit: int = term(10, key="contest.out_of_turn_limit", low=0, high=MOST)
    flood_limit: int = term(100, key="contest.flood_limit", low=1, high=MOST)
    debug_bot: str | None = term(None)
    software: str = term("insertion-arena/0.1")


@dataclass(frozen=True, kw_only=True)
class FieldTerms:
    """The format, its numbers, and what is said of the bots.

    `owners` has the author of each bot that names one, `details` what it says of itself for people: author,
    language and URL of `Entrant`. With `deals` = "fresh" each game has a deal of its own; with "paired" the
    same deal is played from every seat. With a rule `stop` it may end before all games are played
    (`early_stop.py`); "" is none. The best `teams` bots of each owner count in a table of teams; None: there
    is none. `origin` says from which contests the bots come (`qualifying.origin_of`).
    """

    format: str = term("round-robin", key="contest.format")
    format_options: Mapping[str, OptionValue] = term(make=dict, key="contest.format_options")
    owners: Mapping[str, str] = term(make=dict)
    details: Mapping[str, tuple[str, str, str]] = term(make=dict)
    games_per_pair: int = term(8, key="contest.games_per_pair", low=1, high=MOST)
    deals: str = term("fresh", key="contest.deals")
    tie_breaks: tuple[str, ...] = term((), key="contest.tie_breaks", read=tuple)
    stop: str = term("", key="contest.stop")
    teams: int | None = term(None, key="contest.teams", low=1, high=MOST)
    origin: Mapping[str, Any] = term(make=dict)


@dataclass(frozen=True, kw_only=True)
class HouseTerms:
    """How the contest treats its bots and its spectators. Times are in milliseconds.

    The contest does not wait for a bot that is absent for longer than `absent_ms`; None waits for ever.
    After a game a bot is not paired for `rest_ms`; after `probation` faulty games it is paired no more
    (0: never), until `probation_for_ms` has passed and it has then played a validation game without a fault
    (None: until the organiser lifts it). With `validation` every bot plays one before its first game.
    A bot may store `storage_bytes` in the contest.
    Spectators are admitted if `guests`, and see a line `spectator_delay_ms` after the players; from
    `freeze_at_ms` (since 1970, UTC) until the end they see nothing new. `about` has what people read of the
    contest (`about.py`). Games that are not `rated` are practice: no ratings are made of them. Visitors of
    the page may guess the moves of running games, unless `guesses` forbids it.
    """

    absent_ms: int | None = term(None, key="contest.absent", low=0, high=LONGEST_MS)
    rest_ms: int = term(0, key="contest.rest", low=0, high=LONGEST_MS)
    probation: int = term(3, key="contest.probation", low=0, high=MOST)
    probation_for_ms: int | None = term(None, key="contest.probation_for", low=1, high=LONGEST_MS)
    validation: bool = term(False, key="contest.validation")
    storage_bytes: int = term(0, key="contest.storage", low=0, high=MOST_STORED)
    spectator_delay_ms: int = term(5_000, key="contest.spectator_delay", low=0, high=LONGEST_MS)
    guests: bool = term(True, key="contest.guests")
    about: Mapping[str, Any] = term(make=dict, key="contest.about")
    freeze_at_ms: int | None = term(None, key="contest.freeze_at", read=milliseconds)
    rated: bool = term(True, key="contest.rated")
    guesses: bool = term(True, key="contest.guesses")
