"""A copy of an SQLite database that a server may be writing, with its file of announced results."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from arena_server.errors import StoreError
from arena_server.store.database import connect_sqlite, no_room
from arena_server.store.head import (
    FILE_MODE,
    HEAD_SUFFIX,
    beside,
    check_announced,
    read_head,
    renew_head,
)
from arena_server.store.preflight import check_readable, is_read_only

#: The copy is made under this name, so that a file of the wanted name is always whole.
PART_SUFFIX = ".part"


def back_up(database: Path, to: Path) -> tuple[int, int, list[str]]:
    """Copy `database` to the new file `to`; returns the numbers of contests and of games in the copy.

    Last come the files of archives, which are not copied.

    The copy is one moment of the database, at which everything had been stored that was announced
    when the call began. Raises StoreError, and leaves no file then.
    """
    for path in (to, beside(to, HEAD_SUFFIX)):
        if path.exists():
            raise StoreError(f"{path}: exists already; give the copy another name")
    check_readable(database)
    part = to.with_name(to.name + PART_SUFFIX)
    try:
        _remove(part)  # of a copy that was killed
        numbers = _copy(database, part)
        # A copy without its head file would be taken for one that has lost it.
        with suppress(FileNotFoundError):  # a database without a contest has none
            os.replace(beside(part, HEAD_SUFFIX), beside(to, HEAD_SUFFIX))
        os.replace(part, to)
    except OSError as error:
        raise StoreError(f"{error.filename or to}: cannot be written: {error.strerror}") from None
    finally:
        _remove(part)
    return numbers


def _copy(database: Path, part: Path) -> tuple[int, int, list[str]]:
    # Not by SQLite, whose message does not say why.
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, FILE_MODE))
    announced = read_head(database)
    with connect_sqlite(part) as copy:
        with connect_sqlite(database, read_only=is_read_only(database)) as source:
            try:
                source.backup(copy)
            except sqlite3.Error as error:
                raise no_room(error, part.with_name(part.name.removesuffix(PART_SUFFIX))) or error from None
        copy.execute("PRAGMA journal_mode=DELETE")  # one file instead of three
        check_announced(part, announced, copy)
        (damage,) = copy.execute("PRAGMA quick_check(1)").fetchone()
        if damage != "ok":
            raise StoreError(f"{database}: the database is damaged ({damage}); its copy was removed")
        renew_head(part, copy)
        ((contests,), (games,)) = (
            copy.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - our own names
            for table in ("contests", "games")
        )
        archives = copy.execute("SELECT json_extract(config, '$.archive.file') FROM contests ORDER BY id")
        files = [file for (file,) in archives if file is not None]
    with part.open("rb") as file:
        os.fsync(file.fileno())
    return contests, games, files


def _remove(part: Path) -> None:
    for suffix in ("", HEAD_SUFFIX, "-journal"):
        with suppress(FileNotFoundError):
            beside(part, suffix).unlink()
