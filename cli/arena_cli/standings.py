"""`arena standings`: the table of a contest or of a file of results, its cross-table, its rounds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_cli.options import DEFAULT_DATABASE, ContestChoice, Database, Json, print_json, refuse
from arena_cli.results import (
    contest_title,
    headed,
    open_results,
    print_standings,
    read_results,
    standings_json,
    standings_table,
    teams_json,
    teams_table,
)
from arena_cli.tables import Cell, Column, FormatOption, OutputFormat, ResultTable, chosen
from arena_server.stats.scoring import POINTS, Scoring
from arena_server.stats.standings import Standings, row_json
from arena_server.stats.tiebreaks import HeadToHead

if TYPE_CHECKING:
    from arena_server.store.reader import Results
    from arena_server.store.schema import ContestRow


@dataclass(frozen=True, slots=True)
class StandingsOptions:
    """Whose results are shown, and which side of them."""

    contest: ContestChoice = None
    database: Database = DEFAULT_DATABASE
    file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Rank the games of a text file instead.", show_default=False),
    ] = None
    scoring: Annotated[
        str | None,
        typer.Option(
            metavar="points|wins|3-1-0",
            help="Rank by points, by games won, or by values of win, draw and loss; else as the contest.",
            show_default=False,
        ),
    ] = None
    cross: Annotated[
        bool, typer.Option("--cross", help="Print what each bot has scored against each other instead.")
    ] = False
    rounds: Annotated[
        bool, typer.Option("--rounds", help="Print the bracket or the rounds instead, with who meets whom.")
    ] = False
    cards: Annotated[
        bool,
        typer.Option("--cards", help="Print the rounds of a Swiss instead, one line a bot: 12w1 5b1/2."),
    ] = False
    teams: Annotated[
        bool, typer.Option("--teams", help="Print the table of teams instead: contest.teams says how.")
    ] = False
    ratings: Annotated[
        bool, typer.Option("--ratings", help="Add the rating of each bot with its 95 % interval.")
    ] = False

    def check(self) -> None:
        """Raise ConfigError for options that contradict each other."""
        from arena_server.errors import ConfigError
        from arena_server.stats.scoring import scoring_of

        if self.scoring is not None:
            try:
                scoring_of(self.scoring)
            except ValueError as error:
                raise ConfigError(f"--scoring: {error}") from None
        if self.file is not None and self.contest is not None:
            raise ConfigError("--file: a file of results has no contests; leave out --contest")
        if self.ratings and (self.cross or self.rounds or self.file is not None):
            others = "--cross, --rounds and --file"
            raise ConfigError(f"--ratings: it is for the table of a contest; leave out {others}")
        if self.rounds and (self.cross or self.file is not None):
            raise ConfigError("--rounds: it is for a contest alone; leave out --cross and --file")
        if self.cards and (self.cross or self.rounds or self.teams or self.ratings or self.file is not None):
            raise ConfigError("--cards: leave out --cross, --rounds, --teams, --ratings and --file")
        if self.teams and (self.cross or self.rounds or self.ratings or self.file is not None):
            raise ConfigError("--teams: leave out --cross, --rounds, --ratings and --file")
        if self.cards:
            refuse(self, "the rounds are scored as the contest says; leave it out with --cards", "scoring")
        if self.rounds:
            refuse(self, "the rounds are scored as the contest says; leave it out with --rounds", "scoring")


def command(
    options: StandingsOptions = StandingsOptions(), form: FormatOption = None, as_json: Json = False
) -> None:
    """Print the standings of a contest, or of a file of results.

    Its columns: rank, bot, points, games, mean points, the contest's tie-breaks, faults by kind. A file holds
    a line `NAME POINTS NAME POINTS ...` a game. Points and wins may disagree entirely: see
    examples/paradox.txt. --ratings adds what `arena ratings` says of each bot. In the table of --cross
    3.5/4 are 3.5 in 4 games: a win is 1, a draw 1/2, or what the values of the scoring are. --rounds
    prints what a format has drawn: a bracket as a tree if it fits, with the games won by each. --cards has
    a line for each bot of a Swiss: 12w1 is a win with the first seat against number 12 of the table.

    Example: arena standings --file examples/paradox.txt --scoring wins
    """
    options.check()
    form, scoring = chosen(form, as_json), options.scoring
    if options.file is not None:
        print_file(options.file, scoring or POINTS, form, cross=options.cross)
        return
    with open_results(options.database) as results:
        of = results.contest(options.contest)
        if options.teams:
            _print_teams(results, of, scoring, form)
        elif options.rounds:
            _print_rounds(results, of, form)
        elif options.cards:
            _print_cards(results, of, form)
        elif form is OutputFormat.JSON:
            plain = standings_json(results, of, scoring, rated=options.ratings)
            print_json(plain | (_cross_json(results.sums.table(of, scoring)) if options.cross else {}))
        elif options.cross:
            _print_cross(results, of, scoring, form)
        else:
            print_standings(results, of, scoring, form, rated=options.ratings)


def _print_teams(results: Results, contest: ContestRow, scoring: str | None, form: OutputFormat) -> None:
    """Print the table of teams. Raises ConfigError for a contest without one."""
    from arena_server.errors import ConfigError

    found = teams_json(results, contest, results.sums.table(contest, scoring))
    if not found:
        raise ConfigError(f"--teams: {contest.name} has no teams: contest.teams = {{ best = k }} makes some")
    if form is OutputFormat.JSON:
        print_json({"contest": contest.name} | found)
    else:
        headed(teams_table(contest.name, found["teams"]), contest).print(form)


def _print_rounds(results: Results, contest: ContestRow, form: OutputFormat) -> None:
    """Print what was drawn. Raises ConfigError for a format that draws nothing."""
    from arena_cli.rounds import print_rounds
    from arena_server.errors import ConfigError

    if (history := results.sums.history(contest)) is None:
        raise ConfigError(f"--rounds: the format of {contest.name}, {contest.format}, draws no rounds")
    document = history.document()
    if form is OutputFormat.JSON:
        print_json({"contest": contest.name} | document)
    else:
        title = contest_title(contest, results.sums.games_played(contest), results.sums.total(contest), None)
        print_rounds(title, document["rounds"], form, of=contest)


def _print_cards(results: Results, contest: ContestRow, form: OutputFormat) -> None:
    """Print the rounds by bots. Raises ConfigError for another format than a Swiss."""
    from arena_cli.player_cards import cards_table
    from arena_server.core.formats.player_cards import cards_of
    from arena_server.errors import ConfigError

    history = results.sums.history(contest)
    rows = [row_json(row) for row in results.sums.table(contest).rows()]
    if history is None or (found := cards_of(history, rows)) is None:
        raise ConfigError(f"--cards: expected a Swiss, {contest.name} is a {contest.format}")
    title = contest_title(contest, results.sums.games_played(contest), results.sums.total(contest), None)
    table = headed(cards_table(title, found), contest)
    if form is OutputFormat.JSON:
        cards = [dict(zip((column.name for column in table.columns), row, strict=True)) for row in table.rows]
        print_json({"contest": contest.name, "cards": cards})
    else:
        table.print(form)


def _print_cross(results: Results, contest: ContestRow, scoring: str | None, form: OutputFormat) -> None:
    table = results.sums.table(contest, scoring)
    title = contest_title(contest, table.games, results.sums.total(contest), scoring)
    headed(cross_table(title, table), contest).print(form)


def print_file(path: Path, scoring: str, form: OutputFormat, *, cross: bool) -> None:
    """Print the table of the games in a text file."""
    games = read_results(path)
    table = Standings(dict.fromkeys(name for game in games for name in game.names), scoring)
    for game in games:
        table.add(game)
    rows = [row_json(row) for row in table.rows()]
    title = f"{path}: {len(games)} games, scored by {scoring}"
    if form is OutputFormat.JSON:
        plain = {"file": str(path), "scoring": scoring, "games": len(games), "standings": rows}
        print_json(plain | (_cross_json(table) if cross else {}))
    elif cross:
        cross_table(title, table).print(form)
    else:
        standings_table(title, rows, wins=scoring != POINTS).print(form)


def _cross_json(table: Standings) -> dict[str, Any]:
    """The cross-table as JSON types: name, opponent, games and score."""
    pairs = {row.name: table.against(row.name) for row in table.rows()}
    return {
        "cross_table": {
            name: {
                other: {"games": pair.games, "score": float(pair.worth(table.scoring))}
                for other, pair in each.items()
            }
            for name, each in pairs.items()
        }
    }


def cross_table(title: str, table: Standings) -> ResultTable:
    """Return what each bot has scored against each other: `3.5/4` are 3.5 in 4 games."""
    names = [row.name for row in table.rows()]
    heads = [
        Column(""),
        Column("bot", is_text=True),
        *(Column(str(place)) for place in range(1, len(names) + 1)),
    ]
    cells: list[list[Cell]] = []
    for place, name in enumerate(names, start=1):
        pairs = table.against(name)
        worth = table.scoring
        scores = (_score(pairs.get(other), worth) if other != name else "*" for other in names)
        cells.append([place, name, *scores, _score(pairs.values(), worth)])
    return ResultTable(title, [*heads, Column("score")], cells)


def _score(pairs: HeadToHead | Iterable[HeadToHead] | None, worth: Scoring) -> str | None:
    """The score of all games of these, and their number; None without games."""
    each = () if pairs is None else (pairs,) if isinstance(pairs, HeadToHead) else tuple(pairs)
    games = sum(pair.games for pair in each)
    return f"{float(sum(pair.worth(worth) for pair in each)):g}/{games}" if games else None
