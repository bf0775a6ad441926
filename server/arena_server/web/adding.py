"""Contests that the organiser adds to a running server.

    POST /contests {"file", "text"}   read and checked as a file of the command line
                                      kept beside the database
    {"contest", "phase", "ended"}     Host.add, on the loop of the referee

The text is kept before the contest begins: a server that is killed between serves it after its restart, and
the same request again finds that it is there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import partial
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from arena_server.errors import ArenaError, ConfigError
from arena_server.host.host import Host
from arena_server.host.log_events import ContestAdded
from arena_server.host.loop_link import Answer, LoopLink
from arena_server.host.run import ContestRun
from arena_server.store.added import forget_added, keep_added, text_of_added
from arena_server.terms.spec import ContestSpec
from arena_server.web.bridge import LoopBridge
from arena_server.web.orders import parse_file
from arena_server.web.ports import Adding
from arena_server.web.security import address_of, read_body

#: The longest body; a contest of 1,000 bots has some 150,000 bytes.
FILE_BYTES: Final = 1 << 20
FILE_FORM: Final = '{"file": "friday.toml", "text": "[contest]...", "by": "..."}'


class NotAddedError(Exception):
    """A contest that the server has no place for, or whose name it has; the text is one line."""


class ContestAdder:
    """Takes contests into a host; for the loop of the web thread."""

    def __init__(self, host: Host, bridge: LoopBridge, adding: Adding) -> None:
        self._host = host
        self._bridge = bridge
        self._adding = adding
        # One after the other: the second of two that send one name finds the contest of the first.
        self._lock = asyncio.Lock()

    async def answer(self, request: Request) -> Response:
        """Take the file of a request."""
        given = parse_file(await read_body(request, FILE_BYTES))
        if given is None:
            return JSONResponse({"error": f"expected {FILE_FORM}"}, 400)
        who = f"{given.get('by', 'organiser')} ({address_of(request) or 'unknown'})"
        # `shield`: a client that goes away leaves no contest that is begun by half.
        work = asyncio.ensure_future(self._add(given["text"], given["file"], who))
        try:
            return JSONResponse({"done": True} | await asyncio.shield(work))
        except ConfigError as error:
            return JSONResponse({"error": str(error)}, 422)
        except (NotAddedError, ArenaError) as error:
            return JSONResponse({"error": str(error)}, 409)

    async def _add(self, text: str, source: str, who: str) -> dict[str, Any]:
        adding = self._adding
        async with self._lock:
            spec = await asyncio.to_thread(adding.read, text, source)
            name = spec.name
            kept = await asyncio.to_thread(text_of_added, adding.database, name)
            # A server that has just started may still have to begin the contest of this file.
            await self._on_loop(self._host.begun())
            hosted = await self._bridge.call(lambda: self._host.contests.get(name))
            if kept not in (None, text) or (hosted is not None and kept is None):
                raise NotAddedError(f"the server has a contest {name}; choose another contest.name")
            if hosted is None:
                hosted = await self._begin(spec, text)
                await self._bridge.call(partial(self._entered, hosted, who))
            if hosted.contest is None:
                raise NotAddedError(f"the contest {name} of this server could not begin: {hosted.failure}")
            return await self._bridge.call(partial(_state_of, hosted))

    async def _begin(self, spec: ContestSpec, text: str) -> ContestRun:
        adding, name = self._adding, spec.name
        slots = sum(entrant.concurrency for entrant in spec.entrants if entrant.plays)
        try:
            await self._bridge.call(lambda: self._host.check_place(slots))
        except ValueError as error:
            raise NotAddedError(str(error)) from None
        await asyncio.to_thread(keep_added, adding.database, name, text, adding.beside)
        try:
            return await self._on_loop(self._host.add(spec))
        except ArenaError:
            await asyncio.to_thread(forget_added, adding.database, name)
            raise

    async def _on_loop(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        return await asyncio.wrap_future(LoopLink(self._bridge.loop).run(work))

    def _entered(self, hosted: ContestRun, who: str) -> None:
        hosted.log(ContestAdded(hosted.name, who))
        self._adding.entered(hosted.name)


def _state_of(hosted: ContestRun) -> dict[str, Any]:
    assert hosted.contest is not None, "it has begun"
    overview = hosted.contest.status.overview()
    return {"contest": hosted.name, "phase": str(overview.phase), "ended": overview.progress.ended}
