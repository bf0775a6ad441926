"""Results as commands read and print them: a contest's standings, a file of results, lines about games."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from arena_cli.tables import Cell, Column, OutputFormat, ResultTable
from arena_protocol.games import GAMES, title_of
from arena_protocol.record import describe_fault
from arena_protocol.text import text_of
from arena_server.core.life import reason_of
from arena_server.stats.qualifying import describe, sources_of
from arena_server.stats.scoring import POINTS
from arena_server.stats.standings import Standings, row_json
from arena_server.stats.teams import team_json, team_rows
from arena_server.terms.about import headline, lines_about

if TYPE_CHECKING:
    from arena_protocol.record import FaultRecord
    from arena_server.core.facts import Order
    from arena_server.stats.rated_games import Games
    from arena_server.stats.ratings import Ratings
    from arena_server.stats.results import GameResult
    from arena_server.store.reader import Results
    from arena_server.store.schema import ContestRow

T = TypeVar("T")
#: These take a second; of more games the progress is shown.
SHOWN_GAMES = 1000


def with_progress(rows: Iterable[T], what: str, count: int) -> Iterator[T]:
    """The rows; of many a terminal shows meanwhile how far they are, and how long it will take."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    hidden = count < SHOWN_GAMES or not console.is_terminal
    return iter(track(rows, what, count, console=console, transient=True, disable=hidden))


def read_results(path: Path) -> list[GameResult]:
    """Return the games of a text file: lines `NAME POINTS NAME POINTS ...`, comments begin with `#`.

    Raises ConfigError with file and line.
    """
    from arena_server.errors import ConfigError
    from arena_server.stats.results import GameResult

    try:
        lines = text_of(path.read_bytes()).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise ConfigError(f"--file: cannot read {path}: {reason}") from error
    games = []
    for number, line in enumerate(lines, start=1):
        words = line.partition("#")[0].split()
        names, points = tuple(words[::2]), words[1::2]
        if not words:
            continue
        if (
            len(names) < 2
            or len(names) != len(points)
            or not all(re.fullmatch("-?[0-9]{1,9}", p) for p in points)
        ):
            raise ConfigError(
                f"{path}:{number}: expected `NAME POINTS NAME POINTS ...`, got {line.strip()!r}"
            )
        if len(set(names)) < len(names):
            raise ConfigError(f"{path}:{number}: a bot plays once in a game, got {line.strip()!r}")
        games.append(GameResult(names, tuple(map(int, points))))
    if not games:
        raise ConfigError(
            f"--file: {path} holds no game; expected a line `NAME POINTS NAME POINTS ...` for each"
        )
    return games


def check_numpy(command: str) -> None:
    """Raise ConfigError unless ratings can be fitted here."""
    import importlib.util

    from arena_protocol.errors import needs_extra
    from arena_server.errors import ConfigError

    if importlib.util.find_spec("numpy") is None:
        raise ConfigError(needs_extra(command, "ratings"))


def check_rated(contests: Iterable[ContestRow], option: str) -> None:
    """Raise ConfigError if one of these contests is practice."""
    from arena_server.errors import ConfigError

    if practice := [contest.name for contest in contests if not contest.is_rated]:
        raise ConfigError(
            f"{option}: {', '.join(practice)} is not rated (rated = false): its games are practice"
        )


def fit_games(command: str, parts: Iterable[Games]) -> Ratings:
    """Rate the bots of these games. Raises ConfigError for games of different numbers of seats."""
    from arena_server.errors import ConfigError
    from arena_server.stats.rated_games import Games
    from arena_server.stats.ratings import fit_counted

    try:
        return fit_counted(Games.joined(parts))
    except ValueError as error:
        raise ConfigError(f"{command}: {error}") from None


def open_results(database: str) -> Results:
    """Open the results at a database URL, for use in a `with` statement. Raises ArenaError."""
    from arena_server.store.database import database_of
    from arena_server.store.reader import Results

    return Results(database_of(database))


def standings_json(
    results: Results, contest: ContestRow, scoring: str | None = None, *, rated: bool = False
) -> dict[str, Any]:
    """Return a contest and its standings as JSON types; if `rated` each row has its `rating`, or None."""
    table = results.sums.table(contest, scoring)
    rows = [row_json(row) for row in table.rows()]
    if rated:
        from arena_server.stats.ratings import plain

        check_numpy("--ratings")
        check_rated([contest], "--ratings")
        fitted = plain(fit_games("--ratings", [results.sums.rated(contest)]))["ratings"]
        by_name = {row["bot"]: {key: row[key] for key in ("rating", "interval", "ranks")} for row in fitted}
        rows = [row | {"rating": by_name.get(row["bot"])} for row in rows]
    return {
        "contest": {
            "id": contest.id,
            "name": contest.name,
            "about": contest.about,
            **({} if contest.is_rated else {"rated": False}),
            "game": contest.game,
            "game_title": title_of(contest.game),
            "scoring": scoring or contest.scoring,
            "status": contest.status,
            "reason": reason_of(contest.status) or None,
            # Of a contest that may go on, the secret would reveal deals that are still to be played.
            "secret": contest.seed if results.deals(contest).is_final else None,
            "games": {"played": table.games, "total": results.sums.total(contest)},
            **({"entrants_from": contest.origin["from"]} if contest.origin else {}),
        },
        "standings": rows,
        **teams_json(results, contest, table),
        **(
            {}
            if (separated := results.facts.separated(contest)) is None
            else {"separated": separated._asdict()}
        ),
        **({} if (history := results.sums.history(contest)) is None else history.document()),
        **({} if not (jury := results.facts.decisions(contest)) else {"jury": [*map(_decision_json, jury)]}),
        "first_faults": [
            _fault_json(contest, bot, game, fault)
            for bot, (game, fault) in results.games.first_faults(contest).items()
        ],
    }


def teams_json(results: Results, contest: ContestRow, table: Standings) -> dict[str, Any]:
    """The table of teams as JSON types by its key; empty for a contest without one."""
    if not contest.teams:
        return {}
    rows = team_rows(table, results.facts.owners(contest), contest.teams)
    return {"teams": {"best": contest.teams, "rows": [*map(team_json, rows)]}}


def teams_table(title: str, teams: dict[str, Any]) -> ResultTable:
    """The table of teams to print; `teams` is what `teams_json` has at its key."""
    best = (
        f"the best {teams['best']} of each team count"
        if teams["best"] > 1
        else "the best of each team counts"
    )
    heads = [Column("rank"), Column("team", is_text=True), Column("score"), Column("bots")]
    rows: list[list[Cell]] = [
        [row["rank"], row["team"], _whole(row["score"]), row["bots"], ", ".join(row["counted"])]
        for row in teams["rows"]
    ]
    return ResultTable(f"{title}: teams, {best}", [*heads, Column("counted", is_text=True)], rows)


def _decision_json(order: Order) -> dict[str, Any]:
    return {key: getattr(order, key) for key in ("number", "verb", "target", "reason")}


def decision_text(decision: dict[str, Any]) -> str:
    """A decision of the jury, of `standings_json` or the document of a contest, as a line."""
    return f"jury: {decision['verb']} {decision['target']}: {decision['reason']}"


def _fault_json(contest: ContestRow, bot: str, game: str, fault: FaultRecord) -> dict[str, Any]:
    """Return a bot's first fault as JSON types: the line as hexadecimal text, `text` as a sentence."""
    zombie_move = GAMES[contest.game].zombie_move
    return {
        "bot": bot,
        "game": game,
        "ply": fault.ply,
        "kind": fault.kind,
        "line": fault.line.hex(),
        "text": describe_fault(bot, fault.kind, fault.ply, fault.line, zombie_move=zombie_move),
    }


def contest_title(contest: ContestRow, played: int, total: int | None, scoring: str | None) -> str:
    games = games_text(played, total)
    scored = f"scored by {scoring or contest.scoring}"
    about = contest.about
    game = title_of(contest.game) if "title" in about else contest.game
    return f"{headline(contest.name, about)}: {game}, {games}, {scored}, {contest.status}"


def _standing(contest: ContestRow, reason: str | None) -> Iterator[str]:
    """What is to be known of a contest before its table."""
    if not contest.is_rated:
        yield "not rated: practice games"
    if reason is not None:
        yield f"ended early: {reason}"


def print_standings(
    results: Results,
    contest: ContestRow,
    scoring: str | None = None,
    form: OutputFormat = OutputFormat.TABLE,
    *,
    rated: bool = False,
) -> None:
    """Print a contest's standings on stdout, by `scoring` or else as the contest scores."""
    plain = standings_json(results, contest, scoring, rated=rated)
    by_mean = len({row["games"] for row in plain["standings"]}) > 1
    counts = {row["bot"]: sum(row["faults"].values()) for row in plain["standings"]}
    notes = [
        f"{fault['game']}: {fault['text']}"
        + (f" (the first of {counts[fault['bot']]} faults)" if counts[fault["bot"]] > 1 else "")
        for fault in plain["first_faults"]
    ]
    if contest.origin:
        notes.insert(0, f"entrants: {describe(sources_of(contest.origin))}")
    if "ranked_by" in plain:
        see = "`arena standings --rounds` prints who met whom"
        notes.insert(0, f"ranked by score: {plain['ranked_by']}; {see}")
        if lost := _walkovers(plain["rounds"]):
            notes.insert(
                1, f"lost by walkover: {', '.join(f'{name} {count}' for name, count in lost.items())}"
            )
    elif by_mean:
        scoring = plain["contest"]["scoring"]
        also = "; so are the tie-breaks" if any(row.get("tie_breaks") for row in plain["standings"]) else ""
        notes.insert(0, f"ranked by {scoring} a game, because the bots have different numbers of games{also}")
    if "separated" in plain:
        notes.insert(0, separated_text(plain["separated"]["names"], plain["separated"]["games"]))
    notes += map(decision_text, plain.get("jury", ()))
    notes = [*_standing(contest, plain["contest"]["reason"]), *notes]
    if form is not OutputFormat.HTML:  # a page has them in its head
        notes = [*lines_about(contest.about), *notes]
    if plain["contest"]["secret"] is not None:
        notes.append(f"secret of the deals: {plain['contest']['secret']}")
    games = plain["contest"]["games"]
    title = contest_title(contest, games["played"], games["total"], scoring)
    wins = plain["contest"]["scoring"] != POINTS
    table = headed(standings_table(title, plain["standings"], wins=wins, notes=notes), contest)
    teams = [teams_table(contest.name, plain["teams"])] if "teams" in plain else []
    if form is OutputFormat.HTML:
        typer.echo(table.as_page(*teams), nl=False)
        return
    table.print(form)
    for each in teams if form is not OutputFormat.CSV else ():  # a file of values has one table
        each.print(form)


def headed(table: ResultTable, contest: ContestRow) -> ResultTable:
    """The table with what a page of it has at its head: title, date, place."""
    return replace(table, heading=headline(contest.name, contest.about), lines=[*lines_about(contest.about)])


def _walkovers(rounds: Sequence[dict[str, Any]]) -> Counter[str]:
    """How many matches each bot has lost without playing them to their end, because it was absent."""
    matches = (match for each in rounds for match in each["matches"] if match["state"] == "walkover")
    return Counter(
        name for match in matches for name in match["names"] if name not in (None, match["winner"])
    )


def separated_text(names: Sequence[str], games: int) -> str:
    """Say why a contest ended early."""
    who = f"{names[0]} is" if len(names) == 1 else f"{', '.join(names)} are"
    return (
        f"ended early (stop): after {games} games {who} separated from all others at 95 %;"
        " games that ran were played to their end"
    )


def games_text(done: int, total: int | None) -> str:
    """Return how many games have a result; of an open contest there is no number of all."""
    if total is not None:
        return f"{done} of {total} games"
    return "1 game" if done == 1 else f"{done} games"


def unplayed_message(progress: dict[str, Any]) -> str:
    """Return one line about a contest that did not finish; `progress` has the fields of `Progress`.

    It names the bots that are missing and counts the games without a result by cause.
    """
    done, total = progress["done"], progress["total"]
    causes = ", ".join(f"{games} {cause}" for cause, games in progress["unplayed"].items())
    left = f"{done} games" if total is None else f"{total - done} of {total} games have no result"
    reason = f"{reason}: " if (reason := reason_of(progress["ended"])) else ""
    text = f"the contest is {progress['ended']}: {reason}{left}"
    missing = f"; missing bots: {', '.join(progress['missing'])}" if progress["missing"] else ""
    return text + (f" ({causes})" if causes else "") + missing


def standings_table(
    title: str, rows: Sequence[dict[str, Any]], *, wins: bool = False, notes: Sequence[str] = ()
) -> ResultTable:
    """Return the table to print; `rows` are results of `row_json`."""
    shown = ("points", "games", "mean points", *(["wins"] if wins else []))
    # Points and wins may break ties, too: one column of each is enough.
    tie_breaks = [name for name in (rows[0].get("tie_breaks", ()) if rows else ()) if name not in shown]
    rated = any(row.get("rating") for row in rows)
    numbers = (*shown, *tie_breaks, *(("rating", "95 %") if rated else ()))
    scored, punished = any("score" in row for row in rows), any("penalty" in row for row in rows)
    heads = [
        Column("rank"),
        Column("bot", is_text=True),
        *([Column("score")] if scored else []),
        *([Column("penalty")] if punished else []),
        *map(Column, numbers),
        Column("faults", is_text=True),
    ]
    cells: list[list[Cell]] = []
    for row in rows:
        faults = ", ".join(f"{kind} {count}" for kind, count in row["faults"].items())
        more = [row["wins"]] if wins else []
        more += [_whole(row["tie_breaks"][name]) for name in tie_breaks]
        more += _rating_cells(row["rating"]) if rated else []
        start = [
            row["rank"],
            row["bot"],
            *([_whole(row["score"])] if scored else []),
            *([_whole(-row.get("penalty", 0)) or None] if punished else []),
            row["points"],
            row["games"],
            float(row["mean"]),
        ]
        cells.append([*start, *more, faults or None])
    return ResultTable(title, heads, cells, notes)


def _whole(value: float) -> Cell:
    """A number that ranks, with all of its decimals: two that differ do not look equal."""
    return value if value == round(value, 1) else f"{value:g}"


def _rating_cells(rating: dict[str, Any] | None) -> list[Cell]:
    if rating is None:
        return [None, None]
    return [f"{rating['rating']:.0f}", f"+-{(rating['interval'][1] - rating['interval'][0]) / 2:.0f}"]
