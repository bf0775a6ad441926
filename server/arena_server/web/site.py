"""The read-only API of the spectators' site, and the live streams; pages.py has its pages.

    GET /api/v1/site.json                       what this server offers
    GET /api/v1/contests.json                   all contests of the database
    GET /api/v1/contests/3.json                 one, with its standings
    GET /api/v1/contests/3/games-0.json         its games in chunks, for lists and cross-tables
    GET /api/v1/contests/3/schedule-0.json      its schedule in chunks: who meets whom, played or not
    GET /api/v1/contests/3/ratings.json         ratings with 95 % intervals, of bots and of their versions
    GET /api/v1/contests/3/rounds.json          the bracket or the rounds of a format that draws
    GET /api/v1/contests/3/faults.json          the latest faults with their lines
    GET /api/v1/contests/3/highlights.json      the games that are worth a look (highlights.py)
    GET /api/v1/contests/3/bots/0.json          a bot: author, programs, time a move, first moves (bots.py)
    GET /api/v1/contests/3/history-0.json       its rating after ever more games
    GET /api/v1/bots/ann.json                   the rows of a bot in all contests
    GET /api/v1/contests/3/chain-0.json         the digests of its records, which lead to its head
    GET /api/v1/contests/3/pairs-0.json         which of its games were played on the same deal (pairs.py)
    GET /api/v1/contests/3/records/g7.json      the record of a game (.record: the exported bytes)
    GET /api/v1/contests/3/feed.atom            its newest results as a feed (contest.ics: as a calendar)
    GET /api/v1/contests/3/bots/0.atom          those of a bot (bots/0.ics: as a calendar)
    GET /api/v1/contests/3/pictures/g7-71.png   the position after ply 71, for links (previews.py)
    GET /api/v1/contests/3/state/g7.json        is it running, over, withheld, or unknown
    GET /api/v1/played.json                     the latest games that visitors played (casual.py)
    GET /api/v1/live?stream=boards&stream=...   events of several streams in one answer (livestreams.py)
    GET /api/v1/live/contest?contest=3          events: standings and running games (the first if absent)
    GET /api/v1/live/boards                     events: the boards of running games
    GET /api/v1/live/games/g7                   events: one game, ply by ply
    GET /api/v1/live/games/g7.json              a snapshot of it

A game of a visitor is a contest of its own, with its name in the place of the number.
`docs/watch.md` documents the API with its JSON schema. Any origin may read it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, Final

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from arena_protocol.record import RecordError
from arena_server.errors import ArenaError, public_text
from arena_server.web.archive import Archive
from arena_server.web.feeds import LiveFeed
from arena_server.web.live_contests import Begun, Held, LiveContests, Served
from arena_server.web.livestreams import CORS, LiveStreams
from arena_server.web.pages import API, DocumentPacking
from arena_server.web.previews import Painter, Preview
from arena_server.web.shared_reads import Endpoint, SharedReads
from arena_server.web.shown_results import NotFoundError
from arena_server.web.stored import StoredDocuments

#: Documents of this size and more are compressed, where the browser takes it.
PACKED_BYTES: Final = 1000
#: How often the log has an error of the pages: each request of a visitor may meet it.
REPORT_S: Final = 60.0


class PublicApi:
    """The read-only API: `stored` has the documents of an archive, `live` the contests that are played."""

    def __init__(
        self,
        archive: Archive,
        features: dict[str, Any],
        viewers: int = 0,
        played: Archive | None = None,
        held: Held | None = None,
        feed: Callable[[str], LiveFeed] | None = None,
        report: Callable[[str], None] = lambda _: None,
        painter: Painter | None = None,
        begun: Begun | None = None,
        served: Served | None = None,
    ) -> None:
        """`features` is the document site.json; at most `viewers` streams are open at once.

        `report` takes what visitors are not told of an error, at most every REPORT_S. `played` has the games
        of visitors. `held`, `feed`, `begun` and `served` are those of LiveContests.
        """
        reads = SharedReads(archive, played)
        self.stored = StoredDocuments(reads, painter)
        self.live = LiveContests(reads, features, self._note, feed, held, begun, served)
        self._most_viewers = viewers
        self._report = report
        self._reported_at = -REPORT_S

    def routes(self) -> list[BaseRoute]:
        endpoints = self.stored.endpoints() | self.live.endpoints()
        streams = LiveStreams(self.live.hub_of, self._most_viewers, self._note)
        # Not for streams: it keeps the head back until the first byte of a body, which they do not have.
        packing = [Middleware(DocumentPacking, minimum_size=PACKED_BYTES, compresslevel=5)]
        return [
            *(Route(f"{API}/{path}", self._json(get), middleware=packing) for path, get in endpoints.items()),
            *streams.routes(f"{API}/live"),
        ]

    async def preview(self, page: str, query: Mapping[str, str], text: str = "") -> Preview | None:
        """What a link to a page of PREVIEWED shows of itself; None if it is only a page.

        `text` is what the organiser says of the site.
        """
        found = await self.stored.preview(page, query, text)
        if found is None and page == "game":
            found = await self.live.preview(query.get("contest"), query.get("game", ""))
        return found

    def _json(self, endpoint: Endpoint) -> Endpoint:
        async def answer(request: Request) -> Response:
            try:
                response = await endpoint(request)
            except NotFoundError as error:
                response = JSONResponse({"error": str(error)}, 404)
            except (ArenaError, RecordError) as error:
                self._note(error)
                response = JSONResponse({"error": public_text(error)}, 503)
            response.headers.update(CORS)
            response.headers.setdefault("Cache-Control", "no-cache")
            return response

        return answer

    def _note(self, error: Exception) -> None:
        if monotonic() - self._reported_at >= REPORT_S:
            self._reported_at = monotonic()
            self._report(str(error))
