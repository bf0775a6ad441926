"""What every request passes before it reaches an endpoint, and bounds for what it may carry.

- The Host header must name this server: a page of a foreign name that resolves to this address
  (DNS rebinding) is refused before it can read or order anything.
- A body is read only up to the limit of its endpoint.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
import socket
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena_server.core.ratelimit import KEPT, SECOND, Budget, Limit

#: Pages that an address may open: a class, or a whole school, is behind one address.
PAGES = Budget(150, SECOND // 6)
#: What a page asks for beside itself: script, style, icon, documents, streams.
REQUESTS_A_PAGE = 12
#: Wrong tokens, links, sessions and codes of an address, for each door of the site.
WRONG_SECRETS = Budget(20, 3 * SECOND)
#: After how many seconds a page that was refused comes again, at least and at most: not all in one moment.
RETRY_S, SPREAD_S = 2, 8

#: Scripts, styles and images of the site itself, and nothing from anywhere else.
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
)
#: What is no page shows nothing; a script may be that of a worker, which asks this server alone.
PLAIN_POLICY = b"default-src 'none'; connect-src 'self'; frame-ancestors 'none'"
#: The page that other origins may show in a frame, where the configuration names them: it only shows.
EMBEDDED = "/game.html"
PAGE_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)
#: Browsers ignore it, and complain, unless the address is of this machine or the connection encrypted.
ISOLATION = (b"cross-origin-opener-policy", b"same-origin")
BEARER = re.compile("bearer +", re.IGNORECASE)
#: Games that an address starts: each against an engine takes a process.
STARTS = Budget(10, 6 * SECOND)
#: Pictures that the site draws, for all who ask: each takes 0.1 s, of the processor that a referee needs too.
DRAWINGS = Budget(20, SECOND // 2)


def shown_once(document: dict[str, Any]) -> JSONResponse:
    """The answer with a token or a link, which the server has nowhere else: no cache keeps it.

    It is the only way in which a secret that an order has made leaves the server.
    """
    return JSONResponse(document, headers={"Cache-Control": "no-store"})


def bearer_of(request: Request) -> str:
    """The token of a request, also without a scheme; the scheme counts in letters of any case (RFC 9110)."""
    given = request.headers.get("authorization", "")
    scheme = BEARER.match(given)
    return given if scheme is None else given[scheme.end() :]


class WrongSecrets:
    """Bounds how often an address learns that a secret is wrong; ask when it is: the right one passes."""

    def __init__(self) -> None:
        self._limit = Limit[str](WRONG_SECRETS)

    def admits(self, request: Request) -> bool:
        """Whether one more wrong secret from this address is answered as such; counts it if so."""
        return self._limit.admits(address_of(request), time.monotonic_ns())

    def refuse(self, request: Request, text: str, status: int, too_many: str) -> JSONResponse:
        """The answer to a wrong secret: `text`, or status 429 and `too_many` after too many of them."""
        if self.admits(request):
            return JSONResponse({"error": text}, status)
        return JSONResponse({"error": too_many}, 429)


class PageLimit:
    """Pages and requests of each address: a page is refused as a whole, and what belongs to it is not.

    A page pays for REQUESTS_A_PAGE requests in advance. Requests beyond those, of pages that stay open and
    of programs, are counted one by one.
    """

    def __init__(self, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._clock = clock
        self._most = PAGES.burst * REQUESTS_A_PAGE
        self._limit = Limit[str](Budget(self._most, PAGES.period // REQUESTS_A_PAGE))
        self._paid: dict[str, int] = {}

    def allows_page(self, address: str) -> bool:
        if not self._limit.admits(address, self._clock(), REQUESTS_A_PAGE):
            return False
        paid = self._paid.pop(address, 0) + REQUESTS_A_PAGE
        # Pages out of a browser's cache ask for less than they paid: what is left must not grow for ever.
        self._paid[address] = min(paid, self._most)
        # The first key is the address that has opened no page for longest: it loses least.
        if len(self._paid) > KEPT:
            del self._paid[next(iter(self._paid))]
        return True

    def allows_request(self, address: str) -> bool:
        paid = self._paid.get(address, 0)
        if not paid:
            return self._limit.admits(address, self._clock())
        self._paid[address] = paid - 1
        return True


class RateLimit:
    """ASGI middleware: status 429 for an address that asks too often; a page says so, and comes again.

    Loopback is not limited: behind a proxy that is not in `server.web_proxies`, limits are the proxy's.
    """

    def __init__(self, app: ASGIApp, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._app = app
        self._limit = PageLimit(clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._refusal(scope) if scope["type"] == "http" else None
        await (self._app if answer is None else answer)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        client = scope.get("client")
        if client is None or is_loopback(client[0]):
            return None
        wait = RETRY_S + secrets.randbelow(SPREAD_S)
        # With CORS a script of another origin sees the status; else it would know of a failure only.
        headers = {"Retry-After": str(wait), "Access-Control-Allow-Origin": "*", "Cache-Control": "no-store"}
        if not is_page(scope["path"]):
            text = "too many requests from this address"
            return (
                None if self._limit.allows_request(client[0]) else JSONResponse({"error": text}, 429, headers)
            )
        page = BUSY_PAGE.format(wait=wait, reload=RELOAD, style=BUSY_STYLE)
        headers |= {"Content-Security-Policy": BUSY_POLICY, "X-Content-Type-Options": "nosniff"}
        return None if self._limit.allows_page(client[0]) else HTMLResponse(page, 429, headers)


def is_page(path: str) -> bool:
    """Whether a browser opens this path as a page."""
    return path.endswith(".html") or path in ("/", "/tv", "/play")


def digest_source(text: str) -> str:
    """What a policy allows a script or style of a page by."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode('ascii')}'"


#: `meta refresh` would not load an address with a fragment again.
RELOAD = "setTimeout(() => location.reload(), 1000 * document.documentElement.dataset.wait)"
BUSY_STYLE = (
    "body { font: 18px/1.5 system-ui, sans-serif; max-width: 34rem; margin: 20vh auto; padding: 0 1rem }"
)
BUSY_POLICY = (
    f"default-src 'none'; script-src {digest_source(RELOAD)}; style-src {digest_source(BUSY_STYLE)}; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
#: Of nothing but itself: a request for a style would be refused too.
BUSY_PAGE = """<!doctype html>
<html lang="en" data-wait="{wait}">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>One moment</title>
<style>{style}</style>
<main>
<h1>One moment</h1>
<p>Very many pages are being opened from your address. This one comes by itself in {wait} s.</p>
</main>
<script>{reload}</script>
</html>
"""


class PageHeaders:
    """ASGI middleware: the headers that keep a page to what its own server sends.

    Pages of the origins `embed` may show a game in a frame, and nothing else.
    """

    def __init__(self, app: ASGIApp, embed: Sequence[str] = ()) -> None:
        self._app = app
        self._embed = embed

    def _policy(self, path: str) -> bytes:
        ancestors = " ".join(self._embed) if self._embed and path == EMBEDDED else "'none'"
        return f"{CONTENT_POLICY}{ancestors}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message["headers"]
                is_document = any(
                    name == b"content-type" and kind[:9] == b"text/html" for name, kind in headers
                )
                policy = self._policy(scope["path"]) if is_document else PLAIN_POLICY
                headers = [*headers, (b"content-security-policy", policy), *PAGE_HEADERS]
                message["headers"] = [*headers, ISOLATION] if is_document and _is_secure(scope) else headers
            await send(message)

        await self._app(scope, receive, with_headers)


def _is_secure(scope: Scope) -> bool:
    """Whether browsers trust the origin of this request: of this machine, or encrypted up to a proxy.

    Any program may send the header of a proxy; a browser does not.
    """
    headers = dict(scope["headers"])
    if headers.get(b"x-forwarded-proto") == b"https":
        return True
    name = host_name(headers.get(b"host", b"").decode("latin-1")) or ""
    return name == "localhost" or (_is_address(name) and is_loopback(name))


class VisitWatch:
    """ASGI middleware: sets `visited` when a browser opens a page; a program does not ask for text/html."""

    def __init__(self, app: ASGIApp, visited: threading.Event) -> None:
        self._app = app
        self._visited = visited

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and is_page(scope["path"]):
            accepted = (value for name, value in scope["headers"] if name == b"accept")
            if any(b"text/html" in value for value in accepted):
                self._visited.set()
        await self._app(scope, receive, send)


class HostCheck:
    """ASGI middleware: status 421 for a Host header that does not name this server.

    Accepted are IP addresses, localhost, the machine's own name and `names`: none of these can
    be made to resolve elsewhere by a foreign page. Without a Host header (HTTP/1.0) no browser
    sent the request, and it passes.
    """

    def __init__(self, app: ASGIApp, names: Iterable[str] = ()) -> None:
        self._app = app
        self._names = {"localhost", socket.gethostname().lower(), *(name.lower() for name in names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            host = next(
                (value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), None
            )
            if host is not None and not self.accepts(host):
                text = f"this server is not {host[:100]!r}; use its address, or name it in server.web_names"
                await JSONResponse({"error": text}, 421)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def accepts(self, host: str) -> bool:
        """Whether `host` (a name or an address, with or without a port) names this server."""
        name = host_name(host)
        return name is not None and (name in self._names or _is_address(name))


def host_name(host: str) -> str | None:
    """The name in a Host header, in lower case and without the port; None if there is none."""
    if host.startswith("["):
        name, bracket, port = host[1:].partition("]")
        name, port = (name, port.removeprefix(":")) if bracket else ("", "")
    else:
        name, _, port = host.partition(":")
    if port and not (port.isascii() and port.isdigit() and len(port) <= 5):
        return None
    # `name.` is the same name, written as absolute.
    return name.lower().removesuffix(".") or None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def address_of(request: Request) -> str:
    """The address that a request comes from, for limits by address."""
    return "" if request.client is None else request.client.host


def small_number(text: str) -> int | None:
    """The number that 1 to 9 ASCII digits write; None for any other text. `int` raises for 4,301 digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def is_loopback(address: str) -> bool:
    """Whether requests from `address` come from this machine, or through a proxy on it."""
    name = address.partition("%")[0]
    # What a proxy forwards may be a word such as `unknown`.
    return _is_address(name) and ipaddress.ip_address(name).is_loopback


def is_foreign(request: Request) -> bool:
    """Whether a browser sent this request for a page of another server.

    A browser sends Origin with every POST; a program without one is no page. A proxy has to pass Host on.
    """
    origin = request.headers.get("origin")
    return (
        origin is not None and origin.partition("://")[2].lower() != request.headers.get("host", "").lower()
    )


async def read_body(request: Request, limit: int) -> bytes:
    """The body of a request. Raises HTTPException 413 if it is longer than `limit` bytes.

    A longer Content-Length is refused before anything is read.
    """
    too_long = HTTPException(413, f"a request may have {limit} bytes at most")
    length = small_number(request.headers.get("content-length", "0"))
    if length is None or length > limit:
        raise too_long
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise too_long
    return bytes(body)
