"""What every request passes before it reaches an endpoint, and bounds for what it may carry.

- The Host header must name this server: a page of a foreign name that resolves to this address
  (DNS rebinding) is refused before it can read or order anything.
- A body is read only up to the limit of its endpoint.
"""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Callable, Iterable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Requests that an address may make at once, and a second: a page takes about twenty.
BURST, REQUESTS_A_SECOND = 200.0, 50.0
#: Addresses that are remembered; the one seen longest ago is forgotten first.
ADDRESSES = 10_000

#: Scripts, styles and images of the site itself, and nothing from anywhere else.
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PAGE_HEADERS = (
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
)


class AddressLimit:
    """A leaky bucket per address: `burst` at once, `rate` a second."""

    def __init__(self, burst: float, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst = burst
        self._rate = rate
        self._clock = clock
        #: What each address has left, and when that was; in the order of the last call.
        self._left: dict[str, tuple[float, float]] = {}

    def allows(self, address: str) -> bool:
        """Count one more from `address`, and say whether it is within the limit."""
        now = self._clock()
        left, at = self._left.pop(address, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._rate)
        self._left[address] = (max(0.0, left - 1), now)
        if len(self._left) > ADDRESSES:
            del self._left[next(iter(self._left))]
        return left >= 1


class RateLimit:
    """ASGI middleware: status 429 for an address that asks too often.

    Loopback is not limited: behind a proxy, limits are the proxy's.
    """

    def __init__(self, app: ASGIApp, clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._limit = AddressLimit(BURST, REQUESTS_A_SECOND, clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        if scope["type"] == "http" and client is not None:
            address = client[0]
            if not is_loopback(address) and not self._limit.allows(address):
                headers = {"Retry-After": "2", "Access-Control-Allow-Origin": "*"}
                answer = JSONResponse({"error": "too many requests from this address"}, 429, headers)
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)


class PageHeaders:
    """ASGI middleware: the headers that keep a page to what its own server sends."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *PAGE_HEADERS]
            await send(message)

        await self._app(scope, receive, with_headers)


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
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


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
