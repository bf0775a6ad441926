"""`arena report`: a contest as one web page that needs no server and no other file."""

from __future__ import annotations

from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_cli.export_files import unseen_json, unseen_text, withheld_text
from arena_cli.options import (
    DEFAULT_DATABASE,
    ContestChoice,
    Database,
    Json,
    SiteConfig,
    print_json,
    site_identity,
)
from arena_cli.site import documents, encoded, game_json, listed_games, site_document

if TYPE_CHECKING:
    from arena_server.store.reader import Results
    from arena_server.store.schema import ContestRow

MB = 1_000_000


class PackedDocuments:
    """Documents of the API as a page holds them, by their paths: `size` is their length in bytes."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.size = 0

    def add(self, found: dict[str, bytes], most: float) -> bool:
        """Add all of them, unless the page would hold more than `most` bytes; return whether it did not."""
        from arena_server.web.bundle import packed

        files = {path: packed(data) for path, data in found.items()}
        size = sum(len(path) + len(text) for path, text in files.items())
        if self.size + size > most:
            return False
        self.files |= files
        self.size += size
        return True


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The page to write.", show_default=False)],
    contest: ContestChoice = None,
    database: Database = DEFAULT_DATABASE,
    megabytes: Annotated[
        float,
        typer.Option(min=0.001, metavar="N", help="How much it may hold: the newest games come first."),
    ] = 32,
    config: SiteConfig = None,
    as_json: Json = False,
) -> None:
    """Write a contest as one web page, to be sent, kept or opened without a network.

    FILE gets the standings with their tie-breaks, the cross-table, rounds or bracket, ratings with their
    intervals, points and time a game, faults with their lines, and a replay of every game, which checks
    its record in the browser. It asks no server for anything. If the records of all games are more than
    --megabytes, the newest ones are in it, and the others are listed only. What `arena replay` withholds
    is withheld here too. Of a running contest it has the results that spectators may see by now.

    Example: arena report friday.html --contest friday
    """
    from arena_cli.results import open_results
    from arena_server.errors import StoreError
    from arena_server.store.files import replace_file
    from arena_server.terms.about import headline
    from arena_server.web.bundle import report_page

    about = site_identity(config)
    with open_results(database) as results:
        chosen = results.contest(contest)
    found = PackedDocuments()
    answer = _collect(found, chosen, database, megabytes)
    title = f"{headline(chosen.name, chosen.about)}: report"
    page = report_page(title, chosen.id, found.files, about).encode()
    try:
        if file.exists() and not file.is_file():  # such as /dev/stdout
            file.write_bytes(page)
        else:
            replace_file(file.resolve(), page, 0o666)
    except OSError as error:
        raise StoreError(f"{file}: cannot be written: {error.strerror}") from None
    if as_json:
        print_json({"contest": chosen.name, "file": str(file), "bytes": len(page)} | answer)
        return
    older = "; 1 older game is" if answer["left_out"] == 1 else f"; {answer['left_out']:,} older games are"
    left = f"{older} listed without a replay (--megabytes)" if answer["left_out"] else ""
    typer.echo(
        f"written: {answer['games']} games of {chosen.name} to {file}, {len(page) / MB:.1f} MB"
        f"{left}{withheld_text(answer['withheld'])}{unseen_text(answer.get('not_shown', 0))}"
    )


def _collect(found: PackedDocuments, contest: ContestRow, database: str, megabytes: float) -> dict[str, Any]:
    """Fill `found`; return how many games have a replay in it, and why the others have none.

    Raises StoreError if the tables alone are too much.
    """
    from arena_cli.results import open_results
    from arena_server.errors import StoreError
    from arena_server.store.database import database_of
    from arena_server.store.deals import WithheldError
    from arena_server.web.archive import Archive

    given = dict(documents(Archive(database_of(database)), contest.id))
    if not found.add(given, megabytes * MB):
        raise StoreError(
            f"the tables of {contest.name} alone are more than {megabytes:g} MB: raise --megabytes, or let "
            "`arena site` write a folder, which has no bound"
        )
    games = [game for path, data in given.items() for game in listed_games(path, data)]
    withheld: list[str] = []
    left = games[:]
    # What a session reads is one moment: all games of the documents are stored in a later one.
    with open_results(database) as results:
        while left:
            try:
                files = _record_files(results, contest, left[-1], len(games))
            except WithheldError:
                withheld.append(left.pop())
                continue
            # Once one does not fit, no older one is in it: a reader can tell which games have a replay.
            if not found.add(files, megabytes * MB):
                break
            left.pop()
        unseen = unseen_json(results.games.games_stored(contest) - len(games))
    now = datetime.now(UTC).replace(tzinfo=None).isoformat(timespec="seconds")
    found.add({"site.json": encoded(site_document(contest) | {"written_at": now, "left_out": left})}, inf)
    written = len(games) - len(left) - len(withheld)
    return {"games": written, "left_out": len(left), "withheld": withheld[::-1]} | unseen


def _record_files(results: Results, contest: ContestRow, game: str, last: int) -> dict[str, bytes]:
    """What the page needs to replay a game. Raises WithheldError, and StoreError for a damaged record."""
    from arena_server.web.scenes import IN_PAGES

    record = results.games.record(contest, game, last)
    path = f"contests/{contest.id}/records/{game}"
    plain = game_json(game, record)
    if contest.game in IN_PAGES:
        return {f"{path}.record": record}
    return {f"{path}.record": record, f"{path}.json": encoded({"scenes": plain.get("scenes")})}
