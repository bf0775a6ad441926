"""The ASGI applications for everything HTTP: routes, checks of every request, error pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from arena_server.errors import StoreError
from arena_server.host.waiting import NOT_HELD
from arena_server.store.abandoned import stop_abandoned
from arena_server.terms.stages import stage_json
from arena_server.web.adding import ContestAdder
from arena_server.web.api import OrganiserApi
from arena_server.web.archive import Archive
from arena_server.web.bridge import LoopBridge, UnavailableError
from arena_server.web.bundle import NAME
from arena_server.web.casual import CasualGames
from arena_server.web.casual_host import CasualContests
from arena_server.web.feeds import GameServer, SocketFeed, TranscriptFeed
from arena_server.web.host_view import HostView
from arena_server.web.identity import SiteIdentity
from arena_server.web.livestreams import CORS
from arena_server.web.pages import API, Pages, nothing_here
from arena_server.web.play import PlayApi
from arena_server.web.played_on import ReadRecord
from arena_server.web.register import RegisterApi
from arena_server.web.security import HostCheck, PageHeaders, RateLimit, VisitWatch
from arena_server.web.site import PublicApi
from arena_server.web.submit import SubmitApi

if TYPE_CHECKING:
    from arena_server.store.database import Database
    from arena_server.web.host_view import ServedHost
    from arena_server.web.ports import CasualSetup, WebPorts
    from arena_server.web.roles import Role

#: What the loop of the submissions may take for an answer: it waits for the disk.
SUBMISSION_S = 20.0
#: Connections that streams leave for loading pages, out of all.
KEPT_FOR_PAGES = 0.1


def adder_of(referee: ServedHost, bridge: LoopBridge) -> ContestAdder | None:
    """What takes contests more into the host, if any are taken."""
    return None if referee.adding is None else ContestAdder(referee.host, bridge, referee.adding)


def organiser_app(
    bridge: LoopBridge,
    view: HostView,
    token: str,
    names: Sequence[str] = (),
    site: str | None = None,
    adder: ContestAdder | None = None,
    roles: Sequence[Role] = (),
) -> Starlette:
    """The application behind `--admin-port`; `names` are the host names by which it is reached.

    `site` is the address of the page for spectators, if there is one.
    """
    routes = [
        *OrganiserApi(bridge, view, token, site, adder, roles=roles).routes(),
        *Pages(["organiser"], ["organiser"]).routes(),
    ]
    return application(routes, [Middleware(HostCheck, names=names), Middleware(PageHeaders)])


class _HostAnswers:
    """What the site asks of its host, which is on another loop; each has an answer while that gives none."""

    def __init__(self, bridge: LoopBridge, view: HostView, known: Mapping[str, bool]) -> None:
        """`known`: the contests, and whether each has live pages."""
        self._bridge, self._view = bridge, view
        self.known = known

    async def begun(self, name: str) -> bool:
        try:
            return await self._bridge.call(partial(self._view.has_begun, name))
        except UnavailableError:
            return False

    async def held(self, name: str) -> Mapping[str, list[dict[str, Any]]]:
        try:
            return await self._bridge.call(partial(self._view.held, name))
        except UnavailableError:  # the channel goes on with what the database has
            return NOT_HELD

    async def served(self) -> Mapping[str, bool]:
        with suppress(UnavailableError):  # what was known a moment ago is shown meanwhile
            self.known = await self._bridge.call(self._view.served)
        return self.known

    def feed(self, name: str) -> TranscriptFeed:
        return TranscriptFeed(self._bridge, partial(self._view.hosted, name), self._view.news[name])


def site_app(
    referee: ServedHost,
    bridge: LoopBridge,
    view: HostView,
    token: str | None,
    ports: WebPorts,
    report: Callable[[str], None],
) -> Starlette:
    """The application behind `--web-port`; with a `token` the organiser's pages are part of it.

    `report` takes what its visitors are not told of an error.
    """
    first = referee.configs[0]
    host = _HostAnswers(bridge, view, {config.name: config.guests for config in referee.configs})
    features = _features(ports) | {
        "software": first.software,
        "name": first.name,
        "names": list(host.known),
        "organiser": token is not None,
        "play": bool(ports.persons),
        "start": ports.casual is not None,
        "stages": [stage_json(*stage) for stage in referee.stages],
    }
    public = PublicApi(
        Archive(referee.database, live=True),
        features,
        _viewers(ports),
        None if ports.casual is None else Archive(ports.casual.database, by_name=True),
        host.held,
        host.feed,
        begun=host.begun,
        report=report,
        painter=ports.painter,
        served=host.served,
    )
    routes = [
        *public.routes(),
        *_pages(features, ports.about, public, live=any(host.known.values())).routes(),
        *_orders(referee, bridge, view, token, ports, public.stored.record),
    ]
    return application(routes, _checks(ports), ports.about.title)


def _orders(
    referee: ServedHost,
    bridge: LoopBridge,
    view: HostView,
    token: str | None,
    ports: WebPorts,
    read: ReadRecord,
) -> list[BaseRoute]:
    """What is not reading: the organiser's orders, registrations, versions of bots, games of persons."""
    routes: list[BaseRoute] = []
    if token is not None:
        adder = adder_of(referee, bridge)
        routes += OrganiserApi(
            bridge, view, token, ports.address, adder, spectators=True, roles=ports.roles
        ).routes()
    routes += RegisterApi(bridge, view).routes()
    if (thread := referee.submissions) is not None:
        routes += SubmitApi(bridge, view, thread.service, LoopBridge(thread.loop, SUBMISSION_S)).routes()
    if ports.persons or ports.casual is not None:
        casual = None if ports.casual is None else _casual_games(ports.casual, referee, bridge, read)
        routes += PlayApi(ports.persons, referee.connect, casual).routes()
    return routes


def _features(ports: WebPorts) -> dict[str, Any]:
    """The document site.json of a site that plays nothing itself."""
    return {
        "name": None,
        "names": [],
        "organiser": False,
        "play": False,
        "start": False,
        "embed": bool(ports.embed),
        "pictures": ports.painter is not None,
        "feeds": True,
    }


def _viewers(ports: WebPorts) -> int:
    return int(ports.connections * (1 - KEPT_FOR_PAGES))


def archive_app(
    database: Database, servers: Sequence[GameServer], ports: WebPorts, report: Callable[[str], None]
) -> Starlette:
    """The site alone: the contests of a database, and their running games from servers elsewhere.

    `report` takes what its visitors are not told of an error.
    """
    features = _features(ports)
    feed = partial(SocketFeed, servers) if servers else None
    public = PublicApi(
        Archive(database, live=True),
        features,
        _viewers(ports),
        feed=feed,
        report=report,
        painter=ports.painter,
    )
    routes: list[BaseRoute] = [
        *public.routes(),
        *_pages(features, ports.about, public, live=bool(servers)).routes(),
    ]
    return application(routes, _checks(ports), ports.about.title)


def _checks(ports: WebPorts) -> list[Middleware]:
    return [
        Middleware(ProxyHeadersMiddleware, trusted_hosts=list(ports.proxies)),
        Middleware(HostCheck, names=ports.names),
        Middleware(VisitWatch, visited=ports.visited),
        Middleware(RateLimit),
        Middleware(PageHeaders, embed=ports.embed),
    ]


def _casual_games(
    setup: CasualSetup, referee: ServedHost, bridge: LoopBridge, read: ReadRecord
) -> CasualGames:
    # The games of a server that was killed are not resumed; the first one that is started says what is wrong
    # with the database.
    with suppress(StoreError):
        stop_abandoned(setup.database)
    host = CasualContests(referee.host, bridge.loop, setup.address, setup.database)
    return CasualGames(setup, referee.configs[0], host, read)


def _pages(features: Mapping[str, object], about: SiteIdentity, public: PublicApi, *, live: bool) -> Pages:
    """The pages that have something to show here, and of these in the menu what a visitor can use."""
    optional = {
        "register": features["names"],
        "tv": live,
        "play": features["play"] or features["start"],
        "organiser": features["organiser"],
    }
    pages = [
        "index",
        "contest",
        "bot",
        "game",
        "pair",
        "replay",
        *(page for page, there in optional.items() if there),
    ]
    # Without games to start, the page of seats needs a link.
    linked = {"index", "replay", "tv", "organiser"} | ({"play"} if features["start"] else set())
    return Pages(
        pages,
        [page for page in pages if page in linked],
        about,
        partial(public.preview, text=about.text or ""),
    )


def application(
    routes: Sequence[BaseRoute], middleware: Sequence[Middleware] = (), title: str | None = None
) -> Starlette:
    """An application of these routes, with errors of one line, in the API as JSON; `title` is the site's."""
    # Without a style the browser's own colours are read.
    style, icon = (
        next((each.path for each in routes if isinstance(each, Route) and each.path.endswith(kind)), "")
        for kind in (".css", ".svg")
    )

    async def error(request: Request, exception: Exception) -> Response:
        assert isinstance(exception, HTTPException)
        in_api = request.url.path.startswith(f"{API}/")
        is_page = exception.status_code in (404, 405) and not in_api
        if is_page and exception.status_code == 404 and "text/html" in request.headers.get("accept", ""):
            return HTMLResponse(nothing_here(style, icon, title or NAME), 404, exception.headers)
        text = f"nothing is at {request.url.path:.100}" if exception.status_code == 404 else exception.detail
        if is_page:
            return PlainTextResponse(f"{text}\n", exception.status_code, exception.headers)
        headers = dict(exception.headers or {}) | (CORS if in_api else {})
        return JSONResponse({"error": text}, exception.status_code, headers)

    return Starlette(
        routes=list(routes), middleware=list(middleware), exception_handlers={HTTPException: error}
    )
