"""The read-only API of the spectators' site, and the live streams; pages.py has its pages.

    GET /api/v1/site.json                       what this server offers
    GET /api/v1/contests.json                   all contests of the database
    GET /api/v1/contests/3.json                 one, with its standings
    GET /api/v1/contests/3/games-0.json         its games in chunks, for lists and cross-tables
    GET /api/v1/contests/3/schedule-0.json      its schedule in chunks: who meets whom, played or not
    GET /api/v1/contests/3/ratings.json         ratings with 95 % intervals, of bots and of their versions
    GET /api/v1/contests/3/rounds.json          the bracket or the rounds of a format that draws
    GET /api/v1/contests/3/faults.json          the latest faults with their lines
    GET /api/v1/contests/3/bots/0.json          a bot: author, programs, time a move, first moves (bots.py)
    GET /api/v1/contests/3/history-0.json       its rating after ever more games
    GET /api/v1/bots/ann.json                   the rows of a bot in all contests
    GET /api/v1/contests/3/chain-0.json         the digests of its records, which lead to its head
    GET /api/v1/contests/3/records/g7.json      the record of a game (.record: the exported bytes)
    GET /api/v1/contests/3/feed.atom            its newest results as a feed (contest.ics: as a calendar)
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

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from secrets import token_hex
from time import monotonic
from typing import Any, Final, TypeVar

from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from arena_protocol.record import RecordError
from arena_protocol.record_codec import decode
from arena_server.errors import ArenaError, public_text
from arena_server.web.archive import Archive, NotFoundError
from arena_server.web.bots import BotDocuments, RatingHistories
from arena_server.web.documents import plain_record
from arena_server.web.feeds import LiveFeed
from arena_server.web.following import atom_text, calendar_text, newest
from arena_server.web.live import LiveHub
from arena_server.web.livestreams import CORS, NOT_LIVE, LiveStreams
from arena_server.web.pages import API, address_of_site
from arena_server.web.previews import (
    CALENDAR,
    FEED,
    PICTURE_RETRY_S,
    Painter,
    Pictures,
    Preview,
    bot_preview,
    contest_preview,
    game_preview,
    place_of,
)
from arena_server.web.ratings import RatingDocuments
from arena_server.web.security import small_number

#: Documents of this size and more are compressed, where the browser takes it.
PACKED_BYTES: Final = 1000
#: Rows of the standings in an event; the page of the contest has all.
EVENT_ROWS: Final = 100

#: How old the list of running contests may be.
LOOK_S: Final = 1.0
#: How often the log has an error of the pages: each request of a visitor may meet it.
REPORT_S: Final = 60.0

#: Games of visitors in a list.
RECENT: Final = 20

T = TypeVar("T")
Endpoint = Callable[[Request], Awaitable[Response]]


class PublicApi:
    """The read-only API over an archive, and over live games if there is a hub."""

    def __init__(
        self,
        archive: Archive,
        features: dict[str, Any],
        viewers: int = 0,
        played: Archive | None = None,
        waiting: Callable[[str], Awaitable[list[dict[str, Any]]]] | None = None,
        feed: Callable[[str], LiveFeed] | None = None,
        report: Callable[[str], None] = lambda _: None,
        painter: Painter | None = None,
    ) -> None:
        """`features` is the document site.json; at most `viewers` streams are open at once.

        `report` takes what visitors are not told of an error, at most every REPORT_S.

        `played` has the games of visitors; `waiting` tells whom a contest waits for. With `feed`, which
        makes that of a contest, all contests that the database has as running are live; else those
        of `connect`.
        """
        self._feed = feed
        self._pictures = None if painter is None else Pictures(painter)
        self._looked_at = -LOOK_S
        self._report = report
        self._reported_at = -REPORT_S
        self._waiting = waiting
        self._archive = archive
        self._played = played
        self._features = features
        self._most_viewers = viewers
        self._rated = RatingDocuments()
        self._bots = BotDocuments()
        self._histories = RatingHistories()
        #: The running games of each contest that this server plays, by its name, and the contests' numbers.
        self._hubs: dict[str, LiveHub] = {}
        self._numbers: dict[str, int] = {}
        # The database is read on one thread: SQLite and the archive's memory need no lock then.
        self._thread = ThreadPoolExecutor(1, "archive")
        self._turn = asyncio.Lock()
        #: What has been asked of that thread and has not begun.
        self._queued: dict[Hashable, asyncio.Future[Any]] = {}

    async def look(self) -> None:
        """See which contests are running, if their feeds can be made here. Raises StoreError."""
        if self._feed is None or monotonic() - self._looked_at < LOOK_S:
            return
        self._looked_at = monotonic()
        found = await self._run(self._archive.running)
        self._numbers |= found
        for name in found.keys() - self._hubs.keys():
            document = partial(self.contest_document, name)
            self.connect(name, LiveHub(self._feed(name), document, token_hex(4)))
        for name in self._hubs.keys() - found.keys():
            if not self._hubs[name].watched:
                self._hubs.pop(name).stop()

    def connect(self, contest: str, hub: LiveHub) -> None:
        """Serve the live games of a contest from `hub`; the first one is meant where a request names none."""
        self._hubs[contest] = hub

    def routes(self) -> list[BaseRoute]:
        documents = {
            "site.json": self._site,
            "contests.json": self._contests,
            "contests/{number}.json": self._one_contest,
            "contests/{number}/games-{chunk}.json": self._games,
            "contests/{number}/schedule-{chunk}.json": self._schedule,
            "contests/{number}/ratings.json": self._ratings,
            "contests/{number}/rounds.json": self._rounds,
            "contests/{number}/faults.json": self._faults,
            "contests/{number}/bots/{place}.json": self._bot,
            "contests/{number}/history-{place}.json": self._history,
            "bots/{bot}.json": self._bot_contests,
            "contests/{number}/chain-{chunk}.json": self._chain,
            "contests/{number}/records/{game}.json": self._record,
            "contests/{number}/records/{game}.record": self._record_file,
            "contests/{number}/state/{game}.json": self._state,
            "contests/{number}/pictures/{name}.png": self._picture,
            f"contests/{{number}}/{FEED}": self._feed_of_results,
            f"contests/{{number}}/{CALENDAR}": self._calendar,
            "played.json": self._recent,
            "live/games/{game}.json": self._live_snapshot,
        }
        streams = LiveStreams(self._hub_of, self._most_viewers, self._note)
        # Not for streams: it keeps the head back until the first byte of a body, which they do not have.
        packing = [Middleware(GZipMiddleware, minimum_size=PACKED_BYTES, compresslevel=5)]
        return [
            *(Route(f"{API}/{path}", self._json(get), middleware=packing) for path, get in documents.items()),
            *streams.routes(f"{API}/live"),
        ]

    async def _run(self, function: Callable[..., T], *arguments: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    def _json(
        self, endpoint: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
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

    async def _site(self, _: Request) -> Response:
        await self.look()
        numbers = [await self.running(name) for name in self._played_here]
        live = {
            "live": bool(self._hubs) or self._feed is not None,
            "state": True,
            "contest": numbers[0] if numbers else None,
            "running": [number for number in numbers if number is not None],
        }
        names = self._played_here
        here = {"name": names[0] if names else None, "names": names}
        return JSONResponse(self._features | (here if self._feed is not None else {}) | live)

    async def _contests(self, _: Request) -> Response:
        return JSONResponse({"contests": await self._run(self._archive.contests)})

    async def _recent(self, _: Request) -> Response:
        return JSONResponse({"contests": await self._run(self._recent_games)})

    def _recent_games(self) -> list[dict[str, Any]]:
        return [] if self._played is None or not self._played.exists() else self._played.recent(RECENT)

    async def _one_contest(self, request: Request) -> Response:
        return JSONResponse(await self._read(request, Archive.contest))

    async def _games(self, request: Request) -> Response:
        data = await self._read(request, Archive.games, _number(request))
        return Response(data, media_type="application/json")

    async def _schedule(self, request: Request) -> Response:
        data = await self._read(request, Archive.schedule, _number(request))
        return Response(data, media_type="application/json")

    async def _chain(self, request: Request) -> Response:
        data = await self._read(request, Archive.chain, _number(request))
        return Response(data, media_type="application/json")

    async def _rounds(self, request: Request) -> Response:
        data = await self._read(request, Archive.rounds)
        return Response(data, media_type="application/json")

    async def _faults(self, request: Request) -> Response:
        return JSONResponse(await self._read(request, Archive.faults))

    async def _ratings(self, request: Request) -> Response:
        found = await self._run(self._find, request.path_params["number"])
        return JSONResponse(await self._rated.get(*found))

    async def _bot(self, request: Request) -> Response:
        found = await self._run(self._find, request.path_params["number"])
        return JSONResponse(await self._bots.get(*found, _number(request, "place")))

    async def _history(self, request: Request) -> Response:
        archive, number = await self._run(self._find, request.path_params["number"])
        name = await self._run(archive.name, number, _number(request, "place"))
        return JSONResponse(await self._histories.get(archive, number, name))

    async def _bot_contests(self, request: Request) -> Response:
        name = request.path_params["bot"]
        document = await self._share(("bots", name), partial(self._archive.bot_contests, name))
        return JSONResponse(document)

    async def _record(self, request: Request) -> Response:
        data = await self._read(request, Archive.record, request.path_params["game"])
        return JSONResponse(await self._run(plain_record, data))

    async def preview(self, page: str, query: Mapping[str, str]) -> Preview | None:
        """What a link to a page of PREVIEWED shows of itself; None if it is only a page."""
        contest = query.get("id" if page == "contest" else "contest", "")
        name, ply = query.get("bot" if page == "bot" else "game", ""), small_number(query.get("ply", ""))

        def read() -> Preview | None:
            archive, number = self._find(contest)
            if page == "game":
                found = game_preview(contest, decode(archive.record(number, name)), ply)
                return found if self._pictures is not None else replace(found, picture=None)
            document = archive.contest(number)
            return contest_preview(document) if page == "contest" else bot_preview(document, name)

        try:
            return await self._share(("preview", page, contest, name, ply), read)
        except (NotFoundError, ArenaError, RecordError):
            return None  # the page says what is wrong

    async def _picture(self, request: Request) -> Response:
        contest = request.path_params["number"]
        place = place_of(request.path_params["name"])
        if self._pictures is None or place is None:
            raise NotFoundError("no picture")
        game, ply = place
        data = await self._read(request, Archive.record, game)
        try:
            picture = await self._pictures.get(contest, game, data, ply)
        except IndexError:
            raise NotFoundError(f"game {game} has no ply {ply}") from None
        if picture is None:
            error = {"error": "too many pictures are being drawn; try later"}
            return JSONResponse(error, 503, {"Retry-After": str(PICTURE_RETRY_S)})
        return Response(picture, media_type="image/png", headers={"Cache-Control": "public, max-age=86400"})

    async def _feed_of_results(self, request: Request) -> Response:
        text = atom_text(*await self._read(request, newest), address_of_site(request))
        return Response(text, media_type="application/atom+xml; charset=utf-8")

    async def _calendar(self, request: Request) -> Response:
        document = await self._read(request, Archive.contest)
        text = calendar_text(document, address_of_site(request), datetime.now(UTC))
        return Response(text, media_type="text/calendar; charset=utf-8")

    async def _state(self, request: Request) -> Response:
        game = request.path_params["game"]
        if (state := await self._read(request, Archive.state, game)) is not None:
            return JSONResponse({"state": state})
        hub = await self._hub_of(request.path_params["number"])
        if hub is not None:
            hub.arrive()
            await hub.ready()
            hub.depart()
            if game in hub.games:
                return JSONResponse({"state": "running"})
        return JSONResponse({"state": "unknown"})

    async def _record_file(self, request: Request) -> Response:
        game = request.path_params["game"]
        data = await self._read(request, Archive.record, game)
        headers = {"Content-Disposition": f'attachment; filename="{game}.record"'}
        return Response(data, media_type="application/octet-stream", headers=headers)

    async def _read(self, request: Request, method: Callable[..., T], *arguments: object) -> T:
        """What `method` of an archive returns for the contest that the request names."""
        contest = request.path_params["number"]

        def read() -> T:
            archive, number = self._find(contest)
            return method(archive, number, *arguments)

        return await self._share((method, contest, *arguments), read)

    async def _share(self, key: Hashable, read: Callable[[], T]) -> T:
        """`read` on the archive's thread, once for all that ask before it begins.

        So each of them gets all that was durable when it asked, and of each document two answers at most
        are under way.
        """
        if key not in self._queued:
            self._queued[key] = asyncio.ensure_future(self._begin(key, read))
        found: T = await asyncio.shield(self._queued[key])  # a viewer who leaves ends it for no other
        return found

    async def _begin(self, key: Hashable, read: Callable[[], T]) -> T:
        async with self._turn:
            del self._queued[key]  # who asks from now on may ask for more than is read here
            return await self._run(read)

    def _find(self, contest: str) -> tuple[Archive, int]:
        """The archive and the number of a contest: one by its number, a visitor's by its name."""
        own = small_number(contest)
        if own is not None:
            return self._archive, own
        if self._played is not None and self._played.exists():
            number = self._played.latest(contest)
            if number is not None:
                return self._played, number
        raise NotFoundError(f"no contest {contest:.40}")

    # -- live

    @property
    def _played_here(self) -> list[str]:
        """The names of the contests that this server plays."""
        return list(self._features.get("names", ()) if self._feed is None else self._hubs)

    async def running(self, name: str) -> int | None:
        """The number of a contest that this server plays, once it is in the database."""
        if name not in self._numbers:
            number = await self._run(self._archive.latest, name)
            if number is None:
                return None
            self._numbers[name] = number
        return self._numbers[name]

    async def contest_document(self, name: str) -> dict[str, Any]:
        """What the channel of a contest shows beside the running games. Raises ArenaError."""
        try:
            return await self._contest_document(name)
        except ArenaError as error:
            self._note(error)
            raise

    async def _contest_document(self, name: str) -> dict[str, Any]:
        await self.look()
        number = await self.running(name)
        waiting = [] if self._waiting is None else (await self._waiting(name))[:EVENT_ROWS]
        more = {"live": self._problem(name), "waiting": waiting}
        if number is None:
            return {"contest": None, "standings": [], **more}
        whole = await self._run(self._archive.contest, number)
        standings = whole.pop("standings")
        return {"contest": whole, "standings": standings[:EVENT_ROWS], **more}

    def _problem(self, name: str) -> str | None:
        return self._hubs[name].problem if name in self._hubs else NOT_LIVE

    async def _hub_of(self, number: str | None) -> LiveHub | None:
        """The live games of the contest of this number, of the first one for None."""
        await self.look()
        if number is None:
            return next(iter(self._hubs.values()), None)
        for name, hub in list(self._hubs.items()):
            if number == str(await self.running(name)):
                return hub
        return None

    async def _live_snapshot(self, request: Request) -> Response:
        hub = await self._hub_of(request.query_params.get("contest"))
        if hub is None:
            raise NotFoundError(NOT_LIVE)
        hub.arrive()
        try:
            await hub.ready()
            game = hub.games.get(request.path_params["game"])
            if game is None:
                raise NotFoundError(hub.problem or f"no game {request.path_params['game']} is running")
            return JSONResponse(game.snapshot())
        finally:
            hub.depart()


def _number(request: Request, key: str = "chunk") -> int:
    """The number of the path that is called `key`. Raises NotFoundError."""
    number = small_number(request.path_params[key])
    if number is None:
        raise NotFoundError(f"no {key} {request.path_params[key]:.40}")
    return number
