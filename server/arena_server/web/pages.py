"""The pages of the spectators' site, kept in memory; some have a head of their own for links to them.

GET /, /game.html, /site-DIGEST.js, /tv     as `bundle.site_files` makes them
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from hashlib import sha256
from html import escape
from typing import Final
from urllib.parse import urlencode

import brotli
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from arena_server.web.bundle import LASTING, NAME, site_files
from arena_server.web.identity import NO_IDENTITY, SiteIdentity
from arena_server.web.languages import ENGLISH, codes, written
from arena_server.web.previews import PLAIN, Preview, with_head

API: Final = "/api/v1"
#: Content types by the ends of names: by the system's own list a script may be text/plain.
KINDS: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
}
#: The pages of which a link shows what they are about: all but the organiser's.
PREVIEWED: Final = ("index", "contest", "bot", "game", "tv", *PLAIN)

#: Behind the name of a coding in Accept-Encoding (RFC 9110): it is not wanted.
REFUSED: Final = re.compile(r"\s*q=0(?:\.0*)?\s*")


class Pages:
    """The pages as `site_files` makes them, kept in memory; those of `menu` are linked from each.

    The first one of `menu` is also that of the address `/`. They say `about`.
    """

    def __init__(
        self,
        pages: Sequence[str],
        menu: Sequence[str],
        about: SiteIdentity = NO_IDENTITY,
        preview: Callable[[str, Mapping[str, str]], Awaitable[Preview | None]] | None = None,
    ) -> None:
        """`preview` tells what a link to a page with these parameters shows of itself."""
        files = site_files(pages, menu, about=about)
        self._files: dict[str, StaticFile] = {}
        for name, data in files.items():
            page = name.removesuffix(".html")
            if preview is not None and page in PREVIEWED:
                self._files[name] = PreviewedFile(name, data, partial(preview, page), about.title or NAME)
            else:
                self._files[name] = StaticFile(name, data)
        self._short = {"/": f"{menu[0]}.html"} | {f"/{name}": f"{name}.html" for name in ("tv", "play")}

    def routes(self) -> list[BaseRoute]:
        """One route per file, and the short addresses /, /play and /tv."""
        names = self._short | {f"/{name}": name for name in self._files}
        return [Route(path, self._files[name].answer) for path, name in names.items() if name in self._files]


class StaticFile:
    """A file with its compressed forms: by gzip, and of a text that lasts by Brotli when it is asked for."""

    def __init__(self, name: str, data: bytes) -> None:
        self._data = data
        self._packed = _packed(data) if LASTING.fullmatch(name) else _pack(data)
        self._has_brotli = LASTING.fullmatch(name) is not None and not name.endswith(".png")
        self._headers = {
            "Content-Type": KINDS[name.rpartition(".")[2]],
            "ETag": f'"{sha256(data).hexdigest()[:20]}"',
            "Cache-Control": "public, max-age=31536000, immutable" if LASTING.fullmatch(name) else "no-cache",
            "Vary": "Accept-Encoding",
        }

    async def answer(self, request: Request) -> Response:
        if _has(request.headers.get("if-none-match", ""), self._headers["ETag"]):
            return Response(status_code=304, headers=self._headers)
        if self._has_brotli and takes("br", request.headers):
            smaller = await run_in_threadpool(_packed_by_brotli, self._data)
            return Response(smaller, headers=self._headers | {"Content-Encoding": "br"})
        if takes("gzip", request.headers):
            return Response(self._packed, headers=self._headers | {"Content-Encoding": "gzip"})
        return Response(self._data, headers=self._headers)


def takes(coding: str, headers: Headers) -> bool:
    """Whether Accept-Encoding names `coding`, and not as refused (`gzip;q=0`)."""
    given = headers.get("accept-encoding", "").lower().split(",")
    found = [weight for name, _, weight in (each.partition(";") for each in given) if name.strip() == coding]
    return bool(found) and not any(REFUSED.fullmatch(weight) for weight in found)


class DocumentPacking(GZipMiddleware):
    """It looks for the name of gzip alone: a request that refuses it comes here as one that names none."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not takes("gzip", Headers(scope=scope)):
            scope = {**scope, "headers": [each for each in scope["headers"] if each[0] != b"accept-encoding"]}
        await super().__call__(scope, receive, send)


def _has(given: str, tag: str) -> bool:
    """Whether If-None-Match has `tag`; a cache on the way may have made it a weak one."""
    return given.strip() == "*" or tag in (each.strip().removeprefix("W/") for each in given.split(","))


class PreviewedFile(StaticFile):
    """A page whose head depends on its parameters."""

    def __init__(
        self,
        name: str,
        data: bytes,
        preview: Callable[[Mapping[str, str]], Awaitable[Preview | None]],
        site: str,
    ) -> None:
        super().__init__(name, data)
        self._preview = preview
        self._site = site

    async def answer(self, request: Request) -> Response:
        preview = await self._preview(request.query_params)
        if preview is None:
            return await super().answer(request)
        base = address_of_site(request)
        query = f"?{urlencode(preview.query)}" if preview.query else ""
        address = f"{base}{request.url.path}{query}"
        picture = "" if preview.picture is None else f"{base}{API}/{preview.picture}"
        feeds = [f"{API.removeprefix('/')}/{feed}" for feed in preview.feeds]
        page = with_head(self._data, preview, self._site, address, picture, feeds)
        return await StaticFile("page.html", page).answer(request)


def _pack(data: bytes) -> bytes:
    return gzip.compress(data, 9, mtime=0)


#: The scripts of all sites of a process are the same bytes: 70 ms for each site otherwise.
_packed: Final = lru_cache(maxsize=64)(_pack)


@lru_cache(maxsize=64)
def _packed_by_brotli(data: bytes) -> bytes:
    """It takes 0.1 s of a large script, and leaves the interpreter to others meanwhile."""
    packed: bytes = brotli.compress(data, mode=brotli.MODE_TEXT, quality=11)
    return packed


@cache
def nothing_here(style: str, icon: str = "", title: str = NAME) -> str:
    """For a browser whose address leads to no page of the site `title`, in all languages.

    `style` and `icon` are addresses, or empty.
    """
    head, way = "There is no page at this address.", "To the first page"
    link = f'<link rel="stylesheet" href="{style}">\n' if style else ""
    picture = f'<img src="{icon}" alt="" height="24">' if icon else ""
    link += f'<link rel="icon" href="{icon}">\n' if icon else ""
    lines = (
        f'<p lang="{code}">{escape(written(code, head))} <a href="/">{escape(written(code, way))}</a></p>'
        for code in codes()
    )
    return f"""<!doctype html>
<html lang="{ENGLISH}">
<meta charset="utf-8">
<title>{head.removesuffix(".")}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
{link}<header class="site"><a class="brand" href="/">{picture}{escape(title)}</a></header>
<main>
<h1>{head}</h1>
<p><a href="/">{way}</a></p>
{"".join(lines)}
</main>
</html>
"""


def address_of_site(request: Request) -> str:
    """The address of the site as this client knows it; a proxy says that it encrypts."""
    encrypted = request.headers.get("x-forwarded-proto") == "https"
    return f"{'https' if encrypted else request.url.scheme}://{request.url.netloc}"
