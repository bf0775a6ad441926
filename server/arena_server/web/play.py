"""Persons that play in a browser: the web server holds a bot's connection for each of them.

    link #key --POST take--> session      once; the page keeps the session
    GET  events?session=                  events: seat, and those of a running game (see livegame)
    POST ready, move, quit                READY, MOVE and QUIT on the connection
    POST check                            is the session good

To the referee such a seat is a bot like any other: the same port, clock, rules and record. A request
carries its key or session in the body, so that no foreign page can make one.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from hmac import compare_digest
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from arena_protocol.framing import SERVER_LINE_LIMIT, LineReader, Overlong
from arena_server.web.access import Invitation
from arena_server.web.livegame import LiveGame
from arena_server.web.security import AddressLimit, read_body
from arena_server.web.streams import Channel, EventStream, Viewer, encode_event

API: Final = "/api/v1/play"
BODY_BYTES: Final = 1024
SESSION_BYTES: Final = 16
VERBS: Final = ("check", "ready", "move", "quit")
#: A move is one token of the protocol.
MOVE: Final = re.compile(r"[!-~]{1,64}")
RETRY_S: Final = (0.1, 0.5, 1.0, 2.0, 5.0)
SYNC_S: Final = 10.0
#: Wrong keys and sessions from an address, at once and a minute.
FAILURES: Final = 20.0

Connect = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


class SeatError(Exception):
    """A request that cannot be carried out now; the text says why in one line."""


class PersonSeat:
    """One person's connection to the referee. Every method runs on the web thread's loop.

    `state` is `link` before the link is used, then `connecting`, `waiting` for a game, `invited` to
    one, `ready`, `playing`, `over` after a game and `finished` after the contest.
    """

    def __init__(self, invitation: Invitation, game: str, connect: Connect) -> None:
        self.name = invitation.name
        self.key: str | None = invitation.key
        self.session: str | None = None
        self.state = "link"
        self.channel = Channel()
        self._game_name = game
        self._connect = connect
        self._token = invitation.token
        self._resume: str | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._problem: str | None = None
        self._game: LiveGame | None = None
        self._games = 0
        #: The ply that the referee waits for.
        self._turn: int | None = None
        self._published: bytes = b""
        self._tasks: list[asyncio.Task[None]] = []

    # -- the browser's requests

    def take(self) -> str:
        """Use the link up: connect to the referee, and return the session."""
        self.key = None
        self.session = secrets.token_hex(SESSION_BYTES)
        self.state = "connecting"
        self._tasks = [asyncio.create_task(self._play()), asyncio.create_task(self._sync())]
        return self.session

    def ready(self) -> None:
        """Let the clock start. Raises SeatError."""
        if self.state != "invited" or self._game is None:
            raise SeatError("no game waits for you")
        self._send(f"READY {self._game.game_id}")
        self.state = "ready"
        self._publish()

    def move(self, ply: object, move: object) -> None:
        """Answer TURN. Raises SeatError; the rules are the referee's."""
        if not isinstance(move, str) or not MOVE.fullmatch(move):
            raise SeatError("a move is a word of ASCII characters")
        if self._turn is None or ply != self._turn:
            raise SeatError("it is not your turn")
        self._send(f"MOVE {move}")
        self._turn = None
        self._publish()

    def quit(self) -> None:
        """Give the contest up. Raises SeatError."""
        self._send("QUIT")

    def join(self, viewer: Viewer) -> list[bytes]:
        self.channel.viewers.add(viewer)
        game = self._game
        shown = [] if game is None or not game.state() else [encode_event("snapshot", game.snapshot())]
        return [self._event(), *shown]

    # -- the referee's lines

    async def _play(self) -> None:
        failures = 0
        while self.state != "finished":
            try:
                reader, self._writer = await self._connect()
            except OSError as error:
                self._problem = f"the referee cannot be reached: {error}"
            else:
                credential = f"token={self._token}" if self._resume is None else f"resume={self._resume}"
                self._resume = None  # a key that is refused is not tried again
                try:
                    self._send(f"HELLO 1 {self.name} games={self._game_name} {credential} agent=web/1")
                    await self._read(reader)
                except OSError as error:
                    self._problem = f"the connection to the referee is lost: {error}"
                finally:
                    self._writer.close()
                    self._writer = None
            if self.state != "finished":
                failures = 0 if self._problem is None else failures + 1
                self._publish()
                await asyncio.sleep(RETRY_S[min(failures, len(RETRY_S) - 1)])

    async def _read(self, reader: asyncio.StreamReader) -> None:
        buffer = LineReader(SERVER_LINE_LIMIT)
        while data := await reader.read(65536):
            for line in buffer.feed(data):
                if not isinstance(line, Overlong):
                    self._take(line)
            self._publish()

    def _take(self, line: bytes) -> None:
        verb, _, rest = line.partition(b" ")
        first = rest.partition(b" ")[0].decode("latin-1")
        match verb:
            case b"PING":
                self._send(f"PONG {rest.decode('latin-1')}")
            case b"WELCOME":
                self._problem = None
                self._resume = rest.rpartition(b"resume=")[2].partition(b" ")[0].decode("latin-1")
                self.state = "waiting"
            case b"ERROR":
                self._problem = rest.decode("latin-1")
            case b"BYE":
                self.state, self._turn = "finished", None
            case b"GAME":
                self._games += 1
                self._game = LiveGame(first, f"{self._games}", channel=self.channel)
                self._game.add(line)
                self.state, self._turn = "invited", None
            case b"TURN":
                self._turn = int(first)
            case _ if self._game is not None:
                self._game.add(line)
                if verb in (b"STATE", b"NEXT"):
                    self.channel.publish(encode_event("snapshot", self._game.snapshot()))
                elif verb in (b"START", b"PLAYED"):
                    self.state = "playing"
                elif verb == b"OVER":
                    self.state = "over"
                if verb in (b"ZOMBIE", b"OVER"):
                    self._turn = None

    def _send(self, line: str) -> None:
        if self._writer is None:
            raise SeatError("the referee cannot be reached now")
        self._writer.write(f"{line}\n".encode("ascii"))

    # -- events

    def _event(self) -> bytes:
        game = None if self._game is None else self._game.game_id
        document = {"name": self.name, "state": self.state, "game": game, "turn": self._turn}
        return encode_event("seat", document | {"problem": self._problem})

    def _publish(self) -> None:
        event = self._event()
        if event != self._published:
            self._published = event
            self.channel.publish(event)

    async def _sync(self) -> None:
        while self.state != "finished":
            await asyncio.sleep(SYNC_S)
            self.channel.publish(
                encode_event("sync", {"since_ms": 0}) if self._game is None else self._game.sync()
            )


class PlayApi:
    """The requests of all persons."""

    def __init__(self, persons: Sequence[Invitation], game: str, connect: Connect) -> None:
        self._seats = [PersonSeat(person, game, connect) for person in persons]
        self._failures = AddressLimit(FAILURES, FAILURES / 60)

    def routes(self) -> list[BaseRoute]:
        orders = [Route(f"{API}/{verb}", self._post, methods=["POST"]) for verb in VERBS]
        return [
            Route(f"{API}/take", self._post, methods=["POST"]),
            *orders,
            Route(f"{API}/events", self._stream()),
        ]

    async def _post(self, request: Request) -> Response:
        body: dict[str, Any] = {}
        with suppress(ValueError, RecursionError):
            found = json.loads(await read_body(request, BODY_BYTES))
            body = found if isinstance(found, dict) else {}
        verb = request.url.path.rpartition("/")[2]
        if verb == "take":
            seat = self._find("key", body.get("key"))
            if seat is None:
                return self._refused(request, "this link has been used already, or is not complete")
            return JSONResponse({"session": seat.take(), "name": seat.name})
        seat = self._find("session", body.get("session"))
        if seat is None:
            return self._refused(request, "this seat is played in another browser")
        try:
            match verb:
                case "ready":
                    seat.ready()
                case "move":
                    seat.move(body.get("ply"), body.get("move"))
                case "quit":
                    seat.quit()
                case _:
                    pass  # `check`: the session is good
        except SeatError as error:
            return JSONResponse({"error": str(error)}, 409)
        return JSONResponse({"done": True})

    def _find(self, kind: str, given: object) -> PersonSeat | None:
        """The seat whose key or session is `given`."""
        if not isinstance(given, str):
            return None
        secret = given.encode("utf-8", "replace")
        for seat in self._seats:
            own = getattr(seat, kind)
            if own is not None and compare_digest(secret, own.encode("ascii")):
                return seat
        return None

    def _refused(self, request: Request, text: str) -> Response:
        if self._failures.allows("" if request.client is None else request.client.host):
            return JSONResponse({"error": text}, 401)
        return JSONResponse({"error": "too many wrong links from this address"}, 429)

    def _stream(self) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
        api = self

        class Stream:
            async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
                request = Request(scope, receive)
                seat = api._find("session", request.query_params.get("session"))
                answer: EventStream | Response
                if seat is None:
                    answer = api._refused(request, "this seat is played in another browser")
                else:
                    answer = EventStream(seat.join, seat.channel.viewers.discard)
                await answer(scope, receive, send)

        return Stream()
