"""The one ASGI application for everything HTTP: routes, the Host check, error pages."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from arena_server.web.api import OrganiserApi
from arena_server.web.bridge import LoopBridge, ServerView
from arena_server.web.security import HostCheck


def organiser_app(bridge: LoopBridge, view: ServerView, token: str, names: Sequence[str] = ()) -> Starlette:
    """The application behind `--admin-port`; `names` are the host names it is reached by."""
    return application(OrganiserApi(bridge, view, token).routes(), names)


def application(routes: Sequence[Route], names: Sequence[str] = ()) -> Starlette:
    """An application of these routes, with the Host check and errors of one line."""
    known = ", ".join(f"{sorted(route.methods or ())[0]} {route.path}" for route in routes)

    async def error(_: Request, exception: Exception) -> Response:
        assert isinstance(exception, HTTPException)
        text = f"nothing is here; there is {known}" if exception.status_code == 404 else exception.detail
        return PlainTextResponse(f"{text}\n", exception.status_code, exception.headers)

    return Starlette(
        routes=list(routes),
        middleware=[Middleware(HostCheck, names=names)],
        exception_handlers={HTTPException: error},
    )
