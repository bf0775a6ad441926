"""`arena highlights`: the games of a contest that are worth a look, as a list and as one GIF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_cli.options import DEFAULT_DATABASE, ContestChoice, Database, Json, print_json

if TYPE_CHECKING:
    from arena_cli.render import Frame
    from arena_protocol.record import GameRecord
    from arena_server.web.archive import Archive

#: Highlights in a GIF.
MOST = 10
#: Plies of each in it: up to the one that it is about, and one more.
BEFORE = 4


def command(
    contest: ContestChoice = None,
    database: Database = DEFAULT_DATABASE,
    gif: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help=f"Draw the first {MOST} as one animated GIF to FILE."),
    ] = None,
    delay: Annotated[float, typer.Option(min=0, help="Seconds between two plies of the GIF.")] = 0.5,
    as_json: Json = False,
) -> None:
    """Print the games of a contest that are worth a look.

    They are upsets (a win against a bot with a higher rating), comebacks (the winner had been behind), the
    longest cascades, the game of each day with the most changes of the lead, and the first fault: the best
    of each kind, then the second of each. Of a running contest they are among the games that spectators may
    see by now; one whose record is withheld is none. --gif needs the extra [pictures].

    Example: arena highlights --contest friday --gif friday.gif
    """
    from arena_cli.replay import check_pillow, write_file
    from arena_cli.results import open_results
    from arena_server.errors import StoreError
    from arena_server.store.database import database_of
    from arena_server.web.archive import Archive
    from arena_server.web.highlights import HighlightDocuments

    if gif is not None:
        check_pillow()
    with open_results(database) as results:
        chosen = results.contest(contest)
    archive = Archive(database_of(database))
    found = HighlightDocuments().find(archive, chosen.id)
    if as_json:
        print_json({"contest": chosen.name, "games": found["games"], "highlights": found["highlights"]})
    elif found["highlights"]:
        for each in found["highlights"]:
            typer.echo(f"{each['game']:<6} ply {each['ply']:<4} {told(each)}")
    else:
        typer.echo(f"{chosen.name}: no highlights among {found['games']} games")
    if gif is not None:
        from arena_cli.picture import animated

        if not found["highlights"]:
            raise StoreError(f"--gif: {chosen.name} has no highlights to be drawn")
        drawn = animated(_scenes(archive, chosen.id, found["highlights"][:MOST]), delay)
        write_file("--gif", gif, drawn, as_json=as_json)


def told(found: Mapping[str, Any]) -> str:
    """A highlight of the document in words."""
    names, value, seat = found["names"], found["value"], found["seat"]
    name = names[seat - 1]
    others = ", ".join(each for place, each in enumerate(names, 1) if place != seat)
    points = f"{value:,} point{'' if value == 1 else 's'}"
    match found["kind"]:
        case "upset":
            return f"upset: {name} wins against {others}, rated {points} higher"
        case "swing":
            return f"comeback: {name} wins against {others} after being {points} behind"
        case "cascade":
            return f"cascade: {name} makes {value} waves by one move"
        case "fault":
            return f"first fault: {name}, {found['text']}"
        case _:
            changes = f"{value} change{'' if value == 1 else 's'} of the lead" if value else "the longest one"
            return f"game of {found['text']}: {' - '.join(names)}, {changes}"


def _scenes(archive: Archive, contest: int, chosen: Sequence[Mapping[str, Any]]) -> list[list[Frame]]:
    from arena_protocol.record_codec import decode

    records = dict(archive.records(contest, [each["game"] for each in chosen]))
    return [_around(decode(records[each["game"]]), each, place) for place, each in enumerate(chosen, 1)]


def _around(record: GameRecord, found: Mapping[str, Any], place: int) -> list[Frame]:
    """The plies about the highlight at this place of the list, with what it is."""
    from arena_cli.render import record_frames

    frames = list(record_frames(record))
    last = min(len(frames) - 1, found["ply"] + (found["kind"] in ("swing", "fault")))
    shown = frames[max(0, last - BEFORE) : last + 1]
    kind, _, text = told(found).partition(": ")
    return [
        replace(
            each,
            title=f"{place}. {kind}, {record.game_id}   {each.title.rpartition('   ')[2]}",
            caption=f"{text}. {each.caption}",
        )
        for each in shown
    ]
