"""What links to the pages of `arena site` show of themselves: a page for each game, with tags and a picture.

    DIR/game-gM.html, bot-NAME.html                the page of a game or bot, whose head says what it shows
    DIR/api/v1/contests/N/pictures/gM.png          the last position of the newest games, with --url
    DIR/api/v1/contests/N/feed.atom, contest.ics   for readers of feeds and calendars, with --url
    DIR/api/v1/contests/N/bots/K.atom, K.ics       the same of each bot

A file has one head for all its parameters, so a link to `game.html` could show no game.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from arena_cli.picture import link_painter
from arena_protocol.record import GameRecord
from arena_protocol.record_codec import decode
from arena_server.web.bundle import NAME
from arena_server.web.following import News, atom_text, calendar_text, news_of
from arena_server.web.previews import PLAIN, game_preview, picture_path, site_preview, with_head

if TYPE_CHECKING:
    from arena_server.web.archive import Archive
    from arena_server.web.identity import SiteIdentity
    from arena_server.web.previews import Preview

API: Final = Path("api") / "v1"
#: Pictures of the newest games, of 10 to 30 KB and a tenth of a second each.
PICTURES: Final = 100


class SiteLinks:
    """Writes into `folder`, whose pages are there; it will be served at `url`, None if that is not known."""

    def __init__(self, folder: Path, number: int, about: SiteIdentity, url: str | None) -> None:
        self._folder = folder
        self._number = number
        self._about = about
        self._site = about.title or NAME
        self.url = None if url is None else url.rstrip("/")
        self._painter = None if url is None else link_painter()
        self._game = (folder / "game.html").read_bytes()
        self._bot = (folder / "bot.html").read_bytes()
        self._newest: deque[tuple[str, GameRecord, Preview]] = deque(maxlen=PICTURES)

    def add(self, game: str, data: bytes) -> None:
        """Write the page of a game, by its record; it has no picture yet."""
        record = decode(data)
        preview = game_preview(str(self._number), record, None)
        self._write(f"game-{game}.html", self._game, preview, {"game": game})
        self._newest.append((game, record, preview))

    def end(self, archive: Archive) -> None:
        """Write what is known once all games are: heads of the pages, feeds, calendars, pictures."""
        news = news_of(archive, self._number)
        text = self._about.text or ""
        self._add_head("index.html", site_preview([news.document], text), "")
        self._add_head("contest.html", news.preview, f"contest.html?{urlencode(news.preview.query)}")
        self._add_head("replay.html", PLAIN["replay"], "replay.html")
        self._follow(news, news.preview)
        for place, bot in enumerate(news.document["bots"]):
            own = news.of(place)
            self._write(f"bot-{bot}.html", self._bot, own.preview, {"bot": bot})
            self._follow(own, own.preview)
        if self._painter is None:
            return
        for game, record, preview in self._newest:
            file = API / picture_path(str(self._number), game, None)
            (self._folder / file).parent.mkdir(exist_ok=True)
            (self._folder / file).write_bytes(self._painter(record, None))
            self._write(f"game-{game}.html", self._game, preview, {"game": game}, f"{self.url}/{file}")

    def _add_head(self, name: str, preview: Preview, address: str) -> None:
        path = self._folder / name
        path.write_bytes(self._with_head(path.read_bytes(), preview, address))

    def _follow(self, news: News, preview: Preview) -> None:
        if self.url is None:
            return
        for feed in preview.feeds:
            is_feed = feed.endswith(".atom")
            text = atom_text(news, self.url) if is_feed else calendar_text(news, self.url, datetime.now(UTC))
            (self._folder / API / feed).write_text(text, encoding="utf-8", newline="")

    def _write(
        self, name: str, page: bytes, preview: Preview, shown: Mapping[str, str], picture: str = ""
    ) -> None:
        shows = escape(urlencode({"contest": str(self._number), **shown}))
        own = page.replace(b"<html ", f'<html data-shows="{shows}" '.encode(), 1)
        (self._folder / name).write_bytes(self._with_head(own, preview, name, picture))

    def _with_head(self, page: bytes, preview: Preview, address: str, picture: str = "") -> bytes:
        whole = "" if self.url is None else f"{self.url}/{address}"
        feeds = [] if self.url is None else [f"{API}/{feed}" for feed in preview.feeds]
        return with_head(page, preview, self._site, whole, picture, feeds)
