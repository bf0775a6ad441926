"""`arena publish`: standings and the head of the chain, for the organiser's web space.

    DIR/index.html      the standings as a page that needs no other file
    DIR/standings.json  the document `contests/N.json` of the API, which the page is made of
    DIR/head.json       the head of the chain: `arena verify --published` compares a database with it

Everything is what the page of the contest shows at this moment, after the spectator delay: it comes from
the same archive. No record, no line of a bot and no secret is in it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_cli.options import DEFAULT_DATABASE, ContestChoice, Database, Json, print_json
from arena_cli.tables import bdi

if TYPE_CHECKING:
    from arena_server.store.published import PublishedHead
    from arena_server.store.reader import Results
    from arena_server.store.schema import ContestRow
    from arena_server.web.archive import Archive

Cards = Sequence[Mapping[str, Any]]

STYLE = """
:root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.4 }
body { margin: 1rem auto; max-width: 60rem; padding: 0 1rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100% }
caption { font-weight: bold; padding-bottom: .5rem; text-align: left }
th, td { border-bottom: 1px solid #8886; padding: .25rem .5rem }
td:nth-child(2) { white-space: nowrap }
code { overflow-wrap: anywhere }
@page { size: A4 landscape; margin: 10mm }
@media print {
  :root { color-scheme: light; font-size: 9pt }
  body { margin: 0; max-width: none; padding: 0 }
  h1, p { margin: 0 0 .4rem }
  th, td { line-height: 1.25; padding-block: .1rem }
  .wide { overflow: visible }
  thead { display: table-header-group }
  tr { break-inside: avoid }
}
"""


def command(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder to write into.", show_default=False)
    ],
    contest: ContestChoice = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace what DIR has of another contest.", show_default=False)
    ] = False,
    database: Database = DEFAULT_DATABASE,
    as_json: Json = False,
) -> None:
    """Write the standings and the head of the chain for a web space.

    DIR gets a page and two JSON files, which replace those of the last time one by one, each whole. They
    show what the page of the contest shows, after the spectator delay. The head fixes all results so far:
    if DIR holds an earlier head that the database does not go on from, as after a restored folder, nothing
    is written and the exit status is 1. So it is if DIR has another contest, also one of the same
    name, unless --replace is given. With a copy of head.json that is kept
    elsewhere `arena verify --published` checks the same.

    Example: arena publish /var/www/cup --contest cup     (every five minutes by cron)
    """
    from arena_cli.results import open_results
    from arena_server.errors import StoreError
    from arena_server.store.database import database_of
    from arena_server.store.files import locked, replace_file
    from arena_server.web.archive import Archive

    busy = f"{folder}: another arena publish is writing it; try again later"
    with open_results(database) as results:
        chosen = _chosen(results, contest, folder, replace=replace)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with locked(folder, os.O_RDONLY, busy):
                archive = Archive(database_of(database), live=True)
                document = archive.contest(chosen.id)
                cards = _cards(archive, chosen.id)
                # `results` may have seen fewer games: what a session reads is one moment.
                with open_results(database) as now:
                    head = _head(now, now.contest(str(chosen.id)), document)
                for name, text in _files(document, head, cards).items():
                    replace_file(folder / name, text.encode(), 0o666)
        except OSError as error:
            raise StoreError(
                f"{error.filename2 or error.filename or folder}: cannot be written: {error.strerror}"
            ) from None
    if as_json:
        print_json({"folder": str(folder), "published": asdict(head)})
    else:
        typer.echo(f"published: {_games(document)} of {document['name']} to {folder}")


def _chosen(results: Results, contest: str | None, folder: Path, *, replace: bool) -> ContestRow:
    """The contest that is published. Raises StoreError if the folder may not have it."""
    from arena_server.errors import StoreError
    from arena_server.store.published import HEAD_JSON, PublishedHead
    from arena_server.store.schema import plain_time

    published = PublishedHead.read(folder) if (folder / HEAD_JSON).exists() else None
    if published is not None and not replace:
        published.check(results)
    chosen = results.contest(contest)
    if published is None:
        return chosen
    if published.is_of(chosen):  # what is replaced on purpose is another contest
        published.check(results)
    elif not replace:
        raise StoreError(
            f"{published}, and this is contest {chosen.id} {chosen.name}, which began at "
            f"{plain_time(chosen.started_at)}: publish it to another folder, or replace the other by "
            "--replace"
        )
    return chosen


def _head(results: Results, contest: ContestRow, document: dict[str, Any]) -> PublishedHead:
    """The head of what the document lists."""
    from arena_server.store.published import PublishedHead

    games = document["list"]["games"]
    head, now = results.games.head(contest, games).hex(), datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return PublishedHead(contest.id, contest.name, document["started_at"], games, head, now)


def _games(document: dict[str, Any]) -> str:
    from arena_cli.results import games_text

    return games_text(document["games_played"], document["games"])


def _cards(archive: Archive, number: int) -> Cards:
    """The cards of the players of a Swiss, none of another format."""
    from arena_server.web.shown_results import NotFoundError

    try:
        found: Cards = json.loads(archive.rounds(number)).get("cards", ())
    except NotFoundError:
        return ()
    return found


def _files(document: dict[str, Any], head: PublishedHead, cards: Cards) -> dict[str, str]:
    """The files by their names. The head is the last: the others never show less than it says."""
    from arena_server.store.published import HEAD_JSON

    return {
        "standings.json": json.dumps(document | {"published": asdict(head)}) + "\n",
        "index.html": page(document, head, cards),
        HEAD_JSON: json.dumps(asdict(head)) + "\n",
    }


def page(document: dict[str, Any], head: PublishedHead, cards: Cards = ()) -> str:
    """The standings of a document as a page without scripts, which loads nothing."""
    from arena_cli.player_cards import cards_table
    from arena_cli.results import decision_text, standings_table, teams_table
    from arena_server.stats.scoring import POINTS
    from arena_server.web.previews import contest_preview

    rows, scoring = document["standings"], document["scoring"]
    about = document["about"]
    title = f"{document['name']}: {document['game_title']}, {_games(document)}, {document['status']}"
    notes = [f"ranked by score: {document['ranked_by']}"] if "ranked_by" in document else []
    if not notes and len({row["games"] for row in rows}) > 1:
        notes = [f"ranked by {scoring} a game, because the bots have different numbers of games"]
    notes += map(decision_text, document.get("jury", ()))
    table = standings_table(title, rows, wins=scoring != POINTS, notes=notes).as_html()
    if "teams" in document:
        table += teams_table(document["name"], document["teams"]).as_html()
    if cards:
        table += cards_table(f"{document['name']}: player cards", cards).as_html()
    name = escape(about.get("title", document["name"]))
    preview = contest_preview(document)
    said = escape(preview.description)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>{name}: standings</title>
<meta name="description" content="{said}">
<meta property="og:title" content="{escape(preview.title)}">
<meta property="og:description" content="{said}">
<meta name="twitter:card" content="summary">
<style>{STYLE}</style>
</head>
<body>
<main>
<h1><bdi>{name}</bdi></h1>
{_about(about)}<div class="wide">
{table}</div>
<p>Head of the chain of {head.games} records, at {head.written_at}: <code>{head.head}</code></p>
<p>It fixes every result so far: keep <a href="head.json">head.json</a>. The organiser's database has to go
on from it: <code>arena verify --published head.json</code> checks that. The table as data:
<a href="standings.json">standings.json</a>.</p>
</main>
</body>
</html>
"""


def _about(about: dict[str, Any]) -> str:
    """What people read of the contest, as paragraphs."""
    where = [about[key] for key in ("date", "place", "organiser") if key in about]
    links = (f'<a href="{escape(url)}">{bdi(text)}</a>' for text, url in about.get("links", {}).items())
    parts = [", ".join(map(bdi, where)), bdi(about.get("text", "")), " · ".join(links)]
    return "".join(f"<p>{part}</p>\n" for part in parts if part)
