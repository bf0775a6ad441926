"""What an organiser decides before a contest begins; the one home of its defaults and bounds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from importlib.util import find_spec
from typing import Any, Final

from arena_protocol.errors import UserError, needs_extra
from arena_protocol.games import make_game
from arena_protocol.games.base import Game, GameError
from arena_server.stats.early_stop import Separation, first_of
from arena_server.stats.tiebreaks import check as check_tie_breaks
from arena_server.terms.formats import FORMATS
from arena_server.terms.terms import FieldTerms, GameTerms, HouseTerms, terms_of


class ContestConfigError(UserError, ValueError):
    """A config or a list of entrants that makes no contest; the text is one clear line."""

    exit_code = 2


#: The format of one game on a worker or in this process; no file can name it.
SINGLE: Final = "single"
#: The format whose games the shell hands out one by one.
HANDED: Final = "handed"
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


@dataclass(frozen=True, kw_only=True)
class ContestConfig(GameTerms, FieldTerms, HouseTerms):
    """One contest: the terms of its games, which all have the same, of its field and of its house.

    `programs` is a digest of what plays under the names in a match, "" where the names say it.
    The only game of a contest on a worker is `dealt` by another: its seed and its nonce are given, and the
    secret that they follow from is not known here.
    A game of a visitor may be `played_on` from a ply of another one: then it is dealt by the seed of that.
    `seed` derives every deal and nonce (`deal.py`): a secret of 256 bits that the server draws, or a
    number that the organiser gives where all bots are local.
    """

    name: str
    seed: int
    programs: str = ""
    dealt: tuple[int, str] | None = None
    played_on: str = ""


def contest_of(terms: GameTerms, **own: Any) -> ContestConfig:
    """A contest of its `own` settings, the games of which have these terms."""
    return ContestConfig(**({each.name: getattr(terms, each.name) for each in fields(GameTerms)} | own))


DEALS = ("fresh", "paired")

#: A seed is a text in databases and records.
SEED_DIGITS: Final = 400


def check_seed(seed: int | None) -> int | None:
    """Raises ValueError for a seed that no database keeps."""
    if seed is not None and abs(seed) >= 10**SEED_DIGITS:
        raise ValueError(f"expected a number of at most {SEED_DIGITS} digits")
    return seed


#: The most games of one bot at once.
MOST_SLOTS = 64
#: Spectators of one address: the default of `server.spectators_per_address`.
GUESTS_PER_ADDRESS: Final = 500


def check_numbers(config: ContestConfig) -> None:
    """Raise ContestConfigError for a number out of its range, or a format that does not exist."""
    if config.format not in (*FORMATS, SINGLE, HANDED):
        expected = f"contest.format: expected one of {', '.join(FORMATS)}"
        raise ContestConfigError(f"{expected}, got {config.format!r:.60}")
    try:
        check_tie_breaks(config.tie_breaks)
    except ValueError as error:
        raise ContestConfigError(f"tie_breaks: {error}") from error
    try:
        check_seed(config.seed)
    except ValueError as error:
        raise ContestConfigError(f"seed: {error}") from None
    if config.deals not in DEALS:
        raise ContestConfigError(f"deals is one of {', '.join(DEALS)}, not {config.deals!r}")
    for each, of_it in terms_of(ContestConfig):
        low, high, value = of_it.low, of_it.high, getattr(config, each.name)
        if low is not None and high is not None and value is not None and not low <= value <= high:
            raise ContestConfigError(f"{each.name} must be from {low} to {high}, not {value}")


def game_of(config: GameTerms) -> Game[Any]:
    """Return the game that is played. Raises ContestConfigError if there is none such."""
    try:
        return make_game(config.game, config.options)
    except GameError as error:
        raise ContestConfigError(str(error)) from error


def check_extra(config: ContestConfig) -> None:
    """Raise ContestConfigError if the format needs a library that is not installed."""
    extra = None if config.format in (SINGLE, HANDED) else FORMATS[config.format].EXTRA
    if extra is not None and find_spec(extra[1]) is None:
        raise ContestConfigError(needs_extra(f'contest.format = "{config.format}"', extra[0]))


def early_stop_of(
    config: ContestConfig, names: Sequence[str], total: int | None, seats: int
) -> Separation | None:
    """What watches for the early end of a contest that begins with as many games; None without a rule."""
    first = first_of(config.stop)
    if not first:
        return None
    assert total is not None, "the games of its format are planned"
    deal_games = seats if config.deals == "paired" else 1
    return Separation(names, first, total, scoring=config.scoring, deal_games=deal_games)
