"""What an organiser decides before a contest begins; the one home of its defaults and bounds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Final

from arena_protocol.errors import UserError, needs_extra
from arena_protocol.games import FLAGSHIP, make_game
from arena_protocol.games.base import Game, GameError
from arena_server.stats.early_stop import Separation, first_of
from arena_server.stats.tiebreaks import check as check_tie_breaks
from arena_server.terms.formats import FORMATS


class ContestConfigError(UserError, ValueError):
    """A config or a list of entrants that makes no contest; the text is one clear line."""

    exit_code = 2


#: The format of one game on a worker or in this process; no file can name it.
SINGLE: Final = "single"
_WEB_ADDRESS: Final = re.compile(r"https?://[!-~]+", re.IGNORECASE)


def check_url(url: str) -> str:
    """The address of a page about a bot, or "". Raises ValueError: a page makes a link of it."""
    if url and not _WEB_ADDRESS.fullmatch(url):
        raise ValueError("expected a url such as https://HOST/PATH, or none")
    return url


#: The digest of no token: who has it logs in by none.
NO_TOKEN: Final = "0" * 64


@dataclass(frozen=True, slots=True)
class Entrant:
    """A name that may log in. Without `token_sha256` (hexadecimal) the name alone suffices.

    It may play `concurrency` games at once, each on a connection of its own. One that does not play may
    only watch, and on any number of connections at once. The rest is what its author says of it, for people;
    bots of one `owner` belong together. With `author_sha256` that token is the author's: it opens the log of
    the bot, and only a program that the server has started itself (event Replace) logs in to play. One that
    does not ponder (`ponders`) is frozen while it is not on move, where the shell can do that.
    """

    name: str
    token_sha256: str | None = None
    plays: bool = True
    concurrency: int = 1
    owner: str = ""
    author: str = ""
    language: str = ""
    url: str = ""
    author_sha256: str | None = None
    ponders: bool = field(default=True, kw_only=True)

    @property
    def key_sha256(self) -> str | None:
        """The digest of the token that its author has."""
        return self.author_sha256 or self.token_sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestConfig:
    """One contest. All games have the same options and the same clocks; times are in milliseconds.

    The only game of a contest on a worker is `dealt` by another: its seed and its nonce are given, and the
    secret that they follow from is not known here.

    `owners` has the author of each bot that names one, `details` what it says of itself for people: author,
    language and URL of `Entrant`.
    `seed` derives every deal and nonce (`deal.py`): a secret of 256 bits that the server draws, or a
    number that the organiser gives where all bots are local. With `deals` = "fresh" each game has a
    deal of its own; with "paired" the same deal is played from every seat.
    With a rule `stop` it may end before all games are played (`early_stop.py`); "" is none.
    `move_limit_ms` is the most that a ply may take (0: what is left); `first_move_limit_ms` replaces it
    for the first ply of a seat (0: it does not). `byoyomi_ms` is what each ply may take once the clock
    is down. `lag_quota_ms` is the credit for lag of a seat in a game (0: lag is not measured).
    `margin_ms` counts once, at the flag. A game whose clock runs while the referee stands still for
    longer than `stall_ms` is void and played again.
    `ready_ms` is the limit for READY, `login_ms` for the first line, `handover_ms` for a connection
    that does not read its TURN. The contest does not wait for a bot that is absent for longer than
    `absent_ms`; None waits for ever. After a game a bot is not paired for `rest_ms`; after `probation`
    faulty games it is paired no more (0: never), until `probation_for_ms` has passed and it has then played a
    validation game without a fault (None: until the organiser lifts it). With `validation` every bot plays
    one before its first game.
    A seat may send `out_of_turn_limit` moves out of turn a game, and fewer than `flood_limit` lines
    that were not asked for. Spectators are admitted if `guests`, and see a line `spectator_delay_ms`
    after the players; from `freeze_at_ms` (since 1970, UTC) until the end they see nothing new. While
    `debug_bot` thinks no clock of its game runs, and READY has no limit there.
    """

    name: str
    seed: int
    game: str = FLAGSHIP
    options: Mapping[str, object] = field(default_factory=dict)
    format: str = "round-robin"
    format_options: Mapping[str, int | str] = field(default_factory=dict)
    owners: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    games_per_pair: int = 8
    deals: str = "fresh"
    scoring: str = "points"
    tie_breaks: tuple[str, ...] = ()
    stop: str = ""
    clock_ms: int = 20_000
    increment_ms: int = 0
    margin_ms: int = 0
    move_limit_ms: int = 0
    first_move_limit_ms: int = 0
    byoyomi_ms: int = 0
    lag_quota_ms: int = 0
    stall_ms: int = 3_000
    ready_ms: int = 30_000
    login_ms: int = 10_000
    handover_ms: int = 10_000
    absent_ms: int | None = None
    rest_ms: int = 0
    probation: int = 3
    probation_for_ms: int | None = None
    validation: bool = False
    announce_zombies: bool = False
    out_of_turn_limit: int = 10
    flood_limit: int = 100
    spectator_delay_ms: int = 5_000
    guests: bool = True
    debug_bot: str | None = None
    software: str = "insertion-arena/0.1"
    freeze_at_ms: int | None = None
    dealt: tuple[int, str] | None = None


#: What counts in a game wherever it is played, by a match and by a worker too; all else is the contest's: who
#: plays whom, when and how often, and who may watch.
GAME_TERMS: Final = (
    *("game", "options", "scoring", "clock_ms", "increment_ms", "margin_ms", "move_limit_ms"),
    *("first_move_limit_ms", "byoyomi_ms", "lag_quota_ms", "stall_ms", "ready_ms", "login_ms", "handover_ms"),
    *("announce_zombies", "out_of_turn_limit", "flood_limit", "software"),
)


def elsewhere(config: ContestConfig, **own: Any) -> ContestConfig:
    """A contest of its `own` settings, the games of which have the terms of those of `config`."""
    terms = {name: getattr(config, name) for name in GAME_TERMS}
    return ContestConfig(**(terms | own))


DEALS = ("fresh", "paired")

#: Ten days: clocks, with all increments of the longest game, stay printable.
LONGEST_MS = 864_000_000
LONGEST_INCREMENT_MS = 600_000
MOST = 1_000_000
#: The most games of one bot at once.
MOST_SLOTS = 64
#: Spectators of one address: the default of `server.spectators_per_address`.
GUESTS_PER_ADDRESS: Final = 500

#: The range of every number of a config; the configuration file refers to it.
BOUNDS: Final[Mapping[str, tuple[int, int]]] = {
    "games_per_pair": (1, MOST),
    "clock_ms": (1, LONGEST_MS),
    "increment_ms": (0, LONGEST_INCREMENT_MS),
    "margin_ms": (0, LONGEST_MS),
    "move_limit_ms": (0, LONGEST_MS),
    "first_move_limit_ms": (0, LONGEST_MS),
    "byoyomi_ms": (0, LONGEST_MS),
    "lag_quota_ms": (0, LONGEST_MS),
    "stall_ms": (1, LONGEST_MS),
    "ready_ms": (1, LONGEST_MS),
    "login_ms": (1, LONGEST_MS),
    "handover_ms": (1, LONGEST_MS),
    "absent_ms": (0, LONGEST_MS),
    "spectator_delay_ms": (0, LONGEST_MS),
    "rest_ms": (0, LONGEST_MS),
    "probation": (0, MOST),
    "probation_for_ms": (1, LONGEST_MS),
    "out_of_turn_limit": (0, MOST),
    "flood_limit": (1, MOST),
}


def check_numbers(config: ContestConfig) -> None:
    """Raise ContestConfigError for a number out of its range, or a format that does not exist."""
    if config.format not in (*FORMATS, SINGLE):
        expected = f"contest.format: expected one of {', '.join(FORMATS)}"
        raise ContestConfigError(f"{expected}, got {config.format!r:.60}")
    try:
        check_tie_breaks(config.tie_breaks)
    except ValueError as error:
        raise ContestConfigError(f"tie_breaks: {error}") from error
    if config.deals not in DEALS:
        raise ContestConfigError(f"deals is one of {', '.join(DEALS)}, not {config.deals!r}")
    for name, (low, high) in BOUNDS.items():
        value = getattr(config, name)
        if value is not None and not low <= value <= high:
            raise ContestConfigError(f"{name} must be from {low} to {high}, not {value}")


def game_of(config: ContestConfig) -> Game[Any]:
    """Return the game that is played. Raises ContestConfigError if there is none such."""
    try:
        return make_game(config.game, config.options)
    except GameError as error:
        raise ContestConfigError(str(error)) from error


def check_extra(config: ContestConfig) -> None:
    """Raise ContestConfigError if the format needs a library that is not installed."""
    extra = None if config.format == SINGLE else FORMATS[config.format].EXTRA
    if extra is not None and find_spec(extra[1]) is None:
        raise ContestConfigError(needs_extra(f'contest.format = "{config.format}"', extra[0]))


def separation_of(
    config: ContestConfig, names: Sequence[str], total: int | None, seats: int
) -> Separation | None:
    """What watches for the early end of a contest that begins with as many games; None without a rule."""
    first = first_of(config.stop)
    if not first:
        return None
    assert total is not None, "the games of its format are planned"
    deal_games = seats if config.deals == "paired" else 1
    return Separation(names, first, total, by_wins=config.scoring == "wins", deal_games=deal_games)
