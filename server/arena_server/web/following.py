"""What a reader of feeds and a calendar get of a contest: its newest results, and when it is played.

    atom_text(document, rows, base)     an Atom feed (RFC 4287); `rows` are those of `Archive.games`
    calendar_text(document, base, now)  a calendar with one event (RFC 5545)
    newest(archive, number)             document and rows for a feed

`document` is that of the contest, `base` the address of the pages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from html import escape
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from arena_protocol.record import describe_result
from arena_server.web.previews import contest_preview

if TYPE_CHECKING:
    from arena_server.web.archive import Archive

#: Results in a feed, the newest first.
ENTRIES: Final = 50
#: A line of a calendar, in bytes.
FOLDED: Final = 75
#: What XML may not contain.
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def newest(archive: Archive, number: int) -> tuple[dict[str, Any], list[list[Any]]]:
    """The document of a contest, and the rows of its newest games that are over. Raises NotFoundError."""
    document = archive.contest(number)
    games, chunk = document["list"]["games"], document["list"]["chunk"]
    # ENTRIES are fewer than a chunk has, so at most two are read.
    first = max(0, games - ENTRIES) // chunk
    parts = range(first, max(0, games - 1) // chunk + 1)
    return document, [row for part in parts for row in json.loads(archive.games(number, part))]


def atom_text(document: Mapping[str, Any], rows: Sequence[Sequence[Any]], base: str) -> str:
    """The feed of a contest. A result keeps its id, however often it is read."""
    own = _own(document)
    page = f"{base}/contest.html?{urlencode({'id': document['id']})}"
    newest = [*rows][-ENTRIES:][::-1]
    begun = datetime.fromisoformat(document["started_at"])
    updated = max([begun, *(_moment(row[5]) for row in newest)])
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<id>{_xml(own)}</id>",
        f"<title>{_xml(contest_preview(document).title)}</title>",
        f"<subtitle>{_xml(contest_preview(document).description)}</subtitle>",
        f"<updated>{_iso(updated)}</updated>",
        "<author><name>insertion-arena</name></author>",
        f'<link rel="alternate" type="text/html" href="{_xml(page)}"/>',
    ]
    for row in newest:
        game, at = row[0], _moment(row[5])
        query = urlencode({"contest": document["id"], "game": game})
        lines += [
            "<entry>",
            f"<id>{_xml(own)}:{_xml(game)}</id>",
            f"<title>{_xml(game)}: {_xml(_result(document, row))}</title>",
            f"<updated>{_iso(at)}</updated>",
            f'<link rel="alternate" type="text/html" href="{_xml(f"{base}/game.html?{query}")}"/>',
            "</entry>",
        ]
    return "\n".join([*lines, "</feed>", ""])


def calendar_text(document: Mapping[str, Any], base: str, now: datetime) -> str:
    """The contest as an event: until its end, or until the pace of its games leads to it, if it has one."""
    begun = datetime.fromisoformat(document["started_at"])
    left = (document.get("pace") or {}).get("left_s")
    end = None
    if document["ended_at"] is not None:
        end = datetime.fromisoformat(document["ended_at"])
    elif left is not None:
        end = now + timedelta(seconds=left)
    page = f"{base}/contest.html?{urlencode({'id': document['id']})}"
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//insertion-arena//contests//EN",
        "BEGIN:VEVENT",
        f"UID:{_own(document)}",
        f"DTSTAMP:{_stamp(now)}",
        f"DTSTART:{_stamp(begun)}",
        *(() if end is None else (f"DTEND:{_stamp(end)}",)),
        f"SUMMARY:{_plain(contest_preview(document).title)}",
        f"DESCRIPTION:{_plain(contest_preview(document).description)}",
        *(f"LOCATION:{_plain(place)}" for place in [document.get("about", {}).get("place")] if place),
        f"URL:{page}",
        "END:VEVENT",
        "END:VCALENDAR",
    ]
    return "".join(f"{part}\r\n" for line in lines for part in _folded(line))


def _own(document: Mapping[str, Any]) -> str:
    """A name of the contest that no other one has, also of another database."""
    begun = re.sub(r"[^0-9]", "", document["started_at"])
    return f"urn:insertion-arena:{begun}:{document['id']}"


def _result(document: Mapping[str, Any], row: Sequence[Any]) -> str:
    """How a game ended, without points where it is only won or lost."""
    names = [document["bots"][place] for place in row[1]]
    said = describe_result(names, row[2], row[3])
    # The points of such a game say no more than who has won.
    if document["decided"]:
        said = re.sub(r",? \d[\d,]* : \d[\d,]*", "", said)
    return f"{' – '.join(names)}, {said}"


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def _xml(text: str) -> str:
    return escape(_CONTROLS.sub(" ", text))


def _plain(text: str) -> str:
    """A text of a calendar."""
    text = re.sub(r"[\x00-\x09\x0b-\x1f\x7f]", " ", text)
    return re.sub(r"([\\;,])", r"\\\1", text).replace("\n", "\\n")


def _folded(line: str) -> Iterator[str]:
    """The parts of a line, of FOLDED bytes at most; those after the first begin with a blank."""
    part, size = "", 0
    for letter in line:
        width = len(letter.encode())
        if size + width > FOLDED:
            yield part
            part, size = " ", 1
        part += letter
        size += width
    yield part
