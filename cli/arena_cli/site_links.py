"""What links to the pages of `arena site` show of themselves: a page for each game, with tags and a picture.

    DIR/game-gM.html                               the page of a game, for links: its head says what it shows
    DIR/api/v1/contests/N/pictures/gM.png          the last position of the newest games, with --url
    DIR/api/v1/contests/N/feed.atom, contest.ics   for readers of feeds and calendars, with --url

A file has one head for all its parameters, so a link to `game.html` could show no game.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from arena_cli.picture import link_painter
from arena_protocol.record_codec import decode
from arena_server.web.following import atom_text, calendar_text
from arena_server.web.previews import (
    CALENDAR,
    FEED,
    contest_preview,
    game_preview,
    picture_path,
    with_head,
)

if TYPE_CHECKING:
    from arena_server.web.previews import Preview

#: Pictures of the newest games, of 10 to 30 KB and a tenth of a second each.
PICTURES: Final = 100


class SiteLinks:
    """Writes into `folder`, whose pages are there; it will be served at `url`, None if that is not known."""

    def __init__(self, folder: Path, number: int, site: str, url: str | None) -> None:
        self._folder = folder
        self._number = str(number)
        self._site = site
        self.url = None if url is None else url.rstrip("/")
        self._painter = None if url is None else link_painter()
        self._game = (folder / "game.html").read_bytes()
        self._newest: deque[tuple[str, bytes, Preview]] = deque(maxlen=PICTURES)

    def add(self, game: str, record: bytes) -> None:
        """Write the page of a game; it has no picture yet."""
        preview = game_preview(self._number, decode(record), None)
        self._write(game, preview, "")
        self._newest.append((game, record, preview))

    def end(self, document: Mapping[str, Any], rows: Sequence[Sequence[Any]]) -> None:
        """Write the head of the contest's page, feed and calendar, of document and rows, and pictures."""
        path = self._folder / "contest.html"
        preview = contest_preview(document)
        address = "" if self.url is None else f"{self.url}/contest.html?{urlencode(preview.query)}"
        feed = "" if self.url is None else f"api/v1/{preview.feed}"
        path.write_bytes(with_head(path.read_bytes(), preview, self._site, address, feed=feed))
        if self.url is not None:
            home = self._folder / "api" / "v1" / "contests" / self._number
            (home / FEED).write_text(atom_text(document, rows, self.url), encoding="utf-8")
            calendar = calendar_text(document, self.url, datetime.now(UTC))
            (home / CALENDAR).write_text(calendar, encoding="utf-8", newline="")
        if self._painter is None:
            return
        for game, record, preview in self._newest:
            file = Path("api") / "v1" / picture_path(self._number, game, None)
            (self._folder / file).parent.mkdir(exist_ok=True)
            (self._folder / file).write_bytes(self._painter(record, None))
            self._write(game, preview, f"{self.url}/{file}")

    def _write(self, game: str, preview: Preview, picture: str) -> None:
        name = f"game-{game}.html"
        address = "" if self.url is None else f"{self.url}/{name}"
        shows = escape(urlencode({"contest": self._number, "game": game}))
        page = self._game.replace(b"<html ", f'<html data-shows="{shows}" '.encode(), 1)
        (self._folder / name).write_bytes(with_head(page, preview, self._site, address, picture))
