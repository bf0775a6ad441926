"""`arena site`: a contest as static files, for any web server that serves a folder.

    DIR/index.html, contest.html, bot.html, game.html ..., site-DIGEST.js           the pages of --web-port
    DIR/api/v1/site.json, contests.json                                             what the pages read first
    DIR/api/v1/contests/N.json, contests/N/games-K.json                             standings, list of games
    DIR/api/v1/contests/N/schedule-K.json                                           if games are to be played
    DIR/api/v1/contests/N/ratings.json                                              if numpy is installed
    DIR/api/v1/contests/N/rounds.json                                               of a format that draws
    DIR/api/v1/contests/N/faults.json                                               the latest ones
    DIR/api/v1/contests/N/highlights.json                                           the games worth a look
    DIR/api/v1/contests/N/chain-K.json                                              if the contest is over
    DIR/api/v1/contests/N/pairs-K.json                                              with paired deals
    DIR/api/v1/contests/N/records/gM.json, gM.record                                the games
    DIR/api/v1/contests/N/feed.atom, contest.ics                                    with --url (site_links.py)
    DIR/api/v1/contests/N/bots/K.atom, K.ics                                        the same of each bot
    DIR/game-gM.html, bot-NAME.html                                                 for links (site_links.py)

The paths are those of the read-only API, so that the pages are the same files with and without a server.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from html import escape
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

if TYPE_CHECKING:
    from arena_cli.site_links import SiteLinks
    from arena_server.store.database import Database as StoredIn
    from arena_server.store.schema import ContestRow
    from arena_server.web.archive import Archive
    from arena_server.web.identity import SiteIdentity

#: The pages that need no server; all others of the web page are left out.
PAGES = ("index", "contest", "bot", "game", "pair", "replay")
#: The pages that the header of every page links to.
LINKED = ("index", "replay")
#: As many as the page loads: 100,000 games (MOST_PLANNED of gamelist.js).
SCHEDULE_CHUNKS = 50
API = Path("api") / "v1"
#: In a folder that is being written, also where that was broken off: the next `arena site` may clear it.
PART = "arena-site.part"
_LINK_PAGE = re.compile(r"(game-g\d+|bot-[A-Za-z0-9_.-]+)\.html")


def command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write.", show_default=False)],
    contest: ContestChoice = None,
    database: Database = DEFAULT_DATABASE,
    config: SiteConfig = None,
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where DIR will be served; links to its games then show a picture."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a contest as static web pages.

    DIR gets standings, cross-table, the list of games with filters, and a replay of every game; each
    replay checks its record in the browser. Any web server can serve the folder. To update it, run
    the command again. Of a running contest it has the results that spectators may see by now, after
    `contest.spectator_delay` and before `contest.freeze_at`, and lists the games to be played.
    With `deals = "paired"` a record is withheld until all games on its deal have a result.
    A link to game-gM.html or bot-NAME.html says in a chat what it shows, with --url also by a picture.

    Example: arena site public --contest local; python -m http.server --directory public
    """
    from arena_cli.results import open_results
    from arena_server.errors import ConfigError, StoreError
    from arena_server.store.database import database_of

    about = site_identity(config)
    if url is not None and not url.startswith(("https://", "http://")):
        raise ConfigError(f"--url: expected an address such as https://example.org/arena, got {url!r}")
    with open_results(database) as results:
        chosen = results.contest(contest)
        try:
            games, withheld, unseen = write_site(folder, database_of(database), chosen, about, url)
        except OSError as error:
            raise StoreError(f"{error.filename or folder}: cannot be written: {error.strerror}") from None
    if as_json:
        written = {"contest": chosen.name, "folder": str(folder), "games": games, "withheld": withheld}
        print_json(written | unseen_json(unseen))
    else:
        more = withheld_text(withheld) + unseen_text(unseen)
        typer.echo(f"written: {games} games of {chosen.name} to {folder}{more}")


def write_site(
    folder: Path,
    database: StoredIn,
    contest: ContestRow,
    about: SiteIdentity,
    url: str | None,
) -> tuple[int, list[str], int]:
    """Write the pages of a contest; the number of records, the games without one, and how many are not shown.

    Raises ConfigError for a folder with other files, and OSError.
    """
    from arena_cli.site_links import SiteLinks
    from arena_server.web.archive import Archive

    _clear(folder)
    _write_pages(folder, about)
    links = SiteLinks(folder, contest.id, about, url)
    written = _write_data(folder / API, Archive(database), database, contest, links)
    (folder / PART).unlink()
    return written


def _clear(folder: Path) -> None:
    """Remove what an earlier `arena site` wrote, and mark the folder with PART.

    Raises ConfigError for a folder with other files.
    """
    from arena_server.errors import ConfigError
    from arena_server.web.bundle import LASTING

    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder}: expected a folder, found a file")
    if (folder / API / "site.json").is_file() or (folder / PART).is_file():
        (folder / PART).touch()
        if (folder / API).exists():
            shutil.rmtree(folder / API)
        for path in folder.iterdir():
            if LASTING.fullmatch(path.name) or _LINK_PAGE.fullmatch(path.name):
                path.unlink()
    elif folder.is_dir() and any(folder.iterdir()):
        raise ConfigError(f"{folder}: not empty, and not written by arena site; name a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / PART).touch()


def _write_pages(folder: Path, about: SiteIdentity) -> None:
    from arena_server.web.bundle import site_files
    from arena_server.web.security import CONTENT_POLICY

    # `frame-ancestors` has no effect in a page; the other rules have.
    policy = "; ".join(rule for rule in CONTENT_POLICY.split("; ") if not rule.startswith("frame-"))
    head = f'<meta http-equiv="Content-Security-Policy" content="{escape(policy, quote=False)}">\n'
    for name, data in site_files(PAGES, LINKED, head, about).items():
        (folder / name).write_bytes(data)


def documents(archive: Archive, number: int) -> Iterator[tuple[str, bytes]]:
    """The documents of a contest by their paths under API, without its records and `contests.json`."""
    from arena_server.web.highlights import HighlightDocuments
    from arena_server.web.ratings import RatingDocuments
    from arena_server.web.shown_results import NotFoundError

    home = f"contests/{number}"
    document = archive.contest(number)
    yield f"{home}.json", encoded(document)
    chunks = range(-(-document["list"]["games"] // document["list"]["chunk"]))
    for chunk in chunks:
        yield f"{home}/games-{chunk}.json", archive.games(number, chunk)
        if document.get("paired"):
            yield f"{home}/pairs-{chunk}.json", archive.pairs(number, chunk)
    with suppress(NotFoundError):
        yield f"{home}/ratings.json", encoded(RatingDocuments().find(archive, number))
    with suppress(NotFoundError):
        yield f"{home}/rounds.json", archive.rounds(number)
    yield f"{home}/faults.json", encoded(archive.faults(number))
    yield f"{home}/highlights.json", encoded(HighlightDocuments().find(archive, number))
    yield from _bot_documents(archive, number, document["bots"])
    schedule = document["schedule"]
    if document["games_played"] < schedule["games"]:
        for chunk in range(min(SCHEDULE_CHUNKS, -(-schedule["games"] // schedule["chunk"]))):
            yield f"{home}/schedule-{chunk}.json", archive.schedule(number, chunk)
    if document["head"] is not None:
        for chunk in chunks:
            yield f"{home}/chain-{chunk}.json", archive.chain(number, chunk)


def _bot_documents(archive: Archive, number: int, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    from arena_server.web.bots import BotDocuments, RatingHistories
    from arena_server.web.shown_results import NotFoundError

    bots, histories = BotDocuments(), RatingHistories()
    is_rated = True
    try:
        histories.fill(archive, number)
    except NotFoundError:
        is_rated = False
    for place, name in enumerate(names):
        yield f"contests/{number}/bots/{place}.json", encoded(bots.find(archive, number, place))
        if is_rated:
            history = histories.document(archive, number, name)
            yield f"contests/{number}/history-{place}.json", encoded(history)


def _write_data(
    folder: Path, archive: Archive, database: StoredIn, contest: ContestRow, links: SiteLinks
) -> tuple[int, list[str], int]:
    """Write the documents of the API; returns the same as `write_site`."""
    from arena_cli.results import with_progress
    from arena_server.store.reader import Results

    home = folder / "contests" / str(contest.id) / "records"
    for each in (home, home.with_name("bots")):
        each.mkdir(parents=True)
    shown: set[str] = set()
    for path, data in documents(archive, contest.id):
        (folder / path).write_bytes(data)
        shown.update(listed_games(path, data))
    games, withheld = 0, []
    # What a session reads is one moment: all games of the documents are stored in a later one.
    with Results(database) as results:
        unseen = results.games.games_stored(contest) - len(shown)
        rows = results.games.records(contest, len(shown))
        for name, record in with_progress(rows, "writing", len(shown)):
            if name not in shown:  # it may not be seen yet
                continue
            if record is None:
                withheld.append(name)
                continue
            (home / f"{name}.record").write_bytes(record)
            (home / f"{name}.json").write_bytes(encoded(game_json(name, record)))
            links.add(name, record)
            games += 1
    listed = [each for each in archive.contests() if each["id"] == contest.id]
    (folder / "contests.json").write_bytes(encoded({"contests": listed}))
    links.end(archive)
    # Last: the folder is known by this file, and by PART before.
    (folder / "site.json").write_bytes(
        encoded(site_document(contest) | {"pages": True, "feeds": links.url is not None})
    )
    return games, withheld, unseen


def listed_games(path: str, data: bytes) -> list[str]:
    """The ids of the games in a document of `documents`, in their order; none in most."""
    return [row[0] for row in json.loads(data)] if "/games-" in path else []


def site_document(contest: ContestRow) -> dict[str, Any]:
    """What the pages read first: nothing is live, and there is no server that knows the state of a game."""
    from arena_protocol.messages import VERSION

    return {"protocol": VERSION, "name": contest.name, "live": False, "state": False, "contest": None}


def game_json(name: str, data: bytes) -> dict[str, Any]:
    """Return the record of a game as JSON types. Raises StoreError for one that is damaged."""
    from arena_protocol.record import RecordError
    from arena_server.errors import StoreError
    from arena_server.web.documents import stored_record_json

    try:
        return stored_record_json(data)
    except RecordError as error:
        raise StoreError(f"game {name}: {error}; `arena verify` has the details") from None


def encoded(value: object) -> bytes:
    """A document of the API."""
    return json.dumps(value, separators=(",", ":")).encode()
