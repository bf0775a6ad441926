"""What a link to a page shows of itself in a chat or on another site, which run no scripts.

<title>, description, og:..., twitter:...     in the head of each page of the spectators' site
GET /api/v1/contests/3/pictures/g7-71.png     the position after ply 71; g7.png the last one
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html import escape
from typing import Any, Final

from arena_protocol.games import title_of
from arena_protocol.record import GameRecord, describe_result
from arena_server.core.ratelimit import Limit
from arena_server.terms.about import apart, headline
from arena_server.web.security import DRAWINGS

#: The size of a picture, as most sites show it.
WIDTH, HEIGHT = 1200, 630
#: The feed of a contest and its calendar, beside its documents (following.py).
FEED, CALENDAR = "feed.atom", "contest.ics"
#: Their content types, by the ends of their names; those of a bot are K.atom and K.ics.
FEED_KINDS: Final = {"atom": "application/atom+xml", "ics": "text/calendar"}
#: Contests, and leaders of one, that a description names.
NAMED: Final = 3
#: Pictures that are kept, of 10 to 30 KB, and those that wait to be drawn.
KEPT: Final = 100
WAITING: Final = 8
#: How long a site that was refused waits.
PICTURE_RETRY_S: Final = 5
_TITLE: Final = re.compile(r"<title>[^<]*</title>")
#: Of a record the position after a ply, the last one if None, as PNG.
Painter = Callable[[GameRecord, int | None], bytes]


@dataclass(frozen=True, slots=True)
class Preview:
    """`query` are the parameters that lead to the page; `picture` and `feeds` are paths below the API.

    Without a `title` it is that of the site.
    """

    title: str
    description: str
    query: Mapping[str, str] = field(default_factory=dict)
    picture: str | None = None
    feeds: tuple[str, ...] = ()


#: The pages that say the same with any parameters; those of a seat or an invitation are secrets.
PLAIN: Final = {
    "play": Preview("Play", "Games against an engine of this site or a second person, in the browser."),
    "replay": Preview(
        "Replay a file", "Shows and checks the record of a game; the file stays in the browser."
    ),
    "register": Preview("Register a bot", "For authors with an invitation to a contest."),
}


def site_preview(contests: Sequence[Mapping[str, Any]], text: str) -> Preview:
    """Of the first page: what its organiser says, and the documents of all contests, the newest first."""
    games = sum(each["games_played"] for each in contests)
    known = f"{counted(len(contests), 'contest')}, {counted(games, 'game')}" if contests else "No contest yet"
    run = _running(contests)
    return Preview("", " ".join(part for part in (text, f"{known}{f'; {run}' if run else ''}.") if part))


def tv_preview(contests: Sequence[Mapping[str, Any]], number: str | None) -> Preview:
    """Of the page that goes from one running game to the next, of the contest `number` or of any."""
    chosen = [each for each in contests if number is None or str(each["id"]) == number]
    query = {} if number is None or not chosen else {"contest": number}
    text = _running(chosen) or "no contest is running"
    return Preview("TV", f"Running games, one after the other: {text}.", query)


def _running(contests: Sequence[Mapping[str, Any]]) -> str:
    found = [
        headline(each["name"], each.get("about", {})) for each in contests if each["status"] == "running"
    ]
    verb = "runs" if len(found) == 1 else "run"
    return f"{_some(found)} {verb} now" if found else ""


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"


def counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def contest_preview(document: Mapping[str, Any]) -> Preview:
    """Of the document of a contest."""
    done, total = document["games_played"], document["games"]
    games = counted(done, "game") if total is None else f"{done:,} of {counted(total, 'game')}"
    first = [apart(row["bot"]) for row in document["standings"] if row["rank"] == 1]
    runs = document["status"] == "running"
    verb = ("leads", "lead") if runs else ("is first", "are first")
    # While all are level, or the first ones have nothing yet, none leads.
    named = first and not (runs and (len(first) == len(document["standings"]) or _has_nothing(document)))
    leader = f"; {_some(first)} {verb[len(first) > 1]}" if named else ""
    about = document.get("about", {})  # a site that an earlier version has written has none
    where = "".join(f", {apart(about[key])}" for key in ("date", "place") if key in about)
    game = document.get("game_title", document["game"])
    form = document.get("format_title", document["format"])
    text = f"{game}, {form}{where}, {document['status']}: {games}{leader}"
    title, query = headline(document["name"], about), {"id": str(document["id"])}
    home = f"contests/{document['id']}"
    return Preview(title, text, query, feeds=(f"{home}/{FEED}", f"{home}/{CALENDAR}"))


def _has_nothing(document: Mapping[str, Any]) -> bool:
    """Whether the first rank has neither scored nor won: a bot that has not played may be below it."""
    row = next(row for row in document["standings"] if row["rank"] == 1)
    return not (row["score"] if "score" in row else row[document["scoring"]])


def bot_preview(document: Mapping[str, Any], bot: str) -> Preview | None:
    """Of a bot, by the document of a contest in which it plays; None if it does not."""
    row = next((each for each in document["standings"] if each["bot"] == bot), None)
    if row is None:
        return None
    rank = "no rank yet" if row["rank"] is None else f"rank {row['rank']} of {len(document['standings'])}"
    points, games = counted(row["points"], "point"), counted(row["games"], "game")
    text = f"{rank}: {points} in {games}, {row['wins']:,} won"
    query = {"contest": str(document["id"]), "bot": bot}
    home = f"contests/{document['id']}/bots/{document['bots'].index(bot)}"
    title = f"{apart(bot)}, {headline(document['name'], document.get('about', {}))}"
    return Preview(title, text, query, feeds=tuple(f"{home}.{kind}" for kind in FEED_KINDS))


def game_preview(number: str, record: GameRecord, ply: int | None) -> Preview:
    """Of a game that is over, at one of its plies or at its end."""
    # The last ply is the end: both have the same picture.
    shown = None if ply is None or ply >= len(record.plies) else ply
    totals = list(record.totals)
    result = describe_result(record.names, totals, record.end)
    where = result if shown is None else f"ply {shown} of {len(record.plies)}"
    at = {} if shown is None else {"ply": str(shown)}
    return Preview(
        f"{' – '.join(record.names)}, {record.game_id}",
        f"{title_of(record.game)}, {where}",
        {"contest": number, "game": record.game_id} | at,
        picture_path(number, record.game_id, shown),
    )


def withheld_preview(number: str, game: str, kind: str, row: Sequence[Any], names: Sequence[str]) -> Preview:
    """Of a game that is over, its record not shown yet, by its row in the list and the names of bots."""
    seats = [apart(names[place]) for place in row[1]]
    text = f"{title_of(kind)}, {describe_result(seats, row[2], row[3])}"
    return Preview(f"{' – '.join(seats)}, {game}", text, {"contest": number, "game": game})


def running_preview(number: str, summary: Mapping[str, Any]) -> Preview | None:
    """Of a game that runs, by its summary on the wall; None before it has seats."""
    if not summary["names"]:
        return None
    text = f"{title_of(summary['game'])}, running: ply {summary['ply']}"
    game = summary["game_id"]
    title = f"{' – '.join(map(apart, summary['names']))}, {game}"
    return Preview(title, text, {"contest": number, "game": game})


def picture_path(number: str, game: str, ply: int | None) -> str:
    return f"contests/{number}/pictures/{game}{'' if ply is None else f'-{ply}'}.png"


def with_head(
    html: bytes,
    preview: Preview,
    site: str,
    address: str = "",
    picture: str = "",
    feeds: Sequence[str] = (),
) -> bytes:
    """The page with the tags of `preview`, and links to the addresses `feeds`.

    `site` is its name; address and picture are whole, or empty.
    """
    title = preview.title or site
    named = {"og:type": "website", "og:site_name": site, "og:url": address}
    for kind in ("og", "twitter"):
        shown = {"title": title, "description": preview.description, "image": picture}
        named |= {f"{kind}:{name}": value for name, value in shown.items()}
    named["twitter:card"] = "summary_large_image" if picture else "summary"
    if picture:
        named |= {"og:image:width": str(WIDTH), "og:image:height": str(HEIGHT), "og:image:alt": title}
    whole = f"{title} · {site}" if preview.title else site
    tags = [f"<title>{escape(whole)}</title>"]
    tags.append(f'<meta name="description" content="{escape(preview.description)}">')
    for feed in feeds:
        kind = FEED_KINDS[feed.rpartition(".")[2]]
        tags.append(f'<link rel="alternate" type="{kind}" href="{escape(feed)}">')
    for name, value in named.items():
        key = "property" if name.startswith("og:") else "name"
        if value:
            tags.append(f'<meta {key}="{name}" content="{escape(value)}">')
    # A function: in a text a backslash would refer to a group.
    return _TITLE.sub(lambda _: "\n".join(tags), html.decode(), count=1).encode()


def place_of(name: str) -> tuple[str, int | None] | None:
    """Game and ply of the name of a picture, such as g7-71; None if it is none."""
    found = re.fullmatch(r"([A-Za-z0-9_.]{1,40})(?:-([0-9]{1,6}))?", name)
    return None if found is None else (found[1], None if found[2] is None else int(found[2]))


class Pictures:
    """Draws pictures on a thread, one after the other, and keeps the latest."""

    def __init__(self, painter: Painter) -> None:
        self._painter = painter
        self._limit = Limit[str](DRAWINGS)
        self._thread = ThreadPoolExecutor(1, "pictures")
        self._kept: OrderedDict[Sequence[object], bytes] = OrderedDict()
        self._drawn: dict[Sequence[object], asyncio.Future[bytes]] = {}

    async def get(self, contest: str, game: str, record: GameRecord, ply: int | None) -> bytes | None:
        """The picture; None if too many are being drawn. Raises IndexError without such a ply."""
        key = contest, game, ply
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        if key not in self._drawn:
            if len(self._drawn) >= WAITING or not self._limit.admits("", time.monotonic_ns()):
                return None
            loop = asyncio.get_running_loop()
            drawing = asyncio.ensure_future(loop.run_in_executor(self._thread, self._painter, record, ply))
            self._drawn[key] = drawing
            drawing.add_done_callback(lambda _: self._drawn.pop(key))
        # Others may wait for the same picture when one who asked has left.
        picture = await asyncio.shield(self._drawn[key])
        self._kept[key] = picture
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return picture
