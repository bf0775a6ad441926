"""What a reader of feeds and a calendar get of a contest: its newest results, and when it is played.

    atom_text(news, base)               an Atom feed (RFC 4287)
    calendar_text(news, base, now)      a calendar (RFC 5545): the contest, and the games that are to come
    news_of(archive, number)            what both are made of; with `place` of one bot in the contest

`base` is the address of the pages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from html import escape
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote, urlencode

from arena_protocol.record import describe_result
from arena_server.core.formats.rounds_json import OPEN, TO_COME
from arena_server.terms.about import apart
from arena_server.web.previews import FEED_KINDS, Preview, bot_preview, contest_preview

if TYPE_CHECKING:
    from arena_server.web.archive import Archive

#: Results in a feed, the newest first.
ENTRIES: Final = 50
#: A line of a calendar, in bytes.
FOLDED: Final = 75
#: What XML may not contain.
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class News:
    """`document` is that of the contest, `rows` its newest games as `Archive.games` has them.

    `rounds` are those of its format, `upcoming` its next games: place among all, id, names. With `bot` the
    news are those of this bot: its games, and the rounds in which it plays.
    """

    document: Mapping[str, Any]
    rows: Sequence[Sequence[Any]]
    rounds: Sequence[Mapping[str, Any]] = ()
    upcoming: Sequence[tuple[int, str, Sequence[str]]] = ()
    bot: str | None = None

    def of(self, place: int) -> News:
        """The news of the bot at this place of `bots`."""
        bot = self.document["bots"][place]
        rounds = [each for each in self.rounds if any(bot in match["names"] for match in each["matches"])]
        return replace(
            self,
            rows=[row for row in self.rows if place in row[1]],
            rounds=rounds,
            upcoming=[game for game in self.upcoming if bot in game[2]],
            bot=bot,
        )

    @property
    def own(self) -> str:
        """A name that no other contest and no other bot has, also of another database."""
        begun = re.sub(r"[^0-9]", "", self.document["started_at"])
        contest = f"urn:insertion-arena:{begun}:{self.document['id']}"
        return contest if self.bot is None else f"{contest}:bot-{quote(self.bot)}"

    @property
    def preview(self) -> Preview:
        of_bot = None if self.bot is None else bot_preview(self.document, self.bot)
        return of_bot or contest_preview(self.document)

    def page(self, base: str) -> str:
        return f"{base}/{'contest' if self.bot is None else 'bot'}.html?{urlencode(self.preview.query)}"


def newest(archive: Archive, number: int) -> tuple[dict[str, Any], list[list[Any]]]:
    """The document of a contest, and the rows of its newest games that are over. Raises NotFoundError."""
    document = archive.contest(number)
    games, chunk = document["list"]["games"], document["list"]["chunk"]
    # ENTRIES are fewer than a chunk has, so at most two are read.
    first = max(0, games - ENTRIES) // chunk
    parts = range(first, max(0, games - 1) // chunk + 1)
    return document, [row for part in parts for row in json.loads(archive.games(number, part))]


def news_of(archive: Archive, number: int, place: int | None = None) -> News:
    """The news of a contest, or of the bot at this place of its `bots`. Raises NotFoundError."""
    if place is not None:
        archive.name(number, place)
    document, rows = newest(archive, number)
    rounds = json.loads(archive.rounds(number))["rounds"] if "ranked_by" in document else []
    upcoming = [(i, *game) for i, game in enumerate(archive.upcoming(number))]
    news = News(document, rows, rounds, upcoming)
    return news if place is None else news.of(place)


def atom_text(news: News, base: str) -> str:
    """The feed of a contest or a bot. A result keeps its id, however often it is read."""
    page, own = news.page(base), f"{base}/api/v1/{news.preview.feeds[0]}"
    entries = sorted([*_results(news, base), *_ended_rounds(news, page)], key=lambda entry: -entry.at)
    begun = datetime.fromisoformat(news.document["started_at"])
    updated = max([begun, *(_moment(entry.at) for entry in entries[:1])])
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<id>{_xml(news.own)}</id>",
        f"<title>{_xml(news.preview.title)}</title>",
        f"<subtitle>{_xml(news.preview.description)}</subtitle>",
        f"<updated>{_iso(updated)}</updated>",
        "<author><name>insertion-arena</name></author>",
        f'<link rel="self" type="{FEED_KINDS["atom"]}" href="{_xml(own)}"/>',
        f'<link rel="alternate" type="text/html" href="{_xml(page)}"/>',
    ]
    for entry in entries[:ENTRIES]:
        lines += [
            "<entry>",
            f"<id>{_xml(entry.own)}</id>",
            f"<title>{_xml(entry.title)}</title>",
            f"<updated>{_iso(_moment(entry.at))}</updated>",
            f'<link rel="alternate" type="text/html" href="{_xml(entry.page)}"/>',
            "</entry>",
        ]
    return "\n".join([*lines, "</feed>", ""])


class _Entry(NamedTuple):
    """`at` is in seconds since 1970."""

    own: str
    title: str
    at: int
    page: str


def _results(news: News, base: str) -> Iterator[_Entry]:
    for row in news.rows[: -ENTRIES - 1 : -1]:
        query = urlencode({"contest": news.document["id"], "game": row[0]})
        title = f"{row[0]}: {_result(news.document, row)}"
        yield _Entry(f"{news.own}:{row[0]}", title, row[5], f"{base}/game.html?{query}")


def _ended_rounds(news: News, page: str) -> Iterator[_Entry]:
    """The rounds whose last result is among the rows."""
    ended = {row[0]: row[5] for row in news.rows}
    for each in news.rounds:
        matches = each["matches"]
        if any(match["state"] in (TO_COME, OPEN) for match in matches):
            continue
        # Rows are in the order of results: what is missing among them has ended before.
        known = [ended[f"g{game}"] for match in matches for game in match["games"] if f"g{game}" in ended]
        if known:
            yield _Entry(
                f"{news.own}:{quote(each['title'])}",
                f"{each['title']} is over",
                max(known),
                page,
            )


def calendar_text(news: News, base: str, now: datetime) -> str:
    """The contest, and each game to come whose start can be expected, as events.

    A contest lasts until its end, or until the pace of its games leads to it, if it has one.
    """
    document, preview = news.document, news.preview
    begun = datetime.fromisoformat(document["started_at"])
    left = (document.get("pace") or {}).get("left_s")
    end = None
    if document["ended_at"] is not None:
        end = datetime.fromisoformat(document["ended_at"])
    elif left is not None:
        end = now + timedelta(seconds=left)
    place, page = document.get("about", {}).get("place"), news.page(base)
    events = [_event(news.own, now, (begun, end), preview.title, preview.description, place, page)]
    for at, game, names in expected(news, now):
        title, text = (
            f"{' – '.join(map(apart, names))}, {game}",
            f"{contest_preview(document).title}: expected start",
        )
        events.append(_event(f"{news.own}:{game}", now, (at, None), title, text, place, page))
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//insertion-arena//contests//EN"]
    whole = [*lines, *(line for event in events for line in event), "END:VCALENDAR"]
    return "".join(f"{part}\r\n" for line in whole for part in _folded(line))


def _event(
    own: str,
    now: datetime,
    time: tuple[datetime, datetime | None],
    title: str,
    text: str,
    place: str | None,
    page: str,
) -> Iterator[str]:
    begin, end = time
    yield "BEGIN:VEVENT"
    yield f"UID:{own}"
    yield f"DTSTAMP:{_stamp(now)}"
    yield f"DTSTART:{_stamp(begin)}"
    if end is not None and _stamp(end) > _stamp(begin):  # RFC 5545: later, and stamps have whole seconds
        yield f"DTEND:{_stamp(end)}"
    yield f"SUMMARY:{_plain(title)}"
    yield f"DESCRIPTION:{_plain(text)}"
    if place:
        yield f"LOCATION:{_plain(place)}"
    yield f"URL:{page}"
    yield "END:VEVENT"


def expected(news: News, now: datetime) -> Iterator[tuple[datetime, str, Sequence[str]]]:
    """When each game to come is expected to begin, by the pace of the contest, with its id and names.

    Its end follows from the pace, and its start is earlier by the mean of what clocks have been charged.
    """
    pace = news.document.get("pace")
    if not pace or not pace["games_per_hour"]:
        return
    charged = [sum(row[7]) / 1000 for row in news.rows[-ENTRIES:] if row[7]]
    lasts = sum(charged) / len(charged) if charged else 0.0
    for place, game, names in news.upcoming[:ENTRIES]:
        starts = (place + 1) * 3600 / pace["games_per_hour"] - lasts
        yield now + timedelta(seconds=max(0, round(starts))), game, names


def _result(document: Mapping[str, Any], row: Sequence[Any]) -> str:
    """How a game ended, without points where it is only won or lost."""
    names = [apart(document["bots"][place]) for place in row[1]]
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
