"""`arena backup`: a copy of the database while a server plays."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena_cli.options import DEFAULT_DATABASE, Database, Json, print_json


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The copy, a new file.", show_default=False)],
    database: Database = DEFAULT_DATABASE,
    as_json: Json = False,
) -> None:
    """Copy the database of results, also while a server plays.

    FILE is the database at one moment, with every result that had been announced when the command
    began, and FILE-head beside it shows whether something is missing of the copy. A server can go on
    from it: `arena serve CONFIG --database sqlite:///FILE`. The copy has the secrets of the
    contest's deals, so it is for its owner only (mode 0600).

    A database on PostgreSQL is copied by pg_dump. Files of `arena archive` are named and not copied.

    Example: arena backup friday-18h.db; arena verify --database sqlite:///friday-18h.db
    """
    from arena_server.errors import ConfigError
    from arena_server.store.backup import back_up
    from arena_server.store.database import database_of

    path = database_of(database)
    if not isinstance(path, Path):
        raise ConfigError(
            f"--database: {path} is not a file; copy it by pg_dump, and restore it by pg_restore"
        )
    contests, games, archives = back_up(path, file)
    size = file.stat().st_size
    if as_json:
        more = {"archives": archives} if archives else {}
        print_json({"file": str(file), "contests": contests, "games": games, "bytes": size} | more)
    else:
        ones = "contest" if contests == 1 else "contests"
        typer.echo(f"backed up: {games} games of {contests} {ones} to {file} ({size / 1e6:.1f} MB)")
        for each in archives:
            typer.echo(f"not in it: {each}, the archive of a contest; copy it, too")
