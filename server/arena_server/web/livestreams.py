"""The live streams as answers: each by its own address, or several in one connection.

    GET live/boards?contest=3                                  one stream
    GET live?stream=boards%3Fcontest%3D3&stream=games%2Fg7     each `stream` is an address below live/

A browser has six connections to a host: with a stream for each part of a page, a few tabs use them up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import parse_qsl, unquote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from arena_server.errors import ArenaError, public_text
from arena_server.web.live import LiveHub
from arena_server.web.shown_results import NotFoundError
from arena_server.web.streams import Channel, EventStream, Viewer, combined, last_event_id

CORS: Final = {"Access-Control-Allow-Origin": "*"}
NOT_LIVE: Final = "this server shows no running games"
#: Streams in one connection; their addresses fit the head of a request.
MOST_STREAMS: Final = 100
NO_STREAM: Final = 'name the streams: live?stream=ADDRESS, 1 to 100 of them, such as "boards?contest=3"'


@dataclass(frozen=True, slots=True)
class StreamAddress:
    """`kind` is contest, boards or games; without `contest` the first one of the server is meant."""

    kind: str
    game: str = ""
    contest: str | None = None
    last: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Of an address below live/. Raises NotFoundError."""
        path, _, query = text.partition("?")
        kind, _, game = path.partition("/")
        if kind not in ("contest", "boards", "games") or bool(game) != (kind == "games"):
            raise NotFoundError(f"no stream {text:.60}: there are contest, boards and games/ID")
        named = dict(parse_qsl(query))
        return cls(kind, unquote(game), named.get("contest"), named.get("last_event_id"))


class LiveStreams:
    """`hub_of` finds the running games of a contest by its number, or of the first one.

    At most `viewers` connections are open at once; `note` takes errors that visitors see a part of.
    """

    def __init__(
        self,
        hub_of: Callable[[str | None], Awaitable[LiveHub | None]],
        viewers: int,
        note: Callable[[Exception], None],
    ) -> None:
        self._hub_of = hub_of
        self._most_viewers = viewers
        self._note = note
        self._viewers = 0

    def routes(self, prefix: str) -> list[Route]:
        return [
            Route(prefix, self._endpoint(self._several)),
            *(Route(f"{prefix}/{path}", self._endpoint(self._one)) for path in ("contest", "boards")),
            Route(f"{prefix}/games/{{game}}", self._endpoint(self._one)),
        ]

    def _endpoint(
        self, find: Callable[[Request, list[LiveHub]], Awaitable[EventStream | Response]]
    ) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
        streams = self

        class Endpoint:
            async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
                await streams._serve(find, scope, receive, send)

        return Endpoint()

    async def _serve(
        self,
        find: Callable[[Request, list[LiveHub]], Awaitable[EventStream | Response]],
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        request = Request(scope, receive)
        answer: EventStream | Response
        if request.method != "GET":
            await Response(status_code=405, headers=CORS | {"Allow": "GET"})(scope, receive, send)
        elif self._viewers >= self._most_viewers:
            headers = CORS | {"Retry-After": "10"}
            answer = JSONResponse({"error": "too many viewers; try later"}, 503, headers)
            await answer(scope, receive, send)
        else:
            watched: list[LiveHub] = []
            self._viewers += 1
            try:
                answer = await find(request, watched)
                await answer(scope, receive, send)
            finally:
                self._viewers -= 1
                for hub in watched:
                    hub.depart()

    async def _one(self, request: Request, watched: list[LiveHub]) -> EventStream | Response:
        game = request.path_params.get("game", "")
        kind = "games" if game else request.url.path.rpartition("/")[2]
        address = StreamAddress(kind, game, request.query_params.get("contest"), last_event_id(request))
        try:
            return await self._open(address, watched)
        except NotFoundError as error:
            return JSONResponse({"error": str(error)}, 404, CORS)
        except ArenaError as error:  # before the stream begins, which reads no database
            self._note(error)
            return JSONResponse({"error": public_text(error)}, 503, CORS)

    async def _several(self, request: Request, watched: list[LiveHub]) -> EventStream | Response:
        named = request.query_params.getlist("stream")
        if not 1 <= len(named) <= MOST_STREAMS:
            return JSONResponse({"error": NO_STREAM}, 400, CORS)
        return combined(await self._open_all(named, watched))

    async def _open_all(self, named: Sequence[str], watched: list[LiveHub]) -> list[EventStream | str]:
        async def opened(text: str) -> EventStream | str:
            try:
                return await self._open(StreamAddress.parse(text), watched)
            except NotFoundError as error:
                return str(error)
            except ArenaError as error:
                self._note(error)
                return public_text(error)

        return await asyncio.gather(*map(opened, named))

    async def _open(self, address: StreamAddress, watched: list[LiveHub]) -> EventStream:
        """The stream of an address; its hub is added to `watched`. Raises ArenaError."""
        hub = await self._hub_of(address.contest)
        if hub is None:
            raise NotFoundError(NOT_LIVE)
        hub.arrive()
        watched.append(hub)
        await hub.ready()
        match address.kind:
            case "contest":
                first = await hub.contest_event()
                return _subscription(hub.board, lambda: first)
            case "boards":
                return _subscription(hub.wall, hub.wall_snapshot)
        game = hub.games.get(address.game)
        if game is None:
            raise NotFoundError(hub.problem or f"no game {address.game} is running")
        return EventStream(lambda viewer: game.join(viewer, address.last), game.channel.viewers.discard)


def _subscription(channel: Channel, first: Callable[[], bytes]) -> EventStream:
    def join(viewer: Viewer) -> list[bytes]:
        channel.viewers.add(viewer)
        return [first()]

    return EventStream(join, channel.viewers.discard)
