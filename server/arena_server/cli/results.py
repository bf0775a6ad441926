"""`arena standings`, `arena verify`, `arena export`: what a database of results is good for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena_server.cli.options import DEFAULT_DATABASE, ContestChoice, Database, Json, print_json

if TYPE_CHECKING:
    from arena_server.store.reader import Results

#: What an exported record is called after its game's id.
SUFFIX = ".record"


def _open(database: str) -> Results:
    from arena_server.store.reader import Results
    from arena_server.store.url import database_of

    return Results(database_of(database))


def standings(
    contest: ContestChoice = None, database: Database = DEFAULT_DATABASE, as_json: Json = False
) -> None:
    """Print the table of a contest.

    Its columns: rank, bot, points, games, mean points, faults by kind.

    Example: arena standings --contest local --json
    """
    from arena_server.cli.table import plain_standings, print_standings

    with _open(database) as results:
        chosen = results.contest(contest)
        if as_json:
            print_json(plain_standings(results, chosen))
        else:
            print_standings(results, chosen)


def verify(
    target: Annotated[
        str | None,
        typer.Argument(metavar="[GAME|FILE]", help="A game's id or a record's file; all games if absent."),
    ] = None,
    contest: ContestChoice = None,
    database: Database = DEFAULT_DATABASE,
    as_json: Json = False,
) -> None:
    """Check that the records of games are true.

    Every game is played again, and all numbers compared: moves, points, clocks, totals, commit.
    Any changed byte is refused. Exit status 1 if a game is not true, and one line that says
    which, where, what was expected and what was found.

    Example: arena verify --contest local
    """
    from arena_protocol.record import RecordError
    from arena_server.errors import StoreError

    count, wrong = 0, []
    for name, data, row in _evidence(target, contest, database):
        count += 1
        try:
            _check(name, data, row)
        except RecordError as error:
            wrong.append({"game": name, "error": str(error)})
    if as_json:
        print_json({"games": count, "verified": count - len(wrong), "wrong": wrong})
    if wrong:
        more = f" (and {len(wrong) - 1} more games)" if len(wrong) > 1 else ""
        raise StoreError(f"not verified: {wrong[0]['error']}{more}")
    if not as_json:
        typer.echo(f"verified: {count} {'game' if count == 1 else 'games'}")


Row = dict[str, object]


def _evidence(
    target: str | None, contest: str | None, database: str
) -> Iterator[tuple[str, bytes, Row | None]]:
    """Yield what to verify: a name, the record's bytes and, from a database, the row beside it."""
    if target is not None and Path(target).is_file():
        yield target, read_file(Path(target)), None
        return
    with _open(database) as results:
        chosen = results.contest(contest)
        if target is not None:
            results.record(chosen, target)  # says so if there is none
        for row in results.rows(chosen, target):
            yield row["game_id"], row.pop("record"), {**row, "contest": chosen.name}


def _check(name: str, data: bytes, row: Row | None) -> None:
    """Raise RecordError, naming the game, if the record or the row beside it is not true."""
    from arena_protocol.record import RecordError, decode, verify

    try:
        record = decode(data)
    except RecordError as error:
        raise RecordError(f"game {name}: {error}") from None
    verify(record)
    for key, found in (row or {}).items():
        expected: object = len(record.plies) if key == "plies" else getattr(record, key)
        if key == "faults":
            expected = [(fault.seat, fault.ply, str(fault.kind), fault.line) for fault in record.faults]
        if isinstance(expected, tuple):
            expected = list(expected)
        if expected != found:
            raise RecordError(f"game {name}, database: {key}: expected {expected!r}, found {found!r}")


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

    The files are FOLDER/g1.record and so on. `arena verify FILE` and `arena replay FILE` read
    them back, on any machine.

    Example: arena export records --contest local
    """
    from arena_server.errors import StoreError

    written = []
    with _open(database) as results:
        chosen = results.contest(contest)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for game_id, data in results.records(chosen):
                path = folder / f"{game_id}{SUFFIX}"
                path.write_bytes(data)
                written.append(str(path))
        except OSError as error:
            raise StoreError(f"{folder}: cannot be written: {error.strerror}") from None
    if as_json:
        print_json({"contest": chosen.name, "files": written})
    else:
        typer.echo(f"exported: {len(written)} games of {chosen.name} to {folder}")
