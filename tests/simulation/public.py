"""What the public reads of a database: all addresses of the site, and the files that commands write."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from tests.cli.reports import unpacked
from tests.server.programs import inside

from arena_server.web import filling
from arena_server.web.app import archive_app
from arena_server.web.ports import WebPorts

#: Commands that write files for others: the words of each, and what it writes.
COMMANDS = {
    "publish": ("publish", "out"),
    "site": ("site", "out", "--url", "https://example.org/"),
    "report": ("report", "out/report.html"),
    "records": ("export", "out"),
    "objects": ("export", "out", "--format", "json"),
    "tables": ("export", "out", "--format", "csv"),
}
API = "/api/v1"
#: Addresses of streams: what they send is judged line by line (`shown.py`).
STREAMS = f"{API}/live"


def addresses(app: Starlette, games: list[str], bots: list[str]) -> list[str]:
    """Every address of the site, with every game and bot in it, and the pages of links to them."""
    given = {
        "number": ["1"],
        "chunk": ["0"],
        "place": [str(place) for place in range(len(bots))],
        "bot": bots,
        "game": games,
        "name": games,
    }
    found = []
    for route in app.routes:
        # All else are files, the same for every database.
        if isinstance(route, Route) and route.path.startswith(API) and not route.path.startswith(STREAMS):
            keys = [key for _, key, _, _ in Formatter().parse(route.path) if key is not None]
            for values in product(*(given[key] for key in keys)):
                found.append(route.path.format(**dict(zip(keys, values, strict=True))))
    links = ["contest.html?id=1", *(f"game.html?contest=1&game={game}" for game in games)]
    return found + [f"/{link}" for link in (*links, *(f"bot.html?contest=1&bot={bot}" for bot in bots))]


def site(path: Path, games: list[str], bots: list[str]) -> dict[str, bytes]:
    """What the site of this database answers at each address."""
    app = archive_app(path, [], WebPorts(), lambda text: None)

    async def read() -> dict[str, bytes]:
        return {address: await _get(app, address) for address in addresses(app, games, bots)}

    with pytest.MonkeyPatch.context() as patch:  # an answer has all, however long its fits take
        patch.setattr(filling, "WAIT_S", None)
        patch.setattr(filling, "PAUSE", 0.0)
        return asyncio.run(read())


async def _get(app: Starlette, address: str) -> bytes:
    """Status and body of an answer."""
    place, _, query = address.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": place,
        "raw_path": place.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(b"host", b"localhost")],
        "client": ("127.0.0.1", 1),
        "server": ("localhost", 80),
    }
    answer: list[bytes] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            answer.append(b"%d " % message["status"])
        answer.append(message.get("body", b""))

    await app(scope, receive, send)
    return b"".join(answer)


def written(path: Path, command: str) -> dict[str, bytes]:
    """The files that a command writes from this database, by their names."""
    folder = path.parent / "out"
    folder.mkdir(exist_ok=True)
    outcome = inside(*COMMANDS[command], cwd=path.parent)
    assert outcome.code == 0, outcome.err
    return dict(_files(folder))


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for file in sorted(folder.rglob("*")):
        if file.suffix == ".html" and (packed := unpacked(file)):
            yield from packed.items()
        elif file.is_file():
            yield str(file.relative_to(folder)), file.read_bytes()
        if file.is_file():
            file.unlink()
