"""Authors send versions of their bots: the HTTP side of `submissions/`, on the site that spectators see.

    GET  /api/v1/submissions?contest=C&bot=B            the versions, and what may be sent; with
                             &wanted=submit             a refusal if no version may be sent now
    GET  /api/v1/submissions?contest=C&bot=B&version=3  the output of the admission of one
    POST /api/v1/submissions?contest=C&bot=B            tar.gz -> a JSON object a line, until the end
    POST /api/v1/submissions/active?contest=C&bot=B     {"version": 3} or {} for the one before

Each request has `Authorization: Bearer TOKEN`, the token that opens the log of the bot.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import wraps
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from arena_server.host.loop_link import LoopLink
from arena_server.submissions.bot import Key, RefusedError
from arena_server.submissions.service import SubmissionService
from arena_server.terms.submissions import CHUNK_S, UPLOAD_S
from arena_server.web.bridge import LoopBridge, UnavailableError
from arena_server.web.host_view import HostView, UnknownContestError
from arena_server.web.security import WrongSecrets, bearer_of, is_foreign, read_body, small_number
from arena_server.web.server import DEADLINE

PATH: Final = "/api/v1/submissions"
BODY_BYTES: Final = 1024
#: A blank line is sent so often, so that a proxy keeps a stream on which nothing happens.
BEAT_S: Final = 10.0

Endpoint = Callable[[Request, Key], Awaitable[Response]]


class SubmitApi:
    """`bridge` leads to the loop of the referee, `service_bridge` to that of the service."""

    def __init__(
        self, bridge: LoopBridge, view: HostView, service: SubmissionService, service_bridge: LoopBridge
    ) -> None:
        self._bridge = bridge
        self._view = view
        self._service = service
        self._submissions = service_bridge
        self._wrong = WrongSecrets()

    def routes(self) -> list[Route]:
        return [
            Route(PATH, self._guarded(self._show)),
            Route(PATH, self._guarded(self._submit), methods=["POST"]),
            Route(f"{PATH}/active", self._guarded(self._activate), methods=["POST"]),
        ]

    def _guarded(self, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        """Let only the author of a bot pass."""

        @wraps(endpoint)
        async def call(request: Request) -> Response:
            if is_foreign(request):
                return _refusal("a page of another server asked for this", 403)
            try:
                key = await self._author(request)
                return await endpoint(request, key)
            except HTTPException as error:
                return _refusal(error.detail, error.status_code)
            except RefusedError as error:
                return _refusal(str(error), 409)
            except UnavailableError as error:
                return _refusal(str(error), 503)
            except UnknownContestError as error:
                return _refusal(str(error), 404)

        return call

    async def _author(self, request: Request) -> Key:
        """The bot whose author sent the request. Raises HTTPException."""
        bot, wanted = request.query_params.get("bot", ""), request.query_params.get("contest")
        token = bearer_of(request)
        found = await self._bridge.call(lambda: self._view.author_of(wanted, bot, token))
        if found is not None:
            contest, is_sent = found
            if is_sent:
                return contest, bot
            raise RefusedError(f"{bot} connects by itself: no versions are sent of it (submit = true)")
        # The right token passes whatever else comes from its address: only failures are limited.
        if self._wrong.admits(request):
            raise HTTPException(401, "no bot of this contest has this name and this token")
        raise HTTPException(429, "too many wrong tokens from this address; try again in a minute")

    async def _show(self, request: Request, key: Key) -> Response:
        number = request.query_params.get("version")
        if request.query_params.get("wanted") == "submit":
            # Before anything is sent: the answer to a client that is still sending may be lost.
            await self._submissions.call(lambda: self._service.check_upload(key))
        if number is None:
            document = await self._submissions.call(lambda: self._service.document(key))
            document |= await self._barred(key)
        else:
            lines = await self._submissions.call(lambda: self._service.log(key, small_number(number) or 0))
            document = {"version": small_number(number), "lines": lines}
        return JSONResponse(document, headers={"Cache-Control": "no-store"})

    async def _activate(self, request: Request, key: Key) -> Response:
        try:
            wanted = json.loads(await read_body(request, BODY_BYTES) or b"{}")
            number = wanted.get("version")
        except (ValueError, AttributeError, RecursionError):
            return _refusal('expected {"version": 3}, or {} for the version before', 400)
        if number is not None and type(number) is not int:
            return _refusal("expected the number of a version", 400)
        active = await self._submissions.call(lambda: self._service.activate(key, number))
        answer = {"active": active} | await self._barred(key)
        return JSONResponse(answer, headers={"Cache-Control": "no-store"})

    async def _barred(self, key: Key) -> dict[str, str]:
        """Under `barred` why no version of the bot plays, if an order of the organiser keeps it out."""
        try:
            text = await self._bridge.call(lambda: self._view.barred(*key))
        except (UnavailableError, UnknownContestError):  # the contest is over, or archived
            return {}
        return {} if text is None else {"barred": text}

    # -- uploads

    async def _submit(self, request: Request, key: Key) -> Response:
        most = (await self._submissions.call(lambda: self._service.rules(key))).limits.packed
        length = small_number(request.headers.get("content-length", "0"))
        if length is None or length > most:
            return _refusal(f"a version may have {most} bytes at most", 413)
        deadline: asyncio.Timeout = request.scope["extensions"][DEADLINE]
        deadline.reschedule(asyncio.get_running_loop().time() + UPLOAD_S)
        upload = await self._submissions.call(lambda: self._service.begin_upload(key))
        digest: str | None = None
        size = 0
        events: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        here = LoopLink(asyncio.get_running_loop())

        def tell(event: dict[str, Any] | None) -> None:
            here.post(events.put_nowait, event)

        try:
            digest, size = await _receive(request, upload, most)
        finally:
            # In any case, also if the connection is lost: the place of the bot is free again.
            ending = self._submissions.call(lambda: self._service.end_upload(key, upload, digest, size, tell))
            number = await asyncio.shield(asyncio.ensure_future(ending))
        # The admission has limits of its own, and goes on if the author leaves.
        deadline.reschedule(None)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        stored = {"fact": "stored", "number": number, "digest": digest, "size": size}
        lines = _lines(stored, events, lambda: self._barred(key))
        return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)


async def _receive(request: Request, upload: Path, most: int) -> tuple[str, int]:
    """Write the body to a file; return its digest and size. Raises HTTPException."""
    digest, size = sha256(), 0
    parts = aiter(request.stream())
    with upload.open("xb") as file:
        while True:
            try:
                async with asyncio.timeout(CHUNK_S):
                    part = await anext(parts)
            except StopAsyncIteration:
                break
            except TimeoutError:
                raise HTTPException(408, f"nothing came for {CHUNK_S:.0f} s") from None
            except ClientDisconnect:
                raise HTTPException(400, "the connection was lost") from None
            size += len(part)
            if size > most:
                raise HTTPException(413, f"a version may have {most} bytes at most")
            digest.update(part)
            file.write(part)
    if not size:
        raise HTTPException(400, "expected a tar of a folder with a Dockerfile, got nothing")
    return digest.hexdigest(), size


async def _lines(
    first: dict[str, Any],
    events: asyncio.Queue[dict[str, Any] | None],
    barred: Callable[[], Awaitable[dict[str, str]]],
) -> AsyncIterator[bytes]:
    """The events of an admission; `barred` is asked when it begins, and when the version is active."""
    event: dict[str, Any] | None = first
    while event is not None:
        if event["fact"] in ("stored", "activated"):
            event = event | await barred()
        yield json.dumps(event).encode() + b"\n"
        while True:
            try:
                async with asyncio.timeout(BEAT_S):
                    event = await events.get()
                break
            except TimeoutError:
                yield b"\n"


def _refusal(text: str, status: int) -> Response:
    return JSONResponse({"error": text}, status)
