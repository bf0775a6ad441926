"""The contests that a site shows live: their hubs, and the documents about them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from secrets import token_hex
from time import monotonic
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from arena_server.errors import ArenaError
from arena_server.host.waiting import NOT_HELD
from arena_server.web.archive import Archive
from arena_server.web.feeds import LiveFeed
from arena_server.web.gamestream import GameStream
from arena_server.web.live import LiveHub
from arena_server.web.livestreams import NOT_LIVE
from arena_server.web.previews import Preview, running_preview
from arena_server.web.shared_reads import Endpoint, SharedReads
from arena_server.web.shown_results import NotFoundError

#: Rows of the standings in an event; the page of the contest has all.
EVENT_ROWS: Final = 100
#: How old the list of running contests may be.
LOOK_S: Final = 1.0

Held = Callable[[str], Awaitable[Mapping[str, list[dict[str, Any]]]]]
Begun = Callable[[str], Awaitable[bool]]
Served = Callable[[], Awaitable[Mapping[str, bool]]]


class LiveContests:
    """The hubs of the contests with live pages, by name; `note` takes errors that visitors see a part of.

    `feed` makes that of a contest. With `served` the contests are those of a server, and which of them are
    live; else all that the database has as running are. Without `feed` they are those of `connect`. `held`
    tells what holds a contest, `begun` whether one of this server has begun: before that the database may
    have another of its name.
    """

    def __init__(
        self,
        reads: SharedReads,
        features: dict[str, Any],
        note: Callable[[Exception], None],
        feed: Callable[[str], LiveFeed] | None = None,
        held: Held | None = None,
        begun: Begun | None = None,
        served: Served | None = None,
    ) -> None:
        self._reads = reads
        self._features = features
        self._note = note
        self._feed = feed
        self._held = held
        self._begun = begun
        self._served = served
        self._here: Mapping[str, bool] = {}
        self._looked_at = -LOOK_S
        self._looking = asyncio.Lock()
        #: The running games of each contest that this server plays, by its name, and the contests' numbers.
        self._hubs: dict[str, LiveHub] = {}
        self._numbers: dict[str, int] = {}

    def endpoints(self) -> dict[str, Endpoint]:
        """The endpoint of each path below the API."""
        return {
            "site.json": self._site,
            "contests/{number}/state/{game}.json": self._state,
            "live/games/{game}.json": self._snapshot,
        }

    def connect(self, contest: str, hub: LiveHub) -> None:
        """Serve the live games of a contest from `hub`; the first one is meant where a request names none."""
        self._hubs[contest] = hub

    async def _look(self) -> None:
        """See which contests are live, if their feeds can be made here. Raises StoreError."""
        if self._feed is None:
            return
        # Who comes while another looks waits for it: else the first visitors at once would find nothing live.
        async with self._looking:
            if monotonic() - self._looked_at >= LOOK_S:
                await self._look_now(self._feed)
                self._looked_at = monotonic()

    async def _look_now(self, feed: Callable[[str], LiveFeed]) -> None:
        if self._served is None:
            found = await self._reads.run(self._reads.archive.running)
            self._numbers |= found
            live = list(found)
        else:
            self._here = await self._served()
            live = [name for name, guests in self._here.items() if guests]
        for name in live:
            if name not in self._hubs:
                self.connect(name, LiveHub(feed(name), partial(self.document, name), token_hex(4)))
        for name in self._hubs.keys() - set(live):
            if not self._hubs[name].watched:
                self._hubs.pop(name).stop()

    @property
    def _names(self) -> list[str]:
        if self._served is not None:
            return list(self._here)
        return list(self._features.get("names", ()) if self._feed is None else self._hubs)

    async def _number(self, name: str) -> int | None:
        """The number of a contest that this server plays, once it is in the database."""
        if name not in self._numbers:
            if self._begun is not None and not await self._begun(name):
                return None
            number = await self._reads.run(self._reads.archive.latest, name)
            if number is None:
                return None
            self._numbers[name] = number
        return self._numbers[name]

    async def hub_of(self, number: str | None) -> LiveHub | None:
        """The live games of the contest of this number, of the first one for None."""
        await self._look()
        if number is None:
            return next(iter(self._hubs.values()), None)
        for name, hub in list(self._hubs.items()):
            if number == str(await self._number(name)):
                return hub
        return None

    async def document(self, name: str) -> dict[str, Any]:
        """What the channel of a contest shows beside the running games. Raises ArenaError."""
        try:
            return await self._document(name)
        except ArenaError as error:
            self._note(error)
            raise

    async def _document(self, name: str) -> dict[str, Any]:
        await self._look()
        number = await self._number(name)
        held = NOT_HELD if self._held is None else await self._held(name)
        live = self._hubs[name].problem if name in self._hubs else NOT_LIVE
        more = {"live": live, "waiting": held["waiting"][:EVENT_ROWS], "holds": held["holds"]}
        if number is None:
            return {"contest": None, "standings": [], **more}
        whole = await self._reads.run(self._reads.archive.contest, number)
        standings = whole.pop("standings")
        if (teams := whole.get("teams")) is not None:
            whole["teams"] = teams | {"rows": teams["rows"][:EVENT_ROWS]}
        return {"contest": whole, "standings": standings[:EVENT_ROWS], **more}

    async def _site(self, _: Request) -> Response:
        await self._look()
        names = self._names
        numbers = [await self._number(name) for name in names]
        live = {
            "live": bool(self._hubs) or (self._feed is not None and self._served is None),
            "state": True,
            "contest": numbers[0] if numbers else None,
            "running": [number for number in numbers if number is not None],
        }
        # Without `feed` the server knows its contests before the database does.
        here = {} if self._feed is None else {"name": names[0] if names else None, "names": names}
        return JSONResponse(self._features | here | live)

    async def _state(self, request: Request) -> Response:
        contest, game = request.path_params["number"], request.path_params["game"]
        if (state := await self._reads.of(contest, Archive.state, game)) is not None:
            return JSONResponse({"state": state})
        is_running = await self._running(contest, game) is not None
        return JSONResponse({"state": "running" if is_running else "unknown"})

    async def preview(self, contest: str | None, game: str) -> Preview | None:
        """What a link to a game that runs shows of itself; None if there is none."""
        try:
            stream = None if contest is None else await self._running(contest, game)
        except ArenaError:
            return None
        return None if contest is None or stream is None else running_preview(contest, stream.summary())

    async def _running(self, contest: str, game: str) -> GameStream | None:
        """A game that is shown live."""
        hub = await self.hub_of(contest)
        if hub is None:
            return None
        hub.arrive()
        await hub.ready()
        hub.depart()
        return hub.games.get(game)

    async def _snapshot(self, request: Request) -> Response:
        hub = await self.hub_of(request.query_params.get("contest"))
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
