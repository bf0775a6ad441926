"""Reading a contest's configuration file, and the config and the entrants that it describes.

`load_contest` returns a checked configuration, or raises ConfigError with one line that names the
file, the key, what was expected and what came.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from arena_protocol.games import GAMES, make_game
from arena_protocol.games.base import Game, GameError
from arena_protocol.library import parse_library, start_boards
from arena_protocol.text import text_of
from arena_server.errors import ConfigError
from arena_server.stats.early_stop import check as check_stop
from arena_server.terms.config import NO_TOKEN, ContestConfig, Entrant
from arena_server.terms.contest_table import (
    ContestTable,
    format_options,
)
from arena_server.terms.formats import FORMATS, Terms
from arena_server.terms.mistakes import KEYS, mistake, unknown_key
from arena_server.terms.schema import (
    ContestFile,
    check_secret,
)
from arena_server.terms.spec import LateVersions, Webhook, fresh_seed
from arena_server.terms.submissions import SubmissionSetup, SubmittedSeat
from arena_server.terms.terms import LONGEST_MS, terms_of
from arena_server.terms.timetable import Timetable, parse_hours


def config_of(file: ContestFile, absent_ms: int | None = None) -> ContestConfig:
    """The config of the contest, with a secret seed if the file has none; `absent_ms` overrides `absent`."""
    given: dict[str, Any] = {}
    for each, of_it in terms_of(ContestConfig):
        table, _, key = of_it.key.partition(".")
        # A key that is left out is the default of its field.
        if table and (value := getattr(getattr(file, table), key)) is not None:
            given[each.name] = value if of_it.read is None else of_it.read(value)
    if absent_ms is not None:
        given["absent_ms"] = absent_ms
    return ContestConfig(
        name=file.contest.name,
        seed=fresh_seed() if file.contest.seed is None else file.contest.seed,
        owners={bot.name: bot.owner for bot in file.bot if bot.owner is not None},
        details={bot.name: said for bot in file.bot if any(said := (bot.author, bot.language, bot.url))},
        **given,
    )


def timetable_of(file: ContestFile) -> Timetable:
    """The hours, the beginning, the end and the freeze of the contest."""
    contest = file.contest
    hours = None if contest.open is None else parse_hours(contest.open)
    return Timetable(hours, contest.ends_at, contest.freeze_at, contest.starts_at)


LOOPBACK = ("127.0.0.1", "localhost", "::1")


def check_remote_bots(
    file: ContestFile, host: str, *, tournament: bool, debug_bot: str | None = None
) -> None:
    """Raise ConfigError for a seed, no clock, or a bot that is debugged, where remote bots take part.

    From a seed they could compute every deal; without a clock one of them could stop the contest. In a
    tournament every bot that it does not start is remote; on a server bots with a token are, and
    all bots if `host` can be reached from other machines.
    """
    if debug_bot is not None and debug_bot not in [bot.name for bot in file.bot]:
        raise ConfigError(f"--debug-bot: expected the name of a bot of the contest, got {debug_bot!r:.40}")
    reachable = tournament or host not in LOOPBACK
    remote = [bot.name for bot in file.bot if not bot.is_local and (reachable or bot.token_sha256)]
    if not remote:
        return
    if debug_bot is not None:
        raise ConfigError(
            f"--debug-bot: expected a contest without remote bots ({', '.join(remote)}): no clock runs while"
            " a bot is debugged; use it on this machine with bots that have no token"
        )
    if file.game.clock == LONGEST_MS:
        raise ConfigError(
            f"game.clock: expected a clock where bots connect by themselves ({', '.join(remote)}): without"
            " one any of them can stop the contest"
        )
    if file.contest.seed is not None:
        raise ConfigError(
            f"contest.seed: expected no seed where bots connect by themselves ({', '.join(remote)}): from a"
            " seed they can compute every deal; leave it out, and the server draws a secret of 256 bits"
        )


def entrants_of(file: ContestFile, hashes: Mapping[str, str] | None = None) -> list[Entrant]:
    """The bots that may log in; `hashes` has the token digests of names without one in the file."""
    given = hashes or {}
    return [
        Entrant(
            bot.name,
            # A program that is sent has a token of its own each time it is started, and none before.
            NO_TOKEN if bot.submit else bot.token_sha256 or given.get(bot.name),
            concurrency=bot.concurrency,
            owner=bot.owner or "",
            author=bot.author,
            language=bot.language,
            url=bot.url,
            ponders=not (bot.in_container or bot.submit) or bot.limits(file.container.limits()).ponder,
            author_sha256=bot.token_sha256 if bot.submit else None,
        )
        for bot in file.bot
    ]


def cpus_of(file: ContestFile, *, tournament: bool) -> dict[str, float]:
    """How many processors each bot that is started here may use in each game; a process takes one.

    A server starts those alone that their authors send.
    """
    usual = file.container.limits()
    return {
        bot.name: bot.limits(usual).cpus if bot.in_container or bot.submit else 1.0
        for bot in file.bot
        if bot.submit or (tournament and bot.is_local and bot.launcher is None)
    }


def processes_of(file: ContestFile) -> frozenset[str]:
    """The bots that `arena tournament` starts as processes."""
    return frozenset(
        bot.name for bot in file.bot if bot.is_local and not bot.in_container and bot.launcher is None
    )


def late_versions_of(file: ContestFile) -> LateVersions:
    """How many bots that come late are sent by their authors, and how they play."""
    return LateVersions(file.submissions.late, file.container.limits().ponder)


def submissions_of(file: ContestFile, path: Path, beside: Path | None) -> SubmissionSetup | None:
    """The bots of the contest of `path` whose authors send them; None if there are none, and none come late.

    Their versions are kept in the folder `beside`, unless the file names one. Raises ConfigError without
    both.
    """
    seats = {
        bot.name: SubmittedSeat(bot.concurrency, bot.limits(file.container.limits()))
        for bot in file.bot
        if bot.submit
    }
    table = file.submissions
    if not (seats or table.late):
        return None
    folder = beside if table.folder is None else path.parent / table.folder
    if folder is None:
        raise ConfigError(
            f"{path}: submissions.folder: expected a folder: the database has no place beside it"
        )
    return SubmissionSetup(
        contest=file.contest.name,
        bots=seats,
        late=SubmittedSeat(1, file.container.limits()),
        rules=table.rules(),
        folder=folder.resolve(),
        config=path.resolve(),
        game=file.contest.game,
        seats=game_of(file).seats,
    )


def load_contest(path: Path, library: Path | None = None) -> ContestFile:
    """Read and check `path`; a `library` replaces game.library, which is relative to the file.

    Raises ConfigError, also for a file of stages (`stages.py`).
    """
    return with_files(contest_of_tables(read_tables(path), str(path)), path, library)


def with_files(contest: ContestFile, path: Path, library: Path | None = None) -> ContestFile:
    """The contest of `path` with what stands in other files: see `load_contest`. Raises ConfigError."""
    contest = _with_secrets(contest, path)
    if library is not None:
        return _from_library(contest, library, "--library")
    if contest.game.library is not None:
        return _from_library(contest, path.parent / contest.game.library, f"{path}: game.library")
    return contest


def parse_contest(text: str, source: str) -> ContestFile:
    """Check the text of a file; `source` is its name in errors. Raises ConfigError."""
    return contest_of_tables(_tables(text, source), source)


def read_tables(path: Path) -> dict[str, Any]:
    """The tables of a file, unchecked. Raises ConfigError."""
    return _tables(read_file(path), str(path))


def _tables(text: str, source: str) -> dict[str, Any]:
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{source}: not a TOML file: {error}") from None
    except ValueError:  # `int` takes no text of more than 4,300 digits
        raise ConfigError(f"{source}: not a TOML file: a number has too many digits") from None
    except RecursionError:
        raise ConfigError(f"{source}: not a TOML file: too many brackets within each other") from None
    if (key := _key_with_nul(tables)) is not None:
        raise ConfigError(f"{source}: {key}: expected a text without the character \\u0000")
    return tables


def _key_with_nul(tables: Mapping[str, Any]) -> str | None:
    """A key whose text has a NUL, which no path, no argument and no column of PostgreSQL can have."""
    for key, value in tables.items():
        inner = value if isinstance(value, list) else [value]
        for each in inner:
            if isinstance(each, Mapping) and (found := _key_with_nul(each)) is not None:
                return f"{key}.{found}"
            if isinstance(each, str) and "\0" in each:
                return key
    return None


def contest_of_tables(tables: Mapping[str, Any], source: str) -> ContestFile:
    """Check the tables of a file of one contest; `source` is its name in errors. Raises ConfigError."""
    if "stage" in tables:
        raise ConfigError(
            f"{source}: stage: expected a file of one contest here, got one of stages; "
            "arena serve, tournament and simulate play one"
        )
    try:
        contest = ContestFile.model_validate(tables)
    except ValidationError as error:
        raise ConfigError(f"{source}: {mistake(error, format_options(tables.get('contest')))}") from None
    complete(contest, source)
    return contest


def complete(contest: ContestFile, source: str) -> None:
    """Check what involves several keys; `source` is the name of the file in errors. Raises ConfigError."""
    try:
        _check_together(contest)
    except GameError as error:
        raise ConfigError(f"{source}: game: {error}") from None
    except ValueError as error:
        raise ConfigError(f"{source}: {error}") from None


def _with_secrets(contest: ContestFile, path: Path) -> ContestFile:
    """Return the contest with the secrets of its webhooks that stand in files of their own."""
    hooks = []
    for number, hook in enumerate(contest.webhook, start=1):
        if hook.secret_file is not None:
            try:
                secret = check_secret(read_file(path.parent / hook.secret_file).strip())
            except (ValueError, ConfigError) as error:
                raise ConfigError(f"{path}: webhook {number}: secret_file: {error}") from None
            hook = hook.model_copy(update={"secret": secret})
        hooks.append(hook)
    return contest.model_copy(update={"webhook": hooks})


def webhooks_of(file: ContestFile) -> list[Webhook]:
    """Where events of the contest are sent."""
    return [Webhook(hook.url, hook.secret or "", frozenset(hook.events), hook.batch) for hook in file.webhook]


def _from_library(contest: ContestFile, path: Path, place: str) -> ContestFile:
    """Return the contest with the positions of a library as its option `board`. Raises ConfigError."""
    if "board" in contest.game.own_options:
        raise ConfigError(f"{place}: expected either game.board or a library, got both")
    try:
        board = start_boards(parse_library(read_file(path)), game_of(contest))
        found = contest.model_copy(update={"game": contest.game.model_copy(update={"board": board})})
        game_of(found)
    except GameError as error:
        raise ConfigError(f"{place}: {path}: {error}") from None
    return found


def read_file(path: Path) -> str:
    """The text of a file. Raises ConfigError."""
    try:
        return text_of(path.read_bytes())
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None


def game_of(contest: ContestFile) -> Game[Any]:
    """The game that the configuration describes. Raises GameError for an option it refuses."""
    return make_game(contest.contest.game, contest.game.own_options)


def _check_together(contest: ContestFile) -> None:
    """Check what involves several keys. Raises ValueError or GameError."""
    name = contest.contest.game
    if name not in GAMES:
        raise ValueError(f"contest.game: expected one of {', '.join(sorted(GAMES))}, got {name!r}")
    for key, value in contest.game.own_options.items():
        if key not in GAMES[name].OPTIONS:
            raise ValueError(unknown_key(f"game.{key}", key, KEYS["game"] | GAMES[name].OPTIONS))
        if isinstance(value, str) and value.isdecimal():
            # The game itself would accept it, because on the wire every option is text.
            raise ValueError(f"game.{key}: expected a number without quotes, got {value!r}")
    seats = game_of(contest).seats
    names, given = tuple(bot.name for bot in contest.bot), contest.contest
    paired = given.deals == "paired"
    terms = Terms(names, seats, given.games_per_pair, paired=paired, options=given.format_options)
    FORMATS[given.format].check(terms)
    if given.anonymous:
        _check_anonymous(given)
    check_stop(given.stop, FORMATS[given.format], len(names))


def _check_anonymous(given: ContestTable) -> None:
    """Raise ValueError where the order of the file would say who plays whom."""
    if not FORMATS[given.format].BY_LOT:
        raise ValueError(
            "contest.anonymous: expected a format whose pairs do not follow from the file, got "
            f"{given.format!r}"
        )
    if given.format_options.get("seeding") == "file":
        raise ValueError('contest.seeding: expected "lot" with anonymous = true, got "file"')
