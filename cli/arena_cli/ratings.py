"""`arena ratings`: how strong each bot is, with 95 % intervals."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena_cli.options import DEFAULT_DATABASE, Database, Json, print_json, repeated
from arena_cli.results import check_numpy, check_rated, fit_games, open_results, read_results
from arena_cli.tables import Cell, Column, FormatOption, OutputFormat, ResultTable, chosen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from arena_server.stats.rated_games import Games
    from arena_server.stats.ratings import Ratings
    from arena_server.store.reader import Results
    from arena_server.store.schema import ContestRow


@dataclass(frozen=True, slots=True)
class RatingOptions:
    """Whose games are rated."""

    contest: Annotated[
        list[str] | None,
        repeated("NAME|ID", "A contest, by default the latest"),
    ] = None
    every: Annotated[
        bool, typer.Option("--all", help="All contests of the database with game and rules of the latest.")
    ] = False
    versions: Annotated[
        bool, typer.Option("--versions", help="Rate each version of a bot apart, by agent= of its HELLO.")
    ] = False
    database: Database = DEFAULT_DATABASE
    file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The games of a text file instead, as for `arena standings`.",
            show_default=False,
        ),
    ] = None


def command(
    options: RatingOptions = RatingOptions(), form: FormatOption = None, as_json: Json = False
) -> None:
    """Print the rating of each bot with its 95 % interval.

    A rating is fitted to all games at once, draws and the advantage of a seat included; a difference of 100
    is a score of 64 %, the mean is 1500. The column ranks has the places that the intervals allow. The two
    games of a deal count as one observation. With --versions a bot that has called its program by several
    names (agent= of HELLO) has a rating for each. Bots without a lost or without a won game, and those
    that no results connect with the others, have no rating; they are named with the reason. A contest with
    `rated = false` is practice: --all leaves it out, and by itself it is refused.

    Example: arena ratings --contest friday --contest saturday
    """
    from arena_server.stats.ratings import plain

    check_numpy("arena ratings")
    title, games = _games(options)
    ratings = fit_games("arena ratings", games)
    form = chosen(form, as_json)
    if form is OutputFormat.JSON:
        print_json({"rated": title} | plain(ratings, versions=options.versions))
    else:
        _table(title, ratings, versions=options.versions).print(form)


def _games(options: RatingOptions) -> tuple[str, Iterable[Games]]:
    """What is rated, in words, and its games. Raises ConfigError or StoreError."""
    from arena_server.errors import ConfigError
    from arena_server.stats.rated_games import Games, RatedGame, observe

    if options.every and options.contest:
        raise ConfigError("--all: it is for all contests; leave out --contest")
    if options.file is not None:
        if options.contest or options.every:
            raise ConfigError("--file: a file of results has no contests; leave out --contest and --all")
        if options.versions:
            raise ConfigError("--file: a file of results has no versions; leave out --versions")
        found = read_results(options.file)
        rated = (RatedGame(game.names, game.totals, number) for number, game in enumerate(found))
        # Not before it is asked for: the games may be of different numbers of seats.
        return str(options.file), (Games.of(observe(games)) for games in [rated])
    with open_results(options.database) as results:
        contests = _contests(results, options)
        check_rated(contests, "--all" if options.every else "--contest")
        if len({contest.game for contest in contests}) > 1:
            named = ", ".join(f"{contest.name} {contest.game}" for contest in contests)
            raise ConfigError(f"--contest: expected contests of one game, got {named}")
        if len({epoch_of(contest) for contest in contests}) > 1:
            named = ", ".join(f"{contest.name} {epoch_of(contest)}" for contest in contests)
            raise ConfigError(f"--contest: expected contests of one epoch of the rules, got {named}")
        names = ", ".join(dict.fromkeys(contest.name for contest in contests))
        games = [results.sums.rated(contest, versions=options.versions) for contest in contests]
        return f"{names}, {contests[0].game}", games


def epoch_of(contest: ContestRow) -> str:
    """The epoch of the rules by which a contest is played."""
    from arena_protocol.games import EPOCH

    return str(contest.options.get(EPOCH, "1"))


def _contests(results: Results, options: RatingOptions) -> list[ContestRow]:
    if options.every:
        latest = results.contest()
        kind = latest.game, epoch_of(latest)
        every = [each for each in results.contests() if (each.game, epoch_of(each)) == kind]
        return [each for each in every if each.is_rated] or every
    chosen = [results.contest(selector) for selector in options.contest or (None,)]
    return list({contest.id: contest for contest in chosen}.values())


def _table(title: str, ratings: Ratings, *, versions: bool) -> ResultTable:
    heads = [Column("rank"), Column("bot", is_text=True)]
    heads += [Column("version", is_text=True)] if versions else []
    heads += map(Column, ("rating", "95 %", "ranks", "games", "score"))
    cells: list[list[Cell]] = []
    for rank, row in enumerate(ratings.rows, start=1):
        ranks = str(row.best) if row.best == row.worst else f"{row.best}-{row.worst}"
        rating, margin = f"{row.rating:.0f}", f"+-{row.margin:.0f}"
        bot, _, version = row.name.partition(" ")
        name: list[Cell] = [bot, version or None] if versions else [bot]
        cells.append([rank, *name, rating, margin, ranks, row.games, f"{row.score:.1%}"])
    return ResultTable(f"{title}: {ratings.games} games", heads, cells, _notes(ratings))


def _notes(ratings: Ratings) -> list[str]:
    from arena_server.stats.ratings import REASONS

    notes = [f"{name} is not rated ({reason}): {REASONS[reason]}" for name, reason in ratings.unrated.items()]
    for seat, value in enumerate(ratings.seats, start=2):
        notes.append(f"seat {seat} is worth {value:+.0f} against seat 1")
    return notes
