"""The requests of persons that play in a browser; `person.PersonSeat` has their connections.

    link #key --POST take--> session      once; the page keeps the session
    POST link                             what a link is for; it is not used up
    GET  events?session=                  events: seat, and those of a running game (see gamestream)
    GET  events?stream=SESSION&stream=... those of several seats in one connection (see streams)
    POST ready, move, quit                READY, MOVE and QUIT on the connection
    POST check                            is the session good
    POST undo                             the last own move is taken back (see person)
    POST rematch --> key                  the same players again (see casual)
    GET  offer.json, POST start           games that visitors start themselves (see casual)
    GET  on.json?contest=&game=&ply=      who sat where in a game that is played on (see played_on)

A request carries its key or session in the body, so that no foreign page can make one; `start`, which
needs neither, is refused to foreign pages by their Origin.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from hmac import compare_digest
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from arena_server.core.ratelimit import Limit
from arena_server.web.casual import CasualGames, parse_name, parse_request
from arena_server.web.person import Connect, PersonSeat, SeatError
from arena_server.web.played_on import ply_of, source_of
from arena_server.web.ports import Invitation
from arena_server.web.security import (
    STARTS,
    WrongSecrets,
    address_of,
    is_foreign,
    is_loopback,
    read_body,
)
from arena_server.web.streams import EventStream, combined

API: Final = "/api/v1/play"
BODY_BYTES: Final = 1024
#: Seats in one connection, which one browser plays.
MOST_SEATS: Final = 20
ELSEWHERE: Final = "this seat is played in another browser"
TOO_MANY_WRONG: Final = "too many wrong links from this address"
VERBS: Final = ("check", "ready", "move", "quit", "undo", "rematch")


class PlayApi:
    """The requests of all persons; with `casual` they may start games."""

    def __init__(
        self,
        persons: Sequence[Invitation],
        connect: Connect,
        casual: CasualGames | None = None,
    ) -> None:
        self._persons = [PersonSeat(person, connect) for person in persons]
        self._casual = casual
        self._starts = Limit[str](STARTS)
        self._wrong = WrongSecrets()

    def routes(self) -> list[BaseRoute]:
        orders = [Route(f"{API}/{verb}", self._post, methods=["POST"]) for verb in VERBS]
        casual = [
            Route(f"{API}/offer.json", self._offer),
            Route(f"{API}/on.json", self._source),
            Route(f"{API}/start", self._start, methods=["POST"]),
        ]
        return [
            *(casual if self._casual is not None else ()),
            *(Route(f"{API}/{verb}", self._link, methods=["POST"]) for verb in ("link", "take")),
            *orders,
            Route(f"{API}/events", self._stream()),
        ]

    async def _offer(self, _: Request) -> Response:
        assert self._casual is not None
        try:
            return JSONResponse(await self._casual.offer())
        except SeatError as error:
            return JSONResponse({"error": str(error)}, 503)

    async def _source(self, request: Request) -> Response:
        assert self._casual is not None
        given = request.query_params
        try:
            ply = ply_of(given.get("ply", ""))
            found = await self._casual.source(given.get("contest", ""), given.get("game", ""), ply)
        except SeatError as error:
            return JSONResponse({"error": str(error)}, 404)
        return JSONResponse(found)

    async def _start(self, request: Request) -> Response:
        assert self._casual is not None
        if is_foreign(request):
            return JSONResponse({"error": "a page of another server asked for this game"}, 403)
        address = address_of(request)
        # Behind a proxy that is not named all visitors are loopback: one must not keep the others out.
        limited = not is_loopback(address)
        if limited and self._starts.wait(address, time.monotonic_ns()):
            return JSONResponse({"error": "too many games from this address; try again in a minute"}, 429)
        try:
            body = await _body(request)
            started = await self._casual.start(parse_request(body), address, source_of(body))
            if limited:
                self._starts.count(address, time.monotonic_ns())
            return JSONResponse(started)
        except SeatError as error:
            return JSONResponse({"error": str(error)}, 409)

    async def _link(self, request: Request) -> Response:
        body = await _body(request)
        seat = self._find("key", body.get("key"))
        if seat is None:
            return self._refused(request, "this link has been used already, or is not complete")
        if request.url.path.endswith("/link"):
            return JSONResponse(seat.link())
        try:
            return JSONResponse({"session": seat.take(parse_name(body.get("name", ""))), "name": seat.called})
        except SeatError as error:
            return JSONResponse({"error": str(error)}, 409)

    async def _post(self, request: Request) -> Response:
        body = await _body(request)
        verb = request.url.path.rpartition("/")[2]
        seat = self._find("session", body.get("session"))
        if seat is None:
            return self._refused(request, ELSEWHERE)
        try:
            match verb:
                case "ready":
                    seat.ready()
                case "move":
                    seat.move(body.get("ply"), body.get("move"))
                case "quit":
                    seat.quit()
                case "undo":
                    seat.take_back()
                case "rematch":
                    return self._rematch(seat, address_of(request))
                case _:
                    pass  # `check`: the session is good
        except SeatError as error:
            return JSONResponse({"error": str(error)}, 409)
        return JSONResponse({"done": True})

    def _rematch(self, seat: PersonSeat, address: str) -> Response:
        """Raises SeatError."""
        if self._casual is None:
            raise SeatError("this server starts no games")
        return JSONResponse(self._casual.rematch(seat, address))

    def _find(self, kind: str, given: object) -> PersonSeat | None:
        """The seat whose key or session is `given`."""
        if not isinstance(given, str):
            return None
        secret = given.encode("utf-8", "replace")
        casual = self._casual.seats() if self._casual is not None else []
        for seat in [*self._persons, *casual]:
            own = getattr(seat, kind)
            if own is not None and compare_digest(secret, own.encode("ascii")):
                return seat
        return None

    def _refused(self, request: Request, text: str) -> Response:
        return self._wrong.refuse(request, text, 401, TOO_MANY_WRONG)

    def _stream(self) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
        api = self

        class SeatStream:
            async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
                request = Request(scope, receive)
                answer: EventStream | Response
                if several := request.query_params.getlist("stream")[:MOST_SEATS]:
                    answer = combined([api._seat_stream(request, session) for session in several])
                elif (seat := api._find("session", request.query_params.get("session"))) is not None:
                    answer = EventStream(seat.join, seat.leave)
                else:
                    answer = api._refused(request, ELSEWHERE)
                await answer(scope, receive, send)

        return SeatStream()

    def _seat_stream(self, request: Request, session: str) -> EventStream | str:
        """The stream of a seat beside others, or why there is none: the others go on."""
        seat = self._find("session", session)
        if seat is not None:
            return EventStream(seat.join, seat.leave)
        return ELSEWHERE if self._wrong.admits(request) else TOO_MANY_WRONG


async def _body(request: Request) -> dict[str, Any]:
    """The JSON object in the body of a request; empty without one."""
    with suppress(ValueError, RecursionError):
        found = json.loads(await read_body(request, BODY_BYTES))
        if isinstance(found, dict):
            return found
    return {}
