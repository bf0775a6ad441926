"""`arena archive`: the games of a contest that is over, out of the database and still read.

FOLDER/3-friday/arena.db          the contest alone, with all records and their chain, as a database
FOLDER/3-friday/standings.json    the table, as `arena standings --format json`
FOLDER/3-friday/site/             the pages, as `arena site`
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_cli.options import DEFAULT_DATABASE, Database, Json, print_json

if TYPE_CHECKING:
    from arena_server.store.archiving import Archiving
    from arena_server.store.database import Database as StoredIn
    from arena_server.store.schema import ContestRow

#: The folder is made under a name with this end, so that one of the final name is always whole.
PART = ".part"
#: The folder beside the database, unless --to names another.
BESIDE = "-archive"


@dataclass(frozen=True, slots=True)
class ArchiveOptions:
    """Where the archive goes, and what it has to match."""

    to: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="The folder of archives; arena.db-archive beside the database."),
    ] = None
    published: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR|FILE",
            help="The folder of arena publish or its head.json, which the contest must go on from.",
        ),
    ] = None
    pages: Annotated[
        bool, typer.Option("--pages/--no-pages", help="Write the static pages of the contest, too.")
    ] = True
    database: Database = DEFAULT_DATABASE


def command(
    contest: Annotated[
        str, typer.Argument(metavar="NAME|ID", help="Name or number of the contest.", show_default=False)
    ],
    options: ArchiveOptions = ArchiveOptions(),
    as_json: Json = False,
) -> None:
    """Take the games of a contest that is over out of the database.

    Writes FOLDER/ID-NAME with the records and their hash chain as a database of its own, the table and
    the pages; plays every game of it again, compares the chain with the head of the contest and with the
    published one; then deletes the games from the database. Pages, `arena verify` and all other commands
    read them from the file. Killed at any moment it loses nothing: the same command goes on. Servers may
    play other contests in the database meanwhile.

    Example: arena archive friday --published public
    """
    from arena_cli.results import open_results
    from arena_server.core.life import FINAL
    from arena_server.errors import StoreError
    from arena_server.store.database import database_of, home_of
    from arena_server.store.stages import check_entrants

    database = database_of(options.database)
    head = None
    with open_results(options.database) as results:
        chosen = results.contest(contest)
        if chosen.status not in FINAL:
            raise StoreError(
                f"{database}: contest {chosen.id} {chosen.name} is {chosen.status} and may go on: "
                "expected one that has ended for good; `arena admin abort` ends it"
            )
        if options.published is not None:
            head = _published(options.published, chosen, results)
        if chosen.archive is None and (problem := check_entrants(results, chosen)) is not None:
            raise StoreError(problem)
    beside = home_of(database)
    folder = options.to or beside.with_name(beside.name + BESIDE)
    home = folder.resolve() / f"{chosen.id}-{chosen.name}"
    try:
        games, removed = archive_contest(database, chosen, home, head, pages=options.pages)
    except OSError as error:
        raise StoreError(f"{error.filename or home}: cannot be written: {error.strerror}") from None
    if as_json:
        print_json({"contest": chosen.name, "id": chosen.id, "folder": str(home), "games": games})
    elif removed:
        typer.echo(f"archived: {games} games of {chosen.name} in {home}, verified; {removed} taken out")
    else:
        typer.echo(f"archived already: {games} games of {chosen.name} in {home}")


def _published(path: Path, chosen: ContestRow, results: Any) -> bytes:
    """The published head of this contest. Raises StoreError."""
    from arena_server.errors import StoreError
    from arena_server.store.published import PublishedHead

    published = PublishedHead.read(path)
    if not published.is_of(chosen):
        raise StoreError(f"{path}: {published}, not of contest {chosen.id} {chosen.name}")
    published.check(results)
    return bytes.fromhex(published.head)


def archive_contest(
    database: StoredIn,
    contest: ContestRow,
    home: Path,
    head: bytes | None,
    *,
    pages: bool = True,
    step: Callable[[str], None] = lambda _: None,
) -> tuple[int, int]:
    """Archive a contest that has ended for good in `home`, or go on; its games, and those taken out now.

    `step` is called with each durable step. Raises StoreError and OSError.
    """
    from arena_server.store.archiving import Archiving
    from arena_server.store.reader import Results

    with Archiving(database, contest.id, step=step) as archiving:
        file = home / "arena.db"
        if contest.archive is None:
            archiving.close()
            _write(archiving, contest, home, head, pages=pages, step=step)
            archiving.mark(file)
        elif contest.archive["file"] != str(file) and file.exists():  # it was moved there
            _verify(file, contest, head)
            archiving.mark(file)
        removed = archiving.remove()
    with Results(database) as results:
        return results.games.games_stored(results.contest(str(contest.id))), removed


def _write(
    archiving: Archiving,
    contest: ContestRow,
    home: Path,
    head: bytes | None,
    *,
    pages: bool,
    step: Callable[[str], None],
) -> None:
    """Write `home` as a whole, with games that are verified."""
    part = home.with_name(home.name + PART)
    _clear(home, part, contest)
    part.mkdir(parents=True, mode=0o700)
    file = part / "arena.db"
    archiving.copy(file)
    _verify(file, contest, head)
    step("verified")
    _write_tables(file, contest, pages=pages)
    step("written")
    for folder, _, names in os.walk(part):
        for path in (folder, *(os.path.join(folder, name) for name in names)):
            _sync(path)
    part.replace(home)
    _sync(home.parent)
    step("renamed")


def _clear(home: Path, part: Path, contest: ContestRow) -> None:
    """Remove what a command has left that was killed before the games were read from it."""
    from arena_server.errors import StoreError
    from arena_server.store.reader import Results

    if part.exists():
        shutil.rmtree(part)
    if home.exists():
        try:
            with Results(home / "arena.db") as results:
                known = [(each.id, each.name, each.started_at) for each in results.contests()]
        except StoreError:
            known = []
        if known != [(contest.id, contest.name, contest.started_at)]:
            raise StoreError(f"{home}: exists already, and is no archive of this contest; give another --to")
        shutil.rmtree(home)


def _verify(file: Path, contest: ContestRow, head: bytes | None) -> None:
    """Raise StoreError unless all games of the file are true, and lead to the contest's head over `head`."""
    from arena_cli.verification import Verification
    from arena_cli.verify import check_contest
    from arena_server.store.reader import Results

    verification = Verification()
    with Results(file) as results:
        check_contest(results, results.contest(str(contest.id)), None, verification, entrants=False)
    if head is not None:
        verification.compare_head(head)
    verification.require_no_error()


def _write_tables(file: Path, contest: ContestRow, *, pages: bool) -> None:
    from arena_cli.options import site_identity
    from arena_cli.results import standings_json
    from arena_cli.site import write_site
    from arena_server.store.reader import Results

    with Results(file) as results:
        chosen = results.contest(str(contest.id))
        table = json.dumps(standings_json(results, chosen), indent=2)
        file.with_name("standings.json").write_text(f"{table}\n", encoding="utf-8")
    if pages:
        write_site(file.with_name("site"), file, chosen, site_identity(None), None)


def _sync(path: str | Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
