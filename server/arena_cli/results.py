"""`arena standings`, `arena export`, and the table of standings that other commands print too."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_cli.options import DEFAULT_DATABASE, ContestChoice, Database, Json, print_json
from arena_server.core.standings import plain_row

if TYPE_CHECKING:
    from rich.table import Table

    from arena_server.store.reader import Results
    from arena_server.store.schema import Contest

#: The width of tables that do not go to a terminal, so that no cell is wrapped or cut.
PLAIN_WIDTH = 160
#: The suffix of an exported record, after its game's id.
SUFFIX = ".record"
#: The hash chain of an export, next to the records.
CHAIN_FILE = "chain.json"


def standings(
    contest: ContestChoice = None, database: Database = DEFAULT_DATABASE, as_json: Json = False
) -> None:
    """Print the standings of a contest.

    The columns are rank, bot, points, games, mean points, and faults by kind.

    Example: arena standings --contest local --json
    """
    with open_results(database) as results:
        chosen = results.contest(contest)
        if as_json:
            print_json(plain_standings(results, chosen))
        else:
            print_standings(results, chosen)


def open_results(database: str) -> Results:
    """Open the results at a database URL, for use in a `with` statement. Raises ArenaError."""
    from arena_server.store.database import database_of
    from arena_server.store.reader import Results

    return Results(database_of(database))


def plain_standings(results: Results, contest: Contest) -> dict[str, Any]:
    """Return a contest and its standings as JSON types."""
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


def print_standings(results: Results, contest: Contest) -> None:
    """Print a contest's standings on stdout."""
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


def standings_table(rows: Sequence[dict[str, Any]], *, wins: bool = False) -> Table:
    """Return the table to print; `rows` are results of `plain_row`."""
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


def export(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder to write.", show_default=False)
    ],
    contest: ContestChoice = None,
    database: Database = DEFAULT_DATABASE,
    as_json: Json = False,
) -> None:
    """Write the records of all games to files.

    Writes FOLDER/g1.record and so on, and FOLDER/chain.json: the order in which the records were
    stored, their hash chain, and its head. The head, 32 bytes, proves all records: publish it.
    `arena verify FOLDER --head HEX`, `arena verify FILE` and `arena replay FILE` read the files
    on any machine.

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
    """Write the records and the chain. Return the records' paths and the head (hexadecimal)."""
    from arena_server.store.chain import GENESIS

    written, links = [], []
    for row in results.rows(contest):
        path = folder / f"{row['game_id']}{SUFFIX}"
        _write_private(path, row["record"])
        written.append(str(path))
        links.append((row["place"], row["game_id"], row["chain"].hex()))
    links.sort()
    head = links[-1][2] if links else GENESIS.hex()
    order = [{"game": game, "chain": value} for _, game, value in links]
    chain = {"contest": contest.name, "games": len(links), "head": head, "order": order}
    _write_private(folder / CHAIN_FILE, (json.dumps(chain, indent=1) + "\n").encode("ascii"))
    return written, head


def _write_private(path: Path, data: bytes) -> None:
    """Write a file that only its owner can read, if it is new: records may be secret until the end."""
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(data)


def find_path(target: str) -> Path | None:
    """Return the file or folder `target`, or None for the id of a game. Raises StoreError for neither."""
    from arena_server.errors import StoreError

    path = Path(target)
    if path.exists():
        return path
    if path.name != target or path.suffix:
        raise StoreError(f"{target}: no such file or folder")
    return None


def read_file(path: Path) -> bytes:
    """Return the bytes of a file. Raises StoreError."""
    from arena_server.errors import StoreError

    try:
        return path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}") from None
