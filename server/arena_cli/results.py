"""The table of standings, for people and for programs.

`arena standings`, `arena export`: what a database of results is good for.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_cli.options import DEFAULT_DATABASE, ContestChoice, Database, Json, print_json
from arena_server.core.standings import Row

if TYPE_CHECKING:
    from rich.table import Table

    from arena_server.store.reader import Results
    from arena_server.store.schema import Contest

#: The width of what is not a terminal: nothing is wrapped or cut there for want of room.
PLAIN_WIDTH = 160


def plain_row(row: Row) -> dict[str, Any]:
    """One line of the table as JSON has it."""
    return {
        "rank": row.rank,
        "bot": row.name,
        "points": row.points,
        "games": row.games,
        "mean": round(row.mean, 2),
        "wins": row.wins,
        "faults": dict(row.faults),
    }


def plain_standings(results: Results, contest: Contest) -> dict[str, Any]:
    """A contest and its table as JSON has them."""
    return {
        "contest": {
            "id": contest.id,
            "name": contest.name,
            "game": contest.game,
            "scoring": contest.scoring,
            "status": contest.status,
            "games": {"played": results.games_played(contest), "total": contest.games},
        },
        "standings": [plain_row(row) for row in results.standings(contest)],
    }


def standings_table(rows: Sequence[dict[str, Any]], *, wins: bool = False) -> Table:
    """The table as people see it; `rows` are of `plain_row`."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("rank", justify="right")
    table.add_column("bot", no_wrap=True)
    for heading in ("points", "games", "mean points", *(["wins"] if wins else [])):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("faults", no_wrap=True)
    for row in rows:
        cells = [row["rank"], row["bot"], f"{row['points']:,}", row["games"], f"{row['mean']:,.1f}"]
        faults = ", ".join(f"{kind} {count}" for kind, count in row["faults"].items())
        table.add_row(*map(str, [*cells, *([row["wins"]] if wins else []), faults or "-"]))
    return table


def print_standings(results: Results, contest: Contest) -> None:
    """Print a contest's table on stdout."""
    from rich.console import Console

    plain = plain_standings(results, contest)
    games = plain["contest"]["games"]
    title = (
        f"{contest.name}: {contest.game}, {games['played']} of {games['total']} games, "
        f"scored by {contest.scoring}, {contest.status}"
    )
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PLAIN_WIDTH
    console.print(title, markup=False, soft_wrap=True)
    console.print(standings_table(plain["standings"], wins=contest.scoring == "wins"))


#: What an exported record is called after its game's id.
SUFFIX = ".record"
#: The hash chain of an export, beside the records.
CHAIN_FILE = "chain.json"


def open_results(database: str) -> Results:
    """The results at this URL, to be used in a `with` statement. Raises ArenaError."""
    from arena_server.store.database import database_of
    from arena_server.store.reader import Results

    return Results(database_of(database))


def standings(
    contest: ContestChoice = None, database: Database = DEFAULT_DATABASE, as_json: Json = False
) -> None:
    """Print the table of a contest.

    Its columns: rank, bot, points, games, mean points, faults by kind.

    Example: arena standings --contest local --json
    """
    with open_results(database) as results:
        chosen = results.contest(contest)
        if as_json:
            print_json(plain_standings(results, chosen))
        else:
            print_standings(results, chosen)


def read_file(path: Path) -> bytes:
    """The bytes of a record's file. Raises StoreError with one line."""
    from arena_server.errors import StoreError

    try:
        return path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}") from None


def export(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the files go.", show_default=False)],
    contest: ContestChoice = None,
    database: Database = DEFAULT_DATABASE,
    as_json: Json = False,
) -> None:
    """Write the records of games to files.

    The files are FOLDER/g1.record and so on; FOLDER/chain.json has the order in which they were
    stored, their hash chain and its head. Who knows the head, 32 bytes, can prove all of them:
    publish it. `arena verify FOLDER --head HEX`, `arena verify FILE` and `arena replay FILE`
    read them back, on any machine.

    Example: arena export records --contest local
    """
    from arena_server.errors import StoreError

    with open_results(database) as results:
        chosen = results.contest(contest)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            written, head = _write(folder, results, chosen)
        except OSError as error:
            raise StoreError(f"{folder}: cannot be written: {error.strerror}") from None
    if as_json:
        print_json({"contest": chosen.name, "files": written, "head": head})
    else:
        typer.echo(f"exported: {len(written)} games of {chosen.name} to {folder}")
        typer.echo(f"head: {head}")


def _write(folder: Path, results: Results, contest: Contest) -> tuple[list[str], str]:
    """Write records and chain. Returns the records' paths and the head."""
    from arena_server.store.chain import GENESIS

    written, links = [], []
    for row in results.rows(contest):
        path = folder / f"{row['game_id']}{SUFFIX}"
        path.write_bytes(row["record"])
        written.append(str(path))
        links.append((row["place"], row["game_id"], row["chain"].hex()))
    links.sort()
    head = links[-1][2] if links else GENESIS.hex()
    order = [{"game": game, "chain": value} for _, game, value in links]
    chain = {"contest": contest.name, "games": len(links), "head": head, "order": order}
    (folder / CHAIN_FILE).write_text(json.dumps(chain, indent=1) + "\n", encoding="ascii")
    return written, head
