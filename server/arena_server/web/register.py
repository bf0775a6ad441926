"""The page on which an author registers a bot by a link of the organiser's: for one bot, or for all authors.

    /register.html#CONTEST/CODE[/all]   the code is in the fragment, which a browser sends to no server
    POST /api/v1/register   {"code", "contest", "name", "owner", "author", "language", "url"} -> {"token"}
    POST /api/v1/register/link   {"code", "contest"} -> {"works", "bot"}: can it be used, and was it for a bot

The invitation says whose bot it is; by the link for all authors `owner` does.
The token is shown in this one answer; the contest keeps its digest (`core/parts/invitations.py`). The same
request again makes another token for the same bot, until that has logged in: an answer may be lost.
"""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import asdict, replace
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from arena_server.core.clock import NS_PER_MS
from arena_server.core.deal import token_digest
from arena_server.core.events import Command
from arena_server.core.overview import LinkState
from arena_server.core.parts.invitations import NO_CODE
from arena_server.web.bridge import LoopBridge, UnavailableError
from arena_server.web.host_view import HostView, NewcomerError, UnknownContestError
from arena_server.web.orders import parse_texts
from arena_server.web.ports import TOKEN_BYTES
from arena_server.web.security import WrongSecrets, address_of, is_foreign, read_body, shown_once

PATH: Final = "/api/v1/register"
PAGE: Final = "register.html"
BODY_BYTES: Final = 2048
TOO_MANY_WRONG: Final = "too many wrong links from this address; try again in a minute"
#: How long the texts may be.
KEYS: Final = {
    "code": 64,
    "contest": 100,
    "name": 32,
    "owner": 32,
    "author": 60,
    "language": 60,
    "url": 200,
}
#: How long an invitation can be used.
VALID_MS: Final = 14 * 24 * 3600 * 1000


def with_code(order: Command) -> tuple[str, Command]:
    """A new code, and the order with its digest, until when it can be used."""
    code = secrets.token_hex(TOKEN_BYTES)
    return code, replace(order, code=token_digest(code), until=order.at + VALID_MS)


class RegisterApi:
    """Takes registrations, on the site that spectators see."""

    def __init__(self, bridge: LoopBridge, view: HostView) -> None:
        self._bridge = bridge
        self._view = view
        self._wrong = WrongSecrets()

    def routes(self) -> list[Route]:
        return [
            Route(PATH, self._register, methods=["POST"]),
            Route(f"{PATH}/link", self._link, methods=["POST"]),
        ]

    async def _link(self, request: Request) -> Response:
        """What the page says before its form is filled in; a wrong code learns what it learns from that."""
        given = parse_texts(await read_body(request, BODY_BYTES), KEYS) or {}
        code, contest = given.get("code", ""), given.get("contest") or None
        digest = token_digest(code) if code.isascii() else ""
        at = time.time_ns() // NS_PER_MS
        try:
            link = await self._bridge.call(lambda: self._view.link(contest, digest, at))
        except UnknownContestError:
            link = LinkState(works=False)
        except UnavailableError as error:
            return _refusal(str(error), 503)
        if not link.works and link.bot is None:
            return self._wrong.refuse(request, NO_CODE, 409, TOO_MANY_WRONG)
        return shown_once(asdict(link))

    async def _register(self, request: Request) -> Response:
        if is_foreign(request):
            return _refusal("a page of another server asked for this", 403)
        given = parse_texts(await read_body(request, BODY_BYTES), KEYS)
        code = None if given is None else given.get("code")
        if given is None or not code or not code.isascii() or "name" not in given:
            return _refusal(f"expected {json.dumps(dict.fromkeys(KEYS, '...'))}, texts of one line", 400)
        token = secrets.token_hex(TOKEN_BYTES)
        details = {key: given.get(key, "") for key in ("owner", "author", "language", "url")}
        name, who = given["name"], f"by invitation ({address_of(request) or 'unknown'})"
        at = time.time_ns() // NS_PER_MS
        contest = given.get("contest") or None
        try:
            entrant = await self._bridge.call(
                lambda: self._view.newcomer(contest, name, token_digest(token), **details)
            )
            command = Command(0, "register", name, who, at, "", entrant, token_digest(code))
            problem = await self._bridge.order(lambda: self._view.with_place(contest, name), command)
            if problem is not None and await self._bridge.call(lambda: self._view.hides_end(contest)):
                problem = NO_CODE  # all visitors may try one
        except NewcomerError as error:
            problem = str(error)
        except UnknownContestError:  # it lists the contests, of which some may be hidden
            problem = NO_CODE
        except UnavailableError as error:
            return _refusal(str(error), 503)
        if problem == NO_CODE:
            return self._wrong.refuse(request, NO_CODE, 409, TOO_MANY_WRONG)
        if problem is not None:
            return _refusal(problem, 409)
        answer: dict[str, Any] = {"token": token, "name": name}
        if entrant.author_sha256 is not None:  # its versions are sent (`web/submit.py`)
            answer["submit"] = True
        if not await self._bridge.call(lambda: self._view.takes_part(contest, name)):
            answer["waiting"] = True
        return shown_once(answer)


def _refusal(text: str, status: int) -> Response:
    return JSONResponse({"error": text}, status)
