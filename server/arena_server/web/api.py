"""The organiser's API, and the pages for monitoring.

GET  /metrics   for Prometheus        GET  /status   for `arena admin status`      (token)
GET  /healthz   is the loop alive     POST /orders   {"verb": ..., "target": ...}  (token)
GET  /readyz    can bots play             GET  /orders   all that were carried out     (token)
POST /contests  a contest more  (token)   GET  /logs/BOT  its private log             (token)
GET  /contests  a row of each   (token)

On the spectators' port /metrics needs the token too: it shows running games without their delay.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, replace
from functools import partial, wraps
from hmac import compare_digest
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from arena_server.core.clock import NS_PER_MS
from arena_server.core.commands import UNCONFIRMED
from arena_server.core.deal import token_digest
from arena_server.core.events import Command
from arena_server.core.facts import Order
from arena_server.core.jury import AGAIN
from arena_server.core.life import reason_of
from arena_server.core.orders import VOID_WORKER
from arena_server.core.overview import Overview
from arena_server.host.observers import PlayedElsewhere
from arena_server.host.run import ContestRun
from arena_server.host.waiting import held_now
from arena_server.places.workers.past_games import workers_of
from arena_server.stats.results import PastGame
from arena_server.terms.config import Entrant
from arena_server.web.adding import ContestAdder
from arena_server.web.bridge import LoopBridge, UnavailableError
from arena_server.web.host_view import HostView, NewcomerError, UnknownContestError
from arena_server.web.metrics import exposition
from arena_server.web.orders import (
    ORDER_BYTES,
    ORDER_FORM,
    YES,
    games_about,
    order_json,
    parse_order,
)
from arena_server.web.ports import TOKEN_BYTES
from arena_server.web.register import PAGE, with_code
from arena_server.web.roles import Role, role_of
from arena_server.web.security import WrongSecrets, address_of, bearer_of, read_body, shown_once

#: The orders that make a token for a bot.
TOKEN_ORDERS = ("add", "token")
#: The orders that make a link to register by.
REGISTRATION: Final = "registration"
LINK_ORDERS: Final = ("invite", REGISTRATION)
#: How the link for all authors ends.
ALL: Final = "/all"

#: How often an order is given while results come that it is about, and how long after each other.
TRIES, AGAIN_S = 20, 0.05

Endpoint = Callable[[Request], Awaitable[Response]]


class OrganiserApi:
    """Endpoints over a bridge to the referee's loop; `token` guards /status and /orders.

    `site` is the address of the page for spectators, if there is one. With `spectators` the port is
    theirs too.
    """

    def __init__(
        self,
        bridge: LoopBridge,
        view: HostView,
        token: str,
        site: str | None = None,
        adder: ContestAdder | None = None,
        *,
        spectators: bool = False,
        roles: Sequence[Role] = (),
    ) -> None:
        self._roles = roles
        self._bridge = bridge
        self._view = view
        self._token = token
        self._site = site
        self._adder = adder
        self._spectators = spectators
        self._wrong = WrongSecrets()

    def routes(self) -> list[Route]:
        """All routes; an endpoint that cannot be answered now has status 503."""
        metrics = unavailable_as_503(self.metrics)
        return [
            Route("/metrics", self.guarded(metrics) if self._spectators else metrics),
            Route("/healthz", unavailable_as_503(self.health)),
            Route("/readyz", unavailable_as_503(self.readiness)),
            Route("/status", self.guarded(unavailable_as_503(self.status), roles=True)),
            Route("/logs/{bot}", self.guarded(unavailable_as_503(self.log))),
            Route("/orders", self.guarded(unavailable_as_503(self.orders), roles=True)),
            Route("/orders", self.guarded(unavailable_as_503(self.order), roles=True), methods=["POST"]),
            Route("/contests", self.guarded(unavailable_as_503(self.contests), roles=True)),
            Route("/contests", self.guarded(unavailable_as_503(self.add)), methods=["POST"]),
        ]

    def guarded(self, endpoint: Endpoint, *, roles: bool = False) -> Endpoint:
        """Answer 401 to requests without the organiser's token or, if they may have it, that of a role."""

        @wraps(endpoint)
        async def call(request: Request) -> Response:
            given = bearer_of(request)
            if compare_digest(given.encode("latin-1"), self._token.encode("ascii")):
                request.state.role = None
                return await endpoint(request)
            if (role := role_of(self._roles, given)) is not None:
                request.state.role = role
                return (
                    await endpoint(request) if roles else _forbidden(f"the role {role.name} may not see this")
                )
            too_many = "too many wrong tokens from this address"
            return self._wrong.refuse(request, "a wrong token, or none", 401, too_many)

        return call

    async def metrics(self, _: Request) -> Response:
        text, content_type = exposition(await self._bridge.call(self._view.snapshot))
        return Response(text, headers={"Content-Type": content_type})

    async def health(self, _: Request) -> Response:
        await self._bridge.call(lambda: None)
        return PlainTextResponse("ok\n")

    async def readiness(self, _: Request) -> Response:
        problem = await self._bridge.call(partial(self._view.problem, public=self._spectators))
        return PlainTextResponse("ready\n") if problem is None else PlainTextResponse(f"{problem}\n", 503)

    async def status(self, request: Request) -> Response:
        wanted = request.query_params.get("contest")
        name, overview, connections, pace = await self._bridge.call(lambda: self._view.overview(wanted))
        contests = await self._bridge.call(self._view.names)
        workers = await self._bridge.call(lambda: _workers(self._view.hosted(wanted)))
        plain = {"contests": contests, "pace": pace, **workers}
        shown = overview_json(overview, connections)
        shown["holds"] = [*await self._bridge.call(lambda: self._view.silence(name)), *shown["holds"]]
        return JSONResponse({"contest": name, **shown, **plain})

    async def order(self, request: Request) -> Response:
        order = parse_order(await read_body(request, ORDER_BYTES))
        if order is None:
            return JSONResponse({"error": f"expected {ORDER_FORM}"}, 400)
        contest, role = order.get("contest"), request.state.role
        if role is not None:
            orders = await self._orders(contest) if order["verb"] == "undo" else ()
            if (problem := role.refusal(order["verb"], orders)) is not None:
                return _forbidden(problem)
        by = order.get("by", "organiser" if role is None else "")
        said = by if role is None else f"{by} as {role.name}".lstrip()
        who = f"{said} ({address_of(request) or 'unknown'})"
        at = time.time_ns() // NS_PER_MS
        target = order.get("target", "")
        given = Command(0, order["verb"], target, who, at, order.get("reason", ""))
        if given.verb in LINK_ORDERS:
            renews, approves = order.get("renew") == YES, order.get("approval") == YES
            return await self._link(contest, *with_code(replace(given, renews=renews, confirmed=approves)))
        # It is shown in this answer and nowhere else: the contest has its digest.
        token = secrets.token_hex(TOKEN_BYTES) if order["verb"] in TOKEN_ORDERS else None
        try:
            entrant = None if token is None else await self._entrant(order, token_digest(token))
        except NewcomerError as error:
            return JSONResponse({"error": str(error)}, 409)
        if order["verb"] == VOID_WORKER and (unknown := await self._unknown_worker(contest, target)):
            return JSONResponse({"error": unknown}, 409)
        command = replace(given, entrant=entrant, confirmed=order.get("confirmed") == YES)

        def find() -> ContestRun:
            if command.verb == "approve":
                self._view.with_late_place(contest)
            if command.verb in ("add", "approve"):
                return self._view.with_place(contest, target)
            return self._view.hosted(contest)

        try:
            problem = await self._give(find, contest, command)
        except NewcomerError as error:
            problem = str(error)
        if problem is not None:
            asked = {"confirm": True} if problem.endswith(UNCONFIRMED) else {}
            return JSONResponse({"error": problem} | asked, 409)
        made = {} if token is None else {"token": token}
        sent = {"submit": True} if entrant is not None and entrant.author_sha256 is not None else {}
        undone = await self._undone(contest) if given.verb == "undo" else {}
        return shown_once({"done": True} | made | sent | undone)

    async def _undone(self, contest: str | None) -> dict[str, str]:
        """Which order the last one has taken back."""
        orders = await self._orders(contest)
        undone = orders[int(orders[-1].target) - 1]
        return {"undone": f"{undone.verb} {undone.target}".rstrip()}

    async def contests(self, _: Request) -> Response:
        return JSONResponse({"contests": await self._bridge.call(self._view.rows)})

    async def add(self, request: Request) -> Response:
        if self._adder is None:
            return JSONResponse({"error": "this server takes no contest more"}, 409)
        return await self._adder.answer(request)

    async def _entrant(self, order: dict[str, str], digest: str) -> Entrant:
        """The bot that an order is about, with the digest of its new token. Raises NewcomerError."""
        contest, target = order.get("contest"), order.get("target", "")
        if order["verb"] != "add":
            return Entrant(target, digest)
        details = {key: order.get(key, "") for key in ("owner", "author", "language", "url")}
        return await self._bridge.call(lambda: self._view.newcomer(contest, target, digest, **details))

    async def _give(
        self, find: Callable[[], ContestRun], contest: str | None, command: Command
    ) -> str | None:
        """Give an order with the games that it is about. Returns why it was refused."""
        for _ in range(TRIES):
            games = await self._games(contest, command.verb, command.target)
            problem = await self._bridge.order(find, replace(command, games=games))
            if problem != AGAIN:
                break
            await asyncio.sleep(AGAIN_S)  # the result of a game is on its way to the disk
        return problem

    async def _games(self, contest: str | None, verb: str, target: str) -> tuple[PastGame, ...]:
        """The stored games that an order is about."""
        hosted = await self._bridge.call(lambda: self._view.hosted(contest))
        return await asyncio.to_thread(games_about, hosted.database, hosted.name, verb, target)

    async def _unknown_worker(self, contest: str | None, worker: str) -> str:
        """Why no worker of this name is known; empty for one that has played a game."""
        hosted = await self._bridge.call(lambda: self._view.hosted(contest))
        known = await asyncio.to_thread(workers_of, hosted.database, hosted.name)
        if worker in known:
            return ""
        return f"no stored game is of a worker {worker!r:.60}; there are: {', '.join(known) or 'none'}"

    async def _link(self, contest: str | None, code: str, command: Command) -> Response:
        """An order that makes a link to register by."""
        if self._site is None:
            return JSONResponse({"error": "no page to register on is served: see server.web"}, 409)
        try:
            name = (await self._bridge.call(lambda: self._view.with_late_place(contest))).name
        except NewcomerError as error:
            return JSONResponse({"error": str(error)}, 409)
        problem = await self._bridge.order(lambda: self._view.hosted(name), command)
        if problem is not None:
            return JSONResponse({"error": problem}, 409)
        quota, _, owner = command.target.partition(" ")
        if command.verb == REGISTRATION and not int(quota):  # it is closed
            return JSONResponse({"done": True})
        for_all = command.verb == REGISTRATION and not owner
        link = f"{self._site}/{PAGE}#{name}/{code}" + (ALL if for_all else "")
        return shown_once({"done": True, "link": link, "until": moment_text(command.until)})

    async def log(self, request: Request) -> Response:
        wanted, bot = request.query_params.get("contest"), request.path_params["bot"]

        def begin(done: Callable[[bytes], None]) -> None:
            self._view.read_log(wanted, bot, done)

        try:
            data = await self._bridge.call_back(begin)
        except LookupError as error:
            return JSONResponse({"error": str(error)}, 404)
        headers = {"Cache-Control": "no-store", "Content-Disposition": f'attachment; filename="{bot}.log"'}
        return PlainTextResponse(data, headers=headers)

    async def orders(self, request: Request) -> Response:
        found = await self._orders(request.query_params.get("contest"))
        return JSONResponse({"orders": [order_json(order) for order in found]})

    async def _orders(self, contest: str | None) -> Sequence[Order]:
        _, overview, *_ = await self._bridge.call(lambda: self._view.overview(contest))
        return overview.orders


def _registrations(overview: Overview, at: int) -> dict[str, Any]:
    """Who was invited, and what authors may register by themselves; `at` is now (ms since 1970)."""
    open_now = [
        asdict(each) | {"until": moment_text(each.until)}
        for each in overview.registrations
        if each.until >= at
    ]
    for_all = [each for each in open_now if not each["owner"]]
    return {
        "invitations": [
            asdict(each) | {"until": moment_text(each.until), "expired": each.bot is None and each.until < at}
            for each in overview.invitations
        ],
        "registration": {key: for_all[0][key] for key in ("until", "quota", "approves")} if for_all else None,
        "registrations": [each for each in open_now if each["owner"]],
    }


def moment_text(at: int) -> str:
    """A moment (ms since 1970) for people."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(at // 1000))


def _forbidden(problem: str) -> Response:
    return JSONResponse({"error": problem}, 403)


def unavailable_as_503(endpoint: Endpoint) -> Endpoint:
    @wraps(endpoint)
    async def call(request: Request) -> Response:
        try:
            return await endpoint(request)
        except UnavailableError as error:
            return JSONResponse({"error": str(error)}, 503)
        except UnknownContestError as error:
            return JSONResponse({"error": str(error), "contests": error.contests}, 404)

    return call


def _workers(hosted: ContestRun) -> dict[str, Any]:
    """What is known of the workers of a contest; empty lists without any. On the loop's thread."""
    elsewhere = hosted.find(PlayedElsewhere)
    return {"workers": [], "benches": []} if elsewhere is None else elsewhere.status()


def overview_json(overview: Overview, connections: int) -> dict[str, Any]:
    """An overview in the types of JSON; each bot has its points and games beside its state."""
    progress = overview.progress
    rows = {row.name: row for row in progress.standings}
    games = {key: getattr(progress, key) for key in ("done", "total", "void", "running")}
    return {
        "phase": str(overview.phase),
        "state": overview.state,
        "ended": progress.ended,
        "reason": reason_of(progress.ended) or None,
        "until": overview.until,
        "length": None if overview.length is None else asdict(overview.length),
        "games": games,
        "plies": progress.plies,
        "connections": connections,
        **held_now(progress.holds, progress.waiting),
        "running": [asdict(game) for game in overview.running],
        **_registrations(overview, time.time_ns() // NS_PER_MS),
        "applicants": [asdict(each) for each in overview.applicants],
        "bots": [
            {**asdict(bot), "points": rows[bot.name].points, "games": rows[bot.name].games}
            for bot in overview.bots
        ],
    }
